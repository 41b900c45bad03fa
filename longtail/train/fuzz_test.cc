#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "longtail/base/fuzz_corpus.h"
#include "longtail/base/test_paths.h"
#include "longtail/train/fuzz_entries.h"

namespace longtail::train {
namespace {

TEST(Fuzz, LogsOfTheCorpusAndChangedCopiesGiveErrorsAtMost) {
  EXPECT_GT(base::feed_corpus(base::source_dir() + "/longtail/train/testdata/fuzz/log", 100, fuzz_log), 2);
}

TEST(Fuzz, CheckpointsOfTheCorpusAndChangedCopiesGiveErrorsAtMost) {
  EXPECT_GT(base::feed_corpus(base::source_dir() + "/longtail/train/testdata/fuzz/checkpoint", 200,
                              fuzz_checkpoint),
            1);
}

TEST(Fuzz, PredictionsOfTheCorpusAndChangedCopiesGiveErrorsAtMost) {
  EXPECT_GT(base::feed_corpus(base::source_dir() + "/longtail/train/testdata/fuzz/predictions", 200,
                              fuzz_predictions),
            1);
}

TEST(Fuzz, TextsOfChoicesOfTheCorpusAndChangedCopiesGiveErrorsAtMost) {
  EXPECT_GT(base::feed_corpus(base::source_dir() + "/longtail/train/testdata/fuzz/choice", 500, fuzz_choice),
            5);
}

TEST(Fuzz, ExportedNetworksHaveTheFormOfSafetensorsWhateverTheirTextsAre) {
  EXPECT_GT(base::feed_corpus(base::source_dir() + "/longtail/train/testdata/fuzz/safetensors", 5,
                              fuzz_safetensors),
            1);
}

// A hundred thousand brackets are a few bytes for the sender and a stack for who follows them.
TEST(Fuzz, ALogNestedTooDeeplyIsRefused) {
  const std::string deep(100000, '[');
  const std::string text = "{\"config\": {\"x\": " + deep + std::string(deep.size(), ']') + "}}";
  EXPECT_THROW(log_of(text, "deep.json"), base::Error);
}

}  // namespace
}  // namespace longtail::train
