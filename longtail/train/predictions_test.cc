#include "longtail/train/predictions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/base/hash.h"

namespace longtail::train {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

Predictions made_up(int classes) {
  Predictions predictions;
  predictions.classes = classes;
  for (int i = 0; i < 40; ++i) {
    predictions.labels.push_back(i * 7919 % classes);
    predictions.best.push_back({i * 31 % classes, rounded_confidence(i / 40.0)});
    predictions.last.push_back({classes - 1, rounded_confidence(1)});
  }
  return predictions;
}

class PredictionsFile : public testing::Test {
 protected:
  // Of this process: the tests of the fixture may run side by side.
  fs::path path_ =
      fs::path(testing::TempDir()) / ("predictions_test." + std::to_string(::getpid()) + ".predictions");
  ~PredictionsFile() override { fs::remove(path_); }
  std::string error_of(const std::string& bytes, const std::string& sha256 = "") {
    base::write_atomically(path_, bytes);
    try {
      read_predictions(path_, sha256);
    } catch (const base::DamagedFile& error) {
      return error.what();
    }
    return "";
  }
};

TEST_F(PredictionsFile, GoesThereAndBackInTenBytesAnImage) {
  for (const int classes : {3, 65536, 70000}) {
    const Predictions predictions = made_up(classes);
    const std::string bytes = predictions_bytes(predictions);
    base::write_atomically(path_, bytes);
    EXPECT_EQ(read_predictions(path_, base::sha256(bytes)), predictions);
    EXPECT_EQ(bytes.size(), 24 + 64 + 40 * (classes > 65536 ? 16U : 10U));
  }
}

TEST_F(PredictionsFile, EveryOtherFileIsRefused) {
  const std::string bytes = predictions_bytes(made_up(5));
  EXPECT_THAT(error_of("hello"), HasSubstr("no predictions"));
  EXPECT_THAT(error_of(bytes, base::sha256("x")), HasSubstr("not the file that the log names"));
  for (const std::size_t size : {std::size_t{8}, std::size_t{50}, bytes.size() - 1})
    EXPECT_NE(error_of(bytes.substr(0, size)), "") << size;
  for (std::size_t i = 0; i < bytes.size(); i += 13) {
    std::string changed = bytes;
    changed[i] ^= 1;
    EXPECT_NE(error_of(changed), "") << i;
  }
  // A sound checksum over nonsense.
  std::string long_count = bytes.substr(0, bytes.size() - 64);
  long_count[16] = 120;
  EXPECT_THAT(error_of(long_count + base::sha256(long_count)), HasSubstr("length"));
  std::string strange_class = bytes.substr(0, bytes.size() - 64);
  strange_class[24] = 99;
  EXPECT_THAT(error_of(strange_class + base::sha256(strange_class)), HasSubstr("the class 99 of 5"));
}

TEST_F(PredictionsFile, LiesBesideItsLog) {
  EXPECT_EQ(predictions_path("runs/a/log.json"), fs::path("runs/a/log.predictions"));
  EXPECT_EQ(predictions_path("logs/uniform-42.json"), fs::path("logs/uniform-42.predictions"));
}

}  // namespace
}  // namespace longtail::train
