#include "longtail/nn/resnet_walk.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "longtail/data/layout.h"

namespace longtail::nn {

template <class T>
ResNetWalk<T>::ResNetWalk(const ResNetSpec& spec, int max_batch, base::ThreadPool& pool,
                          std::unique_ptr<Backend<T>> backend)
    : plan_(network_plan(spec)),
      max_batch_(max_batch),
      image_bytes_(data::bytes_per_image(backend->input_layout(), {spec.channels, spec.side})),
      pool_(pool),
      backend_(std::move(backend)),
      classifier_(make_classifier<T>(spec)),
      norms_(plan_) {}

template <class T>
void ResNetWalk<T>::allocate_training() {
  backend_->allocate_training();
  if (features_.size() > 0) return;
  const int slice_images = backend_->slice_images();
  const int slices =
      std::max((max_batch_ + slice_images - 1) / slice_images, std::min(kRoundImages, max_batch_));
  sum_table_ = SumTable(slices, plan_.features);
  std::size_t projection = 0;
  plan_.each_unit([&](const ConvUnit& unit) {
    std::size_t& most = unit.kernel == 1 ? projection : main_sums_;
    most = std::max(most, (backend_->weight_sums(unit) + 15) / 16 * 16);
  });
  slice_sums_ = main_sums_ + projection;
  weight_sums_ = Buffer<T>(static_cast<std::size_t>(slices) * slice_sums_);
  summed_ = Buffer<T>(std::max(main_sums_, projection));
  features_ = Buffer<T>(at(max_batch_, plan_.features));
  feature_gradient_ = Buffer<T>(at(max_batch_, plan_.features));
  logits_ = Buffer<T>(at(max_batch_, plan_.classes));
  logit_gradient_ = Buffer<T>(at(max_batch_, plan_.classes));
  losses_.resize(static_cast<std::size_t>(max_batch_));
  hits_.resize(static_cast<std::size_t>(max_batch_));
}

template <class T>
void ResNetWalk<T>::pack(Packing packing, std::span<const T> parameters) {
  pool_.run(backend_->pack_pieces(packing),
            [&](int piece, int worker) { backend_->pack(packing, piece, worker, parameters); });
}

template <class T>
void ResNetWalk<T>::use_running_statistics(std::span<const T> parameters, std::span<const T> buffers) {
  plan_.each_unit([&](const ConvUnit& unit) { norms_.from_running(unit, parameters, buffers); });
}

// Every worker starts with its own slices, the same ones in every pass, because its cache may still hold
// their arrays. Then it helps the others.
template <class T>
void ResNetWalk<T>::run(const SliceBody& body) {
  const int slices = step_.slices(), workers = pool_.threads();
  std::vector<std::atomic<int>> next(static_cast<std::size_t>(workers));
  const auto share = [&](int worker) { return slices * worker / workers; };
  for (int w = 0; w < workers; ++w) next[static_cast<std::size_t>(w)] = share(w);
  const auto take = [&](int index, int worker) {
    const int first = index * step_.slice_images;
    T* weights = weight_sums_.data() + static_cast<std::size_t>(index) * slice_sums_;
    body({index, worker, first, std::min(first + step_.slice_images, step_.batch), backwards_,
          sum_table_.clear(index), weights, weights + main_sums_});
  };
  const auto work = [&](int worker) {
    for (int turn = 0; turn < workers; ++turn) {
      const int owner = (worker + turn) % workers;
      for (;;) {
        const int taken = next[static_cast<std::size_t>(owner)].fetch_add(1);
        if (taken >= share(owner + 1)) break;
        take(backwards_ ? share(owner) + share(owner + 1) - 1 - taken : taken, worker);
      }
    }
  };
  pool_.run(workers, [&](int, int worker) { backend_->on_worker([&] { work(worker); }); });
  backwards_ = !backwards_;
}

template <class T>
StepResult ResNetWalk<T>::run_step() {
  backwards_ = false;
  finite_ = true;
  backend_->begin({step_.images, step_.batch, norms_.norms()});
  classifier_->begin(step_.parameters);
  forward();
  backward();
  return result();
}

template <class T>
StepResult ResNetWalk<T>::gradient(std::span<const T> parameters, std::span<T> buffers, const void* images,
                                   int batch, const ImageLoss& loss, std::span<T> gradient) {
  allocate_training();
  step_ = {.parameters = parameters,
           .buffers = buffers,
           .images = images,
           .batch = batch,
           .loss = &loss,
           .slice_images = backend_->slice_images(),
           .weight = 1.0 / batch,
           .gradients = {gradient}};
  pack(Packing::kTraining, parameters);
  return run_step();
}

template <class T>
void ResNetWalk<T>::frozen_gradient(std::span<const T> parameters, std::span<const T> buffers,
                                    const void* images, int batch, const ImageLoss& loss,
                                    std::span<T> gradient) {
  allocate_training();
  step_ = {.parameters = parameters,
           .buffers = {},
           .images = images,
           .batch = batch,
           .loss = &loss,
           .slice_images = backend_->slice_images(),
           .weight = 1.0 / batch,
           .gradients = {gradient}};
  pack(Packing::kTraining, parameters);
  use_running_statistics(parameters, buffers);
  run_step();
}

template <class T>
void ResNetWalk<T>::image_gradients(std::span<const T> parameters, std::span<const T> buffers,
                                    const void* images, int batch, const ImageLoss& loss,
                                    const ImageSink& sink) {
  allocate_training();
  pack(Packing::kTraining, parameters);
  use_running_statistics(parameters, buffers);
  std::vector<std::vector<T>> gradients(static_cast<std::size_t>(std::min(kRoundImages, batch)),
                                        std::vector<T>(static_cast<std::size_t>(plan_.parameter_count)));
  for (int first = 0; first < batch; first += kRoundImages) {
    const int count = std::min(kRoundImages, batch - first);
    step_ = {.parameters = parameters,
             .buffers = {},
             .images = static_cast<const std::byte*>(images) + static_cast<std::size_t>(first) * image_bytes_,
             .batch = count,
             .loss = &loss,
             .first_image = first,
             .slice_images = 1};
    for (int i = 0; i < count; ++i) step_.gradients.push_back(gradients[static_cast<std::size_t>(i)]);
    run_step();
    for (int i = 0; i < count; ++i) sink(first + i, gradients[static_cast<std::size_t>(i)]);
  }
}

template <class T>
void ResNetWalk<T>::forward() {
  run([this](const Slice<T>& slice) { backend_->stem_forward(slice); });
  finish_forward(plan_.stem, 0);
  for (std::size_t b = 0; b < plan_.blocks.size(); ++b) {
    const BlockPlan& block = plan_.blocks[b];
    run([this, b](const Slice<T>& slice) { backend_->first_forward(b, slice); });
    finish_forward(block.first, 0);
    if (block.skip == Skip::kProjection) finish_forward(block.projection, 1);
    run([this, b](const Slice<T>& slice) { backend_->second_forward(b, slice); });
    finish_forward(block.second, 0);
  }
  run([this](const Slice<T>& slice) { head(slice); });
}

template <class T>
void ResNetWalk<T>::finish_forward(const ConvUnit& unit, int which) {
  const SumRange range = sums(unit, 0, step_.slices(), which);
  const bool finite = step_.frozen() ? norms_.finite(unit, range)
                                     : norms_.from_batch(unit, range, step_.parameters, step_.buffers);
  finite_ = finite_ && finite;
}

template <class T>
void ResNetWalk<T>::head(const Slice<T>& slice) {
  backend_->features_forward(slice, features_.data());
  for (int image = slice.first; image < slice.last; ++image) score(image);
  backend_->features_backward(slice, feature_gradient_.data());
}

template <class T>
void ResNetWalk<T>::score(int image) {
  const auto classes = static_cast<std::size_t>(plan_.classes);
  const T* features = features_.data() + at(image, plan_.features);
  const std::span<T> logits(logits_.data() + at(image, plan_.classes), classes);
  const std::span<T> slope(logit_gradient_.data() + at(image, plan_.classes), classes);
  classifier_->forward(features, logits.data());
  bool hit = false;
  losses_[static_cast<std::size_t>(image)] = (*step_.loss)(step_.first_image + image, logits, slope, hit);
  hits_[static_cast<std::size_t>(image)] = hit;
  for (T& value : slope) value = static_cast<T>(value * step_.weight);
  classifier_->backward(features, slope.data(), feature_gradient_.data() + at(image, plan_.features));
}

template <class T>
StepResult ResNetWalk<T>::result() {
  StepResult total;
  for (int image = 0; image < step_.batch; ++image) {
    total.loss += losses_[static_cast<std::size_t>(image)];
    total.correct += hits_[static_cast<std::size_t>(image)];
  }
  total.loss /= step_.batch;
  if (finite_) return total;
  total.loss = std::numeric_limits<double>::quiet_NaN();
  for (const std::span<T> gradient : step_.gradients) {
    std::fill(gradient.begin(), gradient.end(), std::numeric_limits<T>::quiet_NaN());
  }
  return total;
}

template <class T>
void ResNetWalk<T>::backward() {
  classifier_gradient();
  finish_block_input(plan_.blocks.size());
  for (std::size_t b = plan_.blocks.size(); b-- > 0;) {
    const BlockPlan& block = plan_.blocks[b];
    run([this, b](const Slice<T>& slice) { backend_->second_backward(b, slice); });
    finish_backward(block.first, 0);
    collect_weights(block.second, 0);
    run([this, b](const Slice<T>& slice) { backend_->first_backward(b, slice); });
    finish_block_input(b);
    collect_weights(block.first, 0);
    if (block.skip == Skip::kProjection) collect_weights(block.projection, main_sums_);
  }
  run([this](const Slice<T>& slice) { backend_->stem_backward(slice); });
  collect_weights(plan_.stem, 0);
}

template <class T>
void ResNetWalk<T>::classifier_gradient() {
  constexpr int kPiece = 16;
  const int pieces = (plan_.classes + kPiece - 1) / kPiece;
  const int images = step_.gradients.size() == 1 ? step_.batch : 1;
  for (std::size_t t = 0; t < step_.gradients.size(); ++t) {
    const int first = static_cast<int>(t);
    pool_.run(pieces, [&](int piece, int) {
      classifier_->parameter_gradient(images, piece * kPiece, std::min(plan_.classes, (piece + 1) * kPiece),
                                      logit_gradient_.data() + at(first, plan_.classes),
                                      features_.data() + at(first, plan_.features), step_.gradients[t]);
    });
  }
}

// Finishes the batch norms of the previous block: their output gradient is that at the block's input.
template <class T>
void ResNetWalk<T>::finish_block_input(std::size_t block) {
  if (block == 0) return finish_backward(plan_.stem, 0);
  const BlockPlan& previous = plan_.blocks[block - 1];
  finish_backward(previous.second, 0);
  if (previous.skip == Skip::kProjection) finish_backward(previous.projection, 1);
}

template <class T>
void ResNetWalk<T>::finish_backward(const ConvUnit& unit, int which) {
  const int slices = step_.slices(), gradients = static_cast<int>(step_.gradients.size());
  for (int s = 0; s < gradients; ++s) {
    const SumRange range = gradients == 1 ? sums(unit, 0, slices, which) : sums(unit, s, s + 1, which);
    const bool finite =
        norms_.backward(unit, range, step_.frozen(), step_.gradients[static_cast<std::size_t>(s)]);
    finite_ = finite_ && finite;
  }
}

template <class T>
void ResNetWalk<T>::collect_weights(const ConvUnit& unit, std::size_t offset) {
  const T* first = weight_sums_.data() + offset;
  if (step_.gradients.size() > 1) {
    for (std::size_t s = 0; s < step_.gradients.size(); ++s) {
      unpack(unit, first + s * slice_sums_, step_.gradients[s]);
    }
    return;
  }
  constexpr std::size_t kPiece = 4096;
  const std::size_t count = backend_->weight_sums(unit);
  const int slices = step_.slices();
  pool_.run(static_cast<int>((count + kPiece - 1) / kPiece), [&](int piece, int) {
    const std::size_t from = static_cast<std::size_t>(piece) * kPiece, size = std::min(kPiece, count - from);
    T* to = summed_.data() + from;
    std::copy_n(first + from, size, to);
    for (int s = 1; s < slices; ++s) {
      const T* part = first + from + static_cast<std::size_t>(s) * slice_sums_;
      for (std::size_t i = 0; i < size; ++i) to[i] += part[i];
    }
  });
  unpack(unit, summed_.data(), step_.gradients[0]);
}

// In pieces of whole output channels, because a backend's own order may be a transform away from PyTorch's.
template <class T>
void ResNetWalk<T>::unpack(const ConvUnit& unit, const T* sums, std::span<T> gradient) {
  constexpr int kPiece = 64;
  T* weights = gradient.data() + unit.weight;
  if (unit.out <= kPiece) return backend_->unpack_weights(unit, sums, 0, unit.out, weights);
  pool_.run((unit.out + kPiece - 1) / kPiece, [&](int piece, int) {
    backend_->unpack_weights(unit, sums, piece * kPiece, std::min(unit.out, (piece + 1) * kPiece), weights);
  });
}

// Multiplies every convolution's weights by its batch norm's scale; the shifts stay in the norms. False if a
// parameter is not finite.
template <class T>
bool ResNetWalk<T>::fold(std::span<const T> parameters, std::span<const T> buffers) {
  use_running_statistics(parameters, buffers);
  folded_.assign(parameters.begin(), parameters.end());
  plan_.each_unit([&](const ConvUnit& unit) {
    const Norm<T>& norm = norms_.norms()[static_cast<std::size_t>(unit.index)];
    const std::int64_t size = unit.weight_size() / unit.out;
    for (int out = 0; out < unit.out; ++out) {
      T* weights = folded_.data() + unit.weight + out * size;
      for (std::int64_t i = 0; i < size; ++i) weights[i] *= norm.scale[out];
    }
  });
  const auto finite = [](T value) { return std::isfinite(value); };
  return std::all_of(folded_.begin(), folded_.end(), finite) &&
         std::all_of(buffers.begin(), buffers.end(), finite);
}

template <class T>
void ResNetWalk<T>::predict(std::span<const T> parameters, std::span<const T> buffers, const void* images,
                            int batch, std::span<T> logits) {
  if (!fold(parameters, buffers)) {
    return std::fill(logits.begin(), logits.end(), std::numeric_limits<T>::quiet_NaN());
  }
  backend_->begin({images, batch, norms_.norms()});
  classifier_->begin(parameters);
  pack(Packing::kPrediction, folded_);
  const int group = backend_->predict_images();
  std::vector<T> features(at(batch, plan_.features));
  const auto through = [&](int index, int worker) {
    Slice<T> slice{.index = index, .worker = worker};
    slice.first = index * group;
    slice.last = std::min(slice.first + group, batch);
    backend_->predict_stem(slice);
    for (std::size_t b = 0; b < plan_.blocks.size(); ++b) backend_->predict_block(b, slice);
    backend_->predict_features(slice, features.data());
    for (int image = slice.first; image < slice.last; ++image) {
      classifier_->forward(features.data() + at(image, plan_.features),
                           logits.data() + at(image, plan_.classes));
    }
  };
  constexpr int kPieceImages = 4;  // a worker takes this many images at a time
  const int groups = (batch + group - 1) / group, piece_groups = std::max(1, kPieceImages / group);
  pool_.run((groups + piece_groups - 1) / piece_groups, [&](int piece, int worker) {
    backend_->on_worker([&] {
      const int last = std::min(groups, (piece + 1) * piece_groups);
      for (int index = piece * piece_groups; index < last; ++index) through(index, worker);
    });
  });
}

template class ResNetWalk<float>;
template class ResNetWalk<double>;

}  // namespace longtail::nn
