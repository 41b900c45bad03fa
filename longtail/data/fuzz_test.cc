// The fuzzers' corpus through every reader in the ordinary build, and a short run of changed copies of it:
// what a long run (scripts/fuzz) once found stays found.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>

#include "longtail/base/file.h"
#include "longtail/base/test_paths.h"
#include "longtail/data/fuzz_entries.h"

namespace longtail::data {
namespace {

namespace fs = std::filesystem;

const std::map<std::string, void (*)(Input)> kEntries = {{"pickle", fuzz_pickle}, {"cifar", fuzz_cifar},
                                                         {"idx", fuzz_idx},       {"picture", fuzz_picture},
                                                         {"list", fuzz_list},     {"npy", fuzz_npy}};

class Fuzz : public testing::TestWithParam<std::string> {};

// A copy of exactly the right size, so that a sanitiser sees a read past its end.
void feed(void (*entry)(Input), const std::vector<std::uint8_t>& bytes) {
  const auto exact = std::make_unique<std::uint8_t[]>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), exact.get());
  entry({exact.get(), bytes.size()});
}

TEST_P(Fuzz, TheCorpusAndChangedCopiesOfItGiveErrorsAtMost) {
  constexpr int kChanged = 200;  // of each file
  const fs::path folder = fs::path(base::source_dir() + "/longtail/data/testdata/fuzz") / GetParam();
  void (*entry)(Input) = kEntries.at(GetParam());
  std::uint32_t files = 0;
  for (const auto& file : fs::directory_iterator(folder)) {
    const std::vector<std::uint8_t> whole = base::read_bytes(file.path());
    feed(entry, whole);
    for (std::uint32_t round = 0; round < kChanged && !whole.empty(); ++round) {
      std::uint32_t state = 2654435761U * (round + 1) + static_cast<std::uint32_t>(whole.size());
      const auto next = [&] { return state = state * 1664525U + 1013904223U, state >> 8; };
      std::vector<std::uint8_t> changed = whole;
      for (std::uint32_t i = next() % 4; i-- > 0;)
        changed[next() % changed.size()] = static_cast<std::uint8_t>(next());
      if (next() % 4 == 0) changed.resize(next() % changed.size());
      feed(entry, changed);
    }
    ++files;
  }
  EXPECT_GT(files, 2U) << "there is no corpus in " << folder;
}

INSTANTIATE_TEST_SUITE_P(Readers, Fuzz, testing::Values("pickle", "cifar", "idx", "picture", "list", "npy"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace longtail::data
