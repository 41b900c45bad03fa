// Augmented images per second: crop, flip and normalise batches of CIFAR-sized images into each layout.
//   build/bench/bench_augment
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "longtail/data/augment.h"

namespace {

using namespace longtail;

data::Dataset noise_images(int images) {
  data::Dataset data;
  data.class_names = {"noise"};
  data.mean = {0.5071f, 0.4867f, 0.4408f};
  data.deviation = {0.2675f, 0.2565f, 0.2761f};
  data.train.labels.resize(static_cast<std::size_t>(images));
  data.train.pixels.resize(static_cast<std::size_t>(images) * data.image_bytes());
  std::uint32_t state = 1;
  for (std::uint8_t& pixel : data.train.pixels) {
    state = state * 1664525 + 1013904223;
    pixel = static_cast<std::uint8_t>(state >> 24);
  }
  return data;
}

void write_batches(benchmark::State& state, data::PixelLayout layout, int threads, int batch) {
  constexpr int kImages = 10847;  // as many as the paper's smallest subset, so that caches matter
  const data::Dataset data = noise_images(kImages);
  base::ThreadPool pool(threads);
  std::vector<std::byte> out(static_cast<std::size_t>(batch) * data::bytes_per_image(layout, data.shape()));
  std::vector<std::int32_t> rows(static_cast<std::size_t>(batch));
  data::Augmentation augmentation{true, 42, 0, 0};
  for (auto _ : state) {
    for (std::int32_t& row : rows)
      row = static_cast<std::int32_t>(augmentation.first_position++ * 7919 % kImages);
    data::write_batch(data, data.train, rows, augmentation, layout, out.data(), pool);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(state.iterations() * batch);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::pair<std::string, data::PixelLayout>> layouts = {
      {"nchw_f32", data::PixelLayout::kNchwF32}, {"nhwc_bf16", data::PixelLayout::kNhwcBf16}};
  for (const auto& [name, layout] : layouts) {
    for (const int threads : {1, 2}) {
      for (const int batch : {128, 4096}) {
        const auto label =
            "augment/" + name + "/threads_" + std::to_string(threads) + "/batch_" + std::to_string(batch);
        benchmark::RegisterBenchmark(label.c_str(), write_batches, layout, threads, batch)->UseRealTime();
      }
    }
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
