// Three training steps and a prediction of ResNet-20 by the portable engine on made-up images; prints their
// bits as hashes. scripts/test-neon compares what this says on different CPUs.
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "longtail/base/philox.h"
#include "longtail/base/threads.h"
#include "longtail/nn/init.h"
#include "longtail/nn/loss.h"
#include "longtail/nn/resnet_engine.h"
#include "longtail/nn/sgd.h"
#include "longtail/nn/simd/simd_backend.h"

using namespace longtail;

namespace {

std::uint64_t hash_of(const std::vector<float>& values) {
  std::uint64_t hash = 1469598103934665603u;
  for (const float value : values) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    hash = (hash ^ bits) * 1099511628211u;
  }
  return hash;
}

void train(const char* shortcut, int width, int side, int threads) {
  constexpr int kBatch = 5, kClasses = 10;
  const nn::ResNetSpec spec = nn::make_spec("resnet20", shortcut, kClasses, 3, width, side);
  base::ThreadPool pool(threads);
  const auto engine =
      nn::make_resnet_engine(spec, kBatch, pool, nn::make_simd_backend(spec, kBatch, pool.threads()));
  const auto loss = nn::make_loss("cross_entropy", {});
  std::vector<float> parameters = nn::initial_parameters(spec, 42), buffers = nn::initial_buffers(spec);
  std::vector<float> gradient(parameters.size()), momentum(parameters.size()), logits(kBatch * kClasses);
  std::vector<float> images(static_cast<std::size_t>(kBatch * 3 * side * side));
  const base::Stream stream{.seed = 1, .epoch = 3};
  for (std::size_t i = 0; i < images.size(); ++i) {
    images[i] = static_cast<float>(static_cast<double>(stream.block(i)[0]) * 0x1p-30 - 2.0);
  }
  const std::vector<std::int32_t> labels = {0, 3, 9, 3, 5};
  std::printf("%s, width %d, side %d:", shortcut, width, side);
  for (int step = 0; step < 3; ++step) {
    const auto result =
        engine->gradient(parameters, buffers, {images.data(), labels, kBatch}, *loss, gradient);
    nn::sgd_step({.lr = 0.1}, gradient, momentum, parameters);
    std::printf(" loss %a", result.loss);
  }
  engine->predict(parameters, buffers, {images.data(), {}, kBatch}, logits);
  std::printf(" parameters %016" PRIx64 " momentum %016" PRIx64 " statistics %016" PRIx64
              " logits %016" PRIx64 "\n",
              hash_of(parameters), hash_of(momentum), hash_of(buffers), hash_of(logits));
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::stoi(argv[1]) : 1;
  train("projection", 1, 32, threads);
  train("pad", 1, 24, threads);
  train("projection", 2, 16, threads);
}
