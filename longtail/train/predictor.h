// Applies the network of a run to new pictures. Needs the folder of the run and nothing else.
//
//   const Predictor predictor("runs/progressive-42");
//   const auto chances = predictor.probabilities(pictures);   // pictures: planar bytes, one after the other
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "longtail/base/threads.h"
#include "longtail/data/dataset.h"
#include "longtail/data/image.h"
#include "longtail/nn/engine.h"
#include "longtail/train/checkpoint.h"

namespace longtail::train {

struct PredictorOptions {
  bool last = false;   // the network after the last epoch instead of the one at the best epoch
  std::string engine;  // empty: the run's if this machine has it, else the fastest that it has
  int threads = 0;     // 0: all CPUs
};

class Predictor {
 public:
  // An Error if the folder holds no run, or one of a version that did not record how its pictures were read.
  explicit Predictor(const std::filesystem::path& run, const PredictorOptions& options = {});

  const RunLog& log() const { return *state_.log; }
  const std::vector<std::string>& class_names() const { return log().class_names; }
  const data::PictureForm& form() const { return form_; }
  data::ImageShape shape() const { return frame_.shape(); }
  int epoch() const { return epoch_; }  // of the network, counted from 1
  std::string engine() const { return std::string(engine_->name()); }

  // The probability of every class, one list per picture. `pixels` holds `channels` planes per picture.
  std::vector<std::vector<double>> probabilities(std::vector<std::uint8_t> pixels) const;

 private:
  Checkpoint state_;
  const NetworkState* network_ = nullptr;  // in state_
  int epoch_ = 0;
  data::PictureForm form_;
  data::Dataset frame_;  // shape and constants, without images
  std::unique_ptr<base::ThreadPool> pool_;
  std::unique_ptr<nn::Engine> engine_;
};

}  // namespace longtail::train
