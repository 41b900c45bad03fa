#include "longtail/train/run_folder.h"

#include <gtest/gtest.h>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/data/testing.h"

namespace longtail::train {
namespace {

RunConfig counted(const std::string& file) {
  RunConfig config;
  config.engine = "simd";
  config.subset.profile = "counts";
  config.subset.counts_file = file;
  return resolved(config);
}

// What a folder holds of a run.
Checkpoint held(const RunConfig& config) {
  Checkpoint state;
  state.config = config_map(config);
  state.log.emplace();
  state.log->fingerprint.protocol = config_hash(config);
  return state;
}

TEST(RunFolder, ARunIsTheSameWhateverPathItsFileHas) {
  const data::TempFolder folder;
  const std::string a = folder / "a.txt", b = folder / "b.txt", c = folder / "c.txt";
  base::write_atomically(a, std::string_view("3\n2\n"));
  base::write_atomically(b, std::string_view("3\n2\n"));
  base::write_atomically(c, std::string_view("3\n1\n"));
  const Checkpoint state = held(counted(a));
  EXPECT_TRUE(is_run(state, counted(a)));
  EXPECT_TRUE(is_run(state, counted(b)));
  EXPECT_FALSE(is_run(state, counted(c)));
  EXPECT_NO_THROW(refuse_other_config("run", state.config, config_map(counted(b))));
  EXPECT_THROW(refuse_other_config("run", state.config, config_map(counted(c))), base::Error);
  std::filesystem::remove(a);  // it was relative to another folder, say
  EXPECT_TRUE(is_run(state, counted(b)));
  EXPECT_FALSE(is_run(state, counted(c)));
}

}  // namespace
}  // namespace longtail::train
