// What an instruction set does for the one walk through a ResNet (resnet_walk.h): one slice of the batch in
// one pass. The walk owns threads, slices, batch norm, classifier and loss; a backend owns activations,
// packed weights and kernels, and may fuse operations within a pass.
//
// A training step, with a barrier after every line where sums of the slices are added:
//   begin, pack
//   stem_forward                            sums[0]: the stem's output z
//   first_forward(b)                        sums[0]: first's z, sums[1]: projection's z
//   second_forward(b)                       sums[0]: second's z
//   features_forward, (classifier, loss), features_backward
//                                           sums: the gradient at the last block's output
//   second_backward(b)                      sums[0]: the gradient at first's output; weight_sums of second
//   first_backward(b)                       sums: the gradient at the block's input; weight_sums of first,
//                                           projection_sums of projection
//   stem_backward                           weight_sums of the stem
// A unit's z is the output of its convolution, before batch norm. Forward, a pass normalises its input with
// the coefficients of the units before it: relu(z * scale + shift), for a block's output + skip. Backward,
// the gradient d at an output (taken through the ReLU: zero where the output is not positive) becomes the
// gradient at z by d * a + z * b + c. Sums "of the gradient at a block's input": sums[0] for the unit whose
// batch norm is added there (the stem for block 0, else second of the previous block), sums[1] for the
// projection of the previous block, if it has one.
//
// A backend is a pure function of the images of a slice: nothing may depend on the worker or on other slices.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>

#include "longtail/data/layout.h"
#include "longtail/nn/resnet.h"

namespace longtail::nn {

// A batch norm as multiply-adds, one value per output channel of its unit, on cache-line boundaries.
template <class T>
struct Norm {
  const T* scale = nullptr;  // forward: y = z * scale + shift
  const T* shift = nullptr;
  const T* mean = nullptr;
  const T* a = nullptr;  // backward: dz = d * a + z * b + c
  const T* b = nullptr;
  const T* c = nullptr;
};

// Sums over the images and pixels of a slice, one value per channel, for each of the two batch norms that a
// pass may feed. Zero when the pass starts; the pass adds.
struct SliceSums {
  double* sum[2];      // forward: z; backward: d
  double* product[2];  // forward: z * z; backward: d * (z - mean)
};

// Images [first, last) of the batch. Every other pass goes through the images backwards, so that it starts
// with those that the previous pass left in cache; only the order of sums inside the slice depends on it.
template <class T>
struct Slice {
  int index = 0;   // number of the slice
  int worker = 0;  // whose scratch memory it may use
  int first = 0;
  int last = 0;
  bool backwards = false;
  SliceSums sums{};
  T* weight_sums = nullptr;      // weight_sums(unit) values to overwrite
  T* projection_sums = nullptr;  // the same for a projection

  int count() const { return last - first; }
  int image(int i) const { return backwards ? last - 1 - i : first + i; }
};

// What the passes of one step share. The coefficients of a unit are filled in between passes, as its sums
// become known.
template <class T>
struct StepInput {
  const void* images = nullptr;  // in the backend's layout, one after the other
  int batch = 0;
  std::span<const Norm<T>> norms = {};  // norms[unit.index]
};

enum class Packing { kTraining, kPrediction };

// T is the type of parameters, coefficients, features and weight gradients: float; double in the reference.
template <class T>
class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  virtual data::PixelLayout input_layout() const = 0;

  // Images per slice in training. The results' last bits depend on it: a constant, or a function of the plan.
  virtual int slice_images() const = 0;
  // Number of values in a slice's part of a unit's weight gradient, in the backend's own order.
  virtual std::size_t weight_sums(const ConvUnit& unit) const = 0;

  // Runs body on the calling thread with what the passes need there, such as configured tile registers.
  virtual void on_worker(const std::function<void()>& body) { body(); }

  // Makes room for batches of max_batch images (given at construction); called before every training step.
  virtual void allocate_training() {}
  // Called before pack and the passes of a step or of a prediction. The input lives until the last of them.
  virtual void begin(const StepInput<T>& step) = 0;
  // Brings the weights from the flat parameters into the backend's order, in pieces that any worker may take.
  // For prediction every weight is already multiplied by its batch norm's scale.
  virtual int pack_pieces(Packing packing) const = 0;
  virtual void pack(Packing packing, int piece, int worker, std::span<const T> parameters) = 0;

  virtual void stem_forward(const Slice<T>& slice) = 0;
  virtual void first_forward(std::size_t block, const Slice<T>& slice) = 0;
  virtual void second_forward(std::size_t block, const Slice<T>& slice) = 0;
  // The mean over the pixels of the last block's output; `features` is [image of the batch][feature].
  virtual void features_forward(const Slice<T>& slice, T* features) = 0;
  // Backward from the gradient at these means. Follows features_forward of the same slice on the same worker.
  virtual void features_backward(const Slice<T>& slice, const T* gradients) = 0;
  virtual void second_backward(std::size_t block, const Slice<T>& slice) = 0;
  virtual void first_backward(std::size_t block, const Slice<T>& slice) = 0;
  virtual void stem_backward(const Slice<T>& slice) = 0;

  // Brings the sum of weight_sums over the slices into PyTorch's order: output channels [first, last) of
  // `weights`, which is out x in x kernel x kernel.
  virtual void unpack_weights(const ConvUnit& unit, const T* sums, int first, int last, T* weights) = 0;

  // Prediction: a few images at a time go through the whole network in the scratch memory of one worker. A
  // unit is its convolution with folded weights plus norm.shift. Sums of the slice are null.
  virtual int predict_images() const = 0;  // at most this many in a slice
  virtual void predict_stem(const Slice<T>& slice) = 0;
  virtual void predict_block(std::size_t block, const Slice<T>& slice) = 0;
  virtual void predict_features(const Slice<T>& slice, T* features) = 0;
};

}  // namespace longtail::nn
