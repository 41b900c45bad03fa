#include "longtail/nn/onednn/engine.h"

#include <algorithm>
#include <vector>

#include "longtail/nn/onednn/network.h"

namespace longtail::nn::onednn {
namespace {

constexpr int kPredictImages = 4;

class OnednnEngine : public Engine {
 public:
  OnednnEngine(const ResNetSpec& spec, int max_batch, base::ThreadPool& pool)
      : pool_(pool),
        max_batch_(max_batch),
        parameter_count_(static_cast<std::size_t>(parameter_layout(spec).parameter_count)),
        network_(spec, max_batch, pool.threads()),
        losses_(static_cast<std::size_t>(max_batch)),
        correct_(static_cast<std::size_t>(max_batch)) {}

  std::string_view name() const override { return "onednn"; }
  const ResNetSpec& spec() const override { return network_.spec(); }
  data::PixelLayout input_layout() const override { return data::PixelLayout::kNchwF32; }

  StepResult gradient(std::span<const float> parameters, std::span<float> buffers, const Batch& batch,
                      const Loss& loss, std::span<float> gradient) override {
    check_batch(spec(), batch, max_batch_, true);
    network_.prepare_training(batch.size);
    batch_ = batch.size;
    pack(parameters);
    forward(parameters, buffers, batch);
    backward(batch, loss, gradient);
    return summary(batch.size);
  }

  void predict(std::span<const float> parameters, std::span<const float> buffers, const Batch& batch,
               std::span<float> logits) override {
    check_batch(spec(), batch, max_batch_, false);
    network_.prepare_predict(std::min(kPredictImages, batch.size));
    if (batch.size % kPredictImages != 0) network_.prepare_predict(batch.size % kPredictImages);
    batch_ = batch.size;
    network_.pack_linear(parameters);
    auto& units = network_.units();
    pool_.run(static_cast<int>(units.size()), [&](int i, int worker) {
      units[static_cast<std::size_t>(i)].pack_folded(worker, parameters, buffers,
                                                     network_.scratch(worker, 0));
    });
    const auto* images = static_cast<const float*>(batch.images);
    over_slices(kPredictImages, [&](const Slice& s) { network_.predict(s, images, logits); });
  }

  void image_gradients(std::span<const float> parameters, std::span<const float> buffers, const Batch& batch,
                       const Loss& loss, const ImageSink& sink) override {
    check_batch(spec(), batch, max_batch_, true);
    frozen(parameters, buffers, batch, loss, 1, 1.0,
           [&](const Slice& s, std::span<const float> gradient) { sink(s.first, gradient); });
  }

  void frozen_gradient(std::span<const float> parameters, std::span<const float> buffers, const Batch& batch,
                       const Loss& loss, std::span<float> gradient) override {
    check_batch(spec(), batch, max_batch_, true);
    std::fill(gradient.begin(), gradient.end(), 0.0f);
    frozen(parameters, buffers, batch, loss, kFewestSliceImages, 1.0 / batch.size,
           [&](const Slice&, std::span<const float> part) {
             for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] += part[i];
           });
  }

 private:
  // Runs work(slice) for each slice of so many images (the last may be short), and beside them the additions
  // of weight gradients that the loop before left. Returns the number of slices.
  template <class Work>
  int over_slices(int images, const Work& work) {
    const int slices = (batch_ + images - 1) / images;
    const int sums = static_cast<int>(pending_.size());
    const auto job = [&](int index, int worker) {
      if (index < sums) {
        const Pending& p = pending_[static_cast<std::size_t>(index)];
        return network_.reduce_weights(*p.unit, p.slices, worker, p.gradient);
      }
      const int slot = index - sums;
      work(Slice{slot * images, std::min(images, batch_ - slot * images), slot, worker});
    };
    pool_.run(slices + sums, [&job](int index, int worker) { job(index, worker); });
    pending_.clear();
    return slices;
  }

  void pack(std::span<const float> parameters) {
    network_.pack_linear(parameters);
    auto& units = network_.units();
    pool_.run(static_cast<int>(units.size()),
              [&](int i, int worker) { units[static_cast<std::size_t>(i)].pack(worker, parameters, true); });
  }

  std::int64_t count(const Unit& unit) const { return std::int64_t{batch_} * unit.out_pixels(); }

  void forward(std::span<const float> parameters, std::span<float> buffers, const Batch& batch) {
    const auto* images = static_cast<const float*>(batch.images);
    const auto finish = [&](Unit* unit, int slices) {
      if (unit) unit->use_batch_statistics(slices, count(*unit), parameters, buffers);
    };
    Unit& stem = network_.stem();
    finish(&stem, over_slices(slice_images(32), [&](const Slice& s) { network_.stem_forward(s, images); }));
    for (int b = 0; b < static_cast<int>(network_.blocks().size()); ++b) {
      const Block& block = network_.blocks()[static_cast<std::size_t>(b)];
      const int slices = over_slices(slice_images(block.first->plan().side),
                                     [&](const Slice& s) { network_.first_forward(b, s); });
      finish(block.first, slices);
      finish(block.projection, slices);
      finish(block.second, over_slices(slice_images(block.second->plan().side),
                                       [&](const Slice& s) { network_.second_forward(b, s); }));
    }
  }

  void backward(const Batch& batch, const Loss& loss, std::span<float> gradient) {
    const auto* images = static_cast<const float*>(batch.images);
    const HeadResult head{losses_, correct_, 1.0 / batch.size};
    int slices = over_slices(slice_images(8), [&](const Slice& s) { network_.head(s, batch, loss, head); });
    network_.linear_gradient(0, batch_, gradient);
    const auto finish = [&](Unit* unit) {
      if (unit) unit->finish_gradient(0, slices, count(*unit), gradient);
    };
    const auto later = [&](Unit* unit) {
      if (unit) pending_.push_back({unit, slices, gradient});
    };
    finish(network_.blocks().back().second);
    for (int b = static_cast<int>(network_.blocks().size()) - 1; b >= 0; --b) {
      const Block& block = network_.blocks()[static_cast<std::size_t>(b)];
      slices = over_slices(slice_images(block.second->plan().side),
                           [&](const Slice& s) { network_.second_backward(b, s); });
      later(block.second);
      finish(block.first);
      slices = over_slices(slice_images(block.first->plan().side),
                           [&](const Slice& s) { network_.first_backward(b, s); });
      later(block.first);
      later(block.projection);
      finish(b > 0 ? network_.blocks()[static_cast<std::size_t>(b - 1)].second : &network_.stem());
      finish(b > 0 ? network_.blocks()[static_cast<std::size_t>(b - 1)].projection : nullptr);
    }
    slices = over_slices(slice_images(32), [&](const Slice& s) { network_.stem_backward(s, images); });
    network_.reduce_weights(network_.stem(), slices, 0, gradient);
  }

  StepResult summary(int images) const {
    StepResult result;
    for (std::size_t i = 0; i < static_cast<std::size_t>(images); ++i) {
      result.loss += losses_[i];
      result.correct += correct_[i];
    }
    result.loss /= images;
    return result;
  }

  // Evaluation mode: slices know nothing of each other, so each goes through the whole network and back on
  // its own. `sink` gets their gradients in order.
  template <class Sink>
  void frozen(std::span<const float> parameters, std::span<const float> buffers, const Batch& batch,
              const Loss& loss, int images, double scale, const Sink& sink) {
    network_.prepare_frozen(std::min(images, batch.size));
    if (batch.size % images != 0) network_.prepare_frozen(batch.size % images);
    pack(parameters);
    for (Unit& unit : network_.units()) unit.use_running_statistics(parameters, buffers);
    const int slices = (batch.size + images - 1) / images;
    const int at_once = std::min(slices, 2 * pool_.threads());
    frozen_gradients_.resize(static_cast<std::size_t>(at_once));
    for (auto& one : frozen_gradients_) one.resize(parameter_count_);
    const HeadResult head{losses_, correct_, scale};
    for (int start = 0; start < slices; start += at_once) {
      const int round = std::min(at_once, slices - start);
      const auto slice = [&](int slot, int worker) {
        const int first = (start + slot) * images;
        return Slice{first, std::min(images, batch.size - first), slot, worker};
      };
      pool_.run(round, [&](int slot, int worker) {
        frozen_slice(slice(slot, worker), batch, loss, head,
                     frozen_gradients_[static_cast<std::size_t>(slot)]);
      });
      for (int slot = 0; slot < round; ++slot) {
        sink(slice(slot, 0), std::span<const float>(frozen_gradients_[static_cast<std::size_t>(slot)]));
      }
    }
  }

  void frozen_slice(const Slice& s, const Batch& batch, const Loss& loss, const HeadResult& head,
                    std::span<float> gradient) {
    const auto* images = static_cast<const float*>(batch.images);
    const int blocks = static_cast<int>(network_.blocks().size());
    network_.stem_forward(s, images);
    for (int b = 0; b < blocks; ++b) {
      network_.first_forward(b, s);
      network_.second_forward(b, s);
    }
    network_.head(s, batch, loss, head);
    network_.linear_gradient(s.first, s.images, gradient);
    for (int b = blocks - 1; b >= 0; --b) {
      network_.second_backward(b, s, gradient.data());
      network_.first_backward(b, s, gradient.data());
    }
    network_.stem_backward(s, images, gradient.data());
    for (Unit& unit : network_.units()) unit.finish_gradient(s.slot, 1, 0, gradient);
  }

  struct Pending {
    Unit* unit;
    int slices;
    std::span<float> gradient;
  };

  base::ThreadPool& pool_;
  int max_batch_;
  std::size_t parameter_count_;
  Network network_;
  int batch_ = 0;
  std::vector<Pending> pending_;
  std::vector<double> losses_;
  std::vector<std::int32_t> correct_;
  std::vector<std::vector<float>> frozen_gradients_;
};

}  // namespace

std::unique_ptr<Engine> make_onednn_engine(const ResNetSpec& spec, int max_batch, base::ThreadPool& pool) {
  return std::make_unique<OnednnEngine>(spec, max_batch, pool);
}

}  // namespace longtail::nn::onednn
