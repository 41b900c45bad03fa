// The network laid out in memory, and what one slice of the batch does at each layer. Nothing here knows of
// threads: a slice is computed by one worker from start to end.
//
// A training step is a chain of loops over slices, cut where a batch norm needs the sums of all of them:
//   stem, then of each block first and second, forward; head; then second and first of each block, stem,
//   backward.
// Of each unit the convolution's raw output is kept, and the output of every second block; what lies between
// is made again when it is needed, in the cache. On the way back the gradient of a hidden layer takes the
// place of a raw output that is no longer needed.
#pragma once

#include <deque>
#include <map>
#include <span>
#include <vector>

#include "longtail/nn/aligned.h"
#include "longtail/nn/engine.h"
#include "longtail/nn/onednn/convolution.h"
#include "longtail/nn/onednn/kernels.h"
#include "longtail/nn/onednn/unit.h"
#include "longtail/nn/resnet.h"

namespace longtail::nn::onednn {

// Images of the batch that one worker takes through a layer. `slot` is where their sums go.
struct Slice {
  int first = 0;
  int images = 0;
  int slot = 0;
  int worker = 0;
};

// A slice's buffers of a layer stay in a 2 MiB second-level cache at these sizes. They are part of the
// result's last bits: never a function of the number of threads.
constexpr int slice_images(int side) { return side >= 32 ? 4 : 8; }
constexpr int kFewestSliceImages = 4;

struct Block {
  Unit* first = nullptr;
  Unit* second = nullptr;
  Unit* projection = nullptr;  // null without
  Skip skip = Skip::kIdentity;
};

// What the head leaves of each image.
struct HeadResult {
  std::span<double> losses;
  std::span<std::int32_t> correct;
  double scale = 1;  // of the gradient: 1 / batch for a mean
};

// Backward passes leave a slice's weight gradients in the unit's partials at the slice's slot; with `flat`,
// in that flat gradient of the slice's own.
class Network {
 public:
  Network(const ResNetSpec& spec, int max_batch, int workers);

  const ResNetSpec& spec() const { return spec_; }
  std::deque<Unit>& units() { return units_; }
  Unit& stem() { return *stem_; }
  std::vector<Block>& blocks() { return blocks_; }
  const NetworkPlan& plan() const { return plan_; }

  // Creates what convolutions over so many images need; cheap the second time.
  void prepare_training(int batch);
  void prepare_frozen(int images);
  void prepare_predict(int images);

  // The classifier's weights in both orders.
  void pack_linear(std::span<const float> parameters);

  void stem_forward(const Slice& s, const float* images);
  void first_forward(int block, const Slice& s);
  void second_forward(int block, const Slice& s);
  void head(const Slice& s, const Batch& batch, const Loss& loss, const HeadResult& result);
  void second_backward(int block, const Slice& s, float* flat = nullptr);
  void first_backward(int block, const Slice& s, float* flat = nullptr);
  void stem_backward(const Slice& s, const float* images, float* flat = nullptr);
  // Prediction with folded weights: everything for the slice at once.
  void predict(const Slice& s, const float* images, std::span<float> logits);

  // The slices' weight gradients of a unit, added in order and written to the flat gradient.
  void reduce_weights(Unit& unit, int slices, int worker, std::span<float> gradient);
  void linear_gradient(int first, int count, std::span<float> gradient);

  float* scratch(int worker, int which);

 private:
  Convolution& convolution(const ConvUnit& plan);
  Unit& add_unit(const ConvUnit& plan);
  void plan_memory();
  SliceShape shape(const Unit& unit, int images) const;
  float* raw(const Unit& unit, int image) const;
  float* gradient_of_output(int side, int image);  // of a block whose output has this side
  const float* block_input(int block, const Slice& s);
  Unit& output_unit(int block) {
    return block < 0 ? *stem_ : *blocks_[static_cast<std::size_t>(block)].second;
  }
  void make_output(int block, const Slice& s, float* output);
  void convolve(Unit& unit, const Slice& s, const float* input);
  void weight_gradient(Unit& unit, const Slice& s, const float* input, const float* upstream, float* flat);
  const float* skip_gradient(const Block& block, const Slice& s, const float* input, float* flat);

  ResNetSpec spec_;
  NetworkPlan plan_;
  int max_batch_;
  int slots_;
  int block_;  // channels of a block of the layout
  const Kernels& kernels_;
  Context context_;
  std::map<ConvShape, Convolution> convolutions_;
  std::deque<Unit> units_;
  Unit* stem_ = nullptr;
  std::vector<Block> blocks_;
  Aligned<float> arena_;         // raw outputs and block outputs
  Aligned<float> gradients_[3];  // of block outputs, a buffer a stage
  Aligned<float> partials_[3];   // weight gradients of slices: two that alternate, one for projections
  std::vector<Aligned<float>> scratch_;  // five a worker
  Aligned<float> linear_, linear_transposed_, linear_bias_;
  std::vector<float> features_, logit_gradients_;  // a row an image
  int prepared_batch_ = 0;
};

}  // namespace longtail::nn::onednn
