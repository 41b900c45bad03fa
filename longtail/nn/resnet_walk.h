// The one walk through a ResNet, for every engine: forward pass by pass, classifier and loss, and back. It
// owns the slices of the batch, the threads and their barriers, batch-norm statistics and running statistics,
// and knows no instruction set: the backend does the work of a slice in a pass (backend.h).
//
// The batch is cut into slices of fixed size, whose sums are added in order (those of batch norm and loss in
// double): no bit depends on the number of threads. A value that is not finite is never lost in a ReLU: loss
// and gradient of such a step are NaN, and so are the logits of a network with such parameters.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "longtail/base/threads.h"
#include "longtail/nn/backend.h"
#include "longtail/nn/batch_norm.h"
#include "longtail/nn/buffer.h"
#include "longtail/nn/engine.h"
#include "longtail/nn/head.h"

namespace longtail::nn {

template <class T>
class ResNetWalk {
 public:
  // The loss of one image of the batch: writes the gradient at its logits and whether the prediction was
  // right. May be called from several threads at once.
  using ImageLoss =
      std::function<double(int image, std::span<const T> logits, std::span<T> gradient, bool& hit)>;
  using ImageSink = std::function<void(int image, std::span<const T> gradient)>;

  ResNetWalk(const ResNetSpec& spec, int max_batch, base::ThreadPool& pool,
             std::unique_ptr<Backend<T>> backend);

  const Backend<T>& backend() const { return *backend_; }
  int max_batch() const { return max_batch_; }

  // As in Engine; `images` are `batch` images in the backend's layout.
  StepResult gradient(std::span<const T> parameters, std::span<T> buffers, const void* images, int batch,
                      const ImageLoss& loss, std::span<T> gradient);
  void frozen_gradient(std::span<const T> parameters, std::span<const T> buffers, const void* images,
                       int batch, const ImageLoss& loss, std::span<T> gradient);
  void image_gradients(std::span<const T> parameters, std::span<const T> buffers, const void* images,
                       int batch, const ImageLoss& loss, const ImageSink& sink);
  void predict(std::span<const T> parameters, std::span<const T> buffers, const void* images, int batch,
               std::span<T> logits);

 private:
  static constexpr int kRoundImages = 16;  // image_gradients takes this many at a time

  // The inputs of a step, from its start to its end.
  struct Step {
    std::span<const T> parameters;
    std::span<T> buffers;  // empty: frozen, batch norm by running statistics
    const void* images = nullptr;
    int batch = 0;
    const ImageLoss* loss = nullptr;
    int first_image = 0;  // of the caller's batch
    int slice_images = 0;
    double weight = 1;                         // of an image in the loss
    std::vector<std::span<T>> gradients = {};  // one for all slices, or one for each
    bool frozen() const { return buffers.empty(); }
    int slices() const { return (batch + slice_images - 1) / slice_images; }
  };
  using SliceBody = std::function<void(const Slice<T>&)>;

  void allocate_training();
  void pack(Packing packing, std::span<const T> parameters);
  void use_running_statistics(std::span<const T> parameters, std::span<const T> buffers);
  StepResult run_step();
  void run(const SliceBody& body);

  void forward();
  void finish_forward(const ConvUnit& unit, int which);
  void head(const Slice<T>& slice);
  void score(int image);
  StepResult result();

  void backward();
  void classifier_gradient();
  void finish_backward(const ConvUnit& unit, int which);
  void finish_block_input(std::size_t block);
  void collect_weights(const ConvUnit& unit, std::size_t offset);
  void unpack(const ConvUnit& unit, const T* sums, std::span<T> gradient);

  bool fold(std::span<const T> parameters, std::span<const T> buffers);

  SumRange sums(const ConvUnit& unit, int first, int last, int which) const {
    return {sum_table_, first, last, which,
            static_cast<double>(step_.batch) * unit.out_side() * unit.out_side()};
  }
  // Elements of an array [image][size].
  static std::size_t at(int image, int size) {
    return static_cast<std::size_t>(image) * static_cast<std::size_t>(size);
  }

  NetworkPlan plan_;
  int max_batch_;
  std::size_t image_bytes_;
  base::ThreadPool& pool_;
  std::unique_ptr<Backend<T>> backend_;
  std::unique_ptr<Classifier<T>> classifier_;
  NormBank<T> norms_;

  // Training only, allocated at the first step.
  SumTable sum_table_;
  std::size_t main_sums_ = 0;   // values of a slice before its projection's
  std::size_t slice_sums_ = 0;  // values of a slice
  Buffer<T> weight_sums_;       // [slice][weights, projection]
  Buffer<T> summed_;
  Buffer<T> features_;  // [image][feature]
  Buffer<T> feature_gradient_;
  Buffer<T> logits_;  // [image][class]
  Buffer<T> logit_gradient_;
  std::vector<double> losses_;
  std::vector<char> hits_;

  std::vector<T> folded_;  // prediction: parameters with batch norm multiplied in

  Step step_;
  bool finite_ = true;      // all sums of the step so far are finite
  bool backwards_ = false;  // the next pass
};

}  // namespace longtail::nn
