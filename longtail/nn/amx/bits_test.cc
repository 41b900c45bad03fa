// The tile engines to the last bit. The hashes were made with tiles in software (software_tile.h), whose first epoch
// on CIFAR-100-LT has the losses and accuracies of the committed runs on tiles, digit by digit, with both engines.
#include <gtest/gtest.h>

#include "longtail/base/hash.h"
#include "longtail/nn/amx/amx_testing.h"
#include "longtail/nn/conformance.h"

namespace longtail::nn::amx {
namespace {

std::string hash_of(const std::string& engine) {
  const Problem problem = exact_problem(make_spec("resnet32", "projection", 10, 3), 33);
  const Answer answer = answer_of(engine, problem, 2);
  base::Hasher hasher(base::Hasher::kSha256);
  for (const std::vector<float>* values :
       {&answer.gradient, &answer.buffers, &answer.logits, &answer.frozen}) {
    hasher.add(std::as_bytes(std::span(*values)));
  }
  return hasher.hex().substr(0, 16);
}

TEST(TileBits, OfAStepAndAPredictionAreThoseRecorded) {
  SKIP_WITHOUT_TILES();
  EXPECT_EQ(hash_of("amx"), "c09804cc0fbe9212");
  EXPECT_EQ(hash_of("amx-fine"), "75034465ad609e2b");
}

}  // namespace
}  // namespace longtail::nn::amx
