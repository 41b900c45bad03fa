#include "longtail/train/config.h"

#include <fmt/format.h>

#include "longtail/base/error.h"
#include "longtail/base/text.h"
#include "longtail/data/augmenter.h"
#include "longtail/data/image_shape.h"
#include "longtail/nn/engine_names.h"
#include "longtail/nn/loss.h"
#include "longtail/sampling/strategy.h"
#include "longtail/train/rebalance_method.h"
#include "longtail/train/schedule.h"

namespace longtail::train {
namespace {

using Table = base::ParamTable<RunConfig>;

void add_data_params(Table& table) {
  table.section("data");
  table.add("dataset", &RunConfig::dataset, "The data set; `longtail data list` shows them.");
  table.include(&RunConfig::subset, data::subset_params());
  table
      .add("image_size", &RunConfig::image_size,
           "Side of the square images that the network sees: a multiple of 8 from 16 to 128. Images of "
           "another size are "
           "stretched to it, each new pixel the mean of the area it covers.")
      .between(data::kSmallestSide, data::kLargestSide)
      .omitted("32");
  table
      .add(
          "fit", &RunConfig::fit,
          "How a picture that is not square becomes square: stretched, its middle cut out (crop), or between "
          "black bars (pad).")
      .one_of({"stretch", "crop", "pad"})
      .omitted("stretch");
  table
      .add("skip_unreadable", &RunConfig::skip_unreadable,
           "Leave out pictures that cannot be read, instead of refusing the data set with a list of them.")
      .omitted("false");
  table
      .add("augment", &RunConfig::augment,
           "What happens to training images: random crop by an eighth of the side (4 of 32 pixels) and "
           "horizontal flip, and mixing with another "
           "image after "
           "a plus.")
      .check(data::augment_choices(), [](const std::string& text) { data::Augmenter::parse(text); });
  table
      .add("val_fraction", &RunConfig::val_fraction,
           "Part of each class of the training subset that is held out; the best epoch is then chosen on it "
           "instead of on the test set. -1: none for the published data sets; for your own a tenth, if that "
           "is at least ten images of each of head, medium and tail.")
      .check("-1, or from 0 to 0.9", [](const std::string& text) {
        const double value = base::parse_real(text).value_or(-2);
        if (value != -1 && !(value >= 0 && value <= 0.9))
          base::fail("`val_fraction` is `{}`; it must be -1, or from 0 to 0.9", text);
      });
}

void add_model_params(Table& table) {
  table.section("model");
  table.add("model", &RunConfig::model, "The network.")
      .one_of({"resnet20", "resnet32", "resnet44", "resnet56", "resnet110"});
  table
      .add("shortcut", &RunConfig::shortcut,
           "Where the shape changes: a 1x1 convolution (the paper's) or padding with zeros.")
      .one_of({"projection", "pad"});
  table.add("width", &RunConfig::width, "1, 2 or 4: the three stages have 16, 32 and 64 channels times this.")
      .between(1, 4)
      .omitted("1");
  table
      .add("head", &RunConfig::head,
           "The classifier: linear, or the cosines between features and weights, which the loss ldam is for.")
      .one_of({"linear", "cosine"})
      .omitted("linear");
  std::vector<std::string> engines = {"auto"};
  std::string about =
      "What does the arithmetic: auto (the first of these that can do the network on this CPU)";
  for (const nn::EngineName& engine : nn::kEngineNames) {
    engines.emplace_back(engine.name);
    about += fmt::format("; {}: {}", engine.name, engine.about);
  }
  table.add("engine", &RunConfig::engine, about + ".").one_of(engines);
}

void add_train_params(Table& table) {
  table.section("train");
  table
      .add("strategy", &RunConfig::strategy, "The sampling strategy; `longtail sample --help` explains them.")
      .check("name or name:key=value", [](const std::string& text) { sampling::make_strategy(text); });
  table
      .add("seed", &RunConfig::seed,
           "Seed of the subset, the initial weights, the sampling and the augmentation.")
      .between(0, 4294967295.0);
  table.add("loss", &RunConfig::loss, "The loss; a parameter follows a colon.")
      .check(nn::loss_choices(), [](const std::string& text) { nn::make_loss(text, {}); });
  table
      .add("select", &RunConfig::select,
           "What makes an epoch the best: the highest overall accuracy, the highest mean of the classes' "
           "accuracies (balanced), the highest mean of the tail's, or being the last; default is overall for "
           "the published data sets and balanced for your own.")
      .one_of({"default", "overall", "balanced", "tail", "last"})
      .omitted("overall");
  table
      .add("epochs", &RunConfig::epochs,
           "Passes over the training subset, each of as many draws as it has images.")
      .at_least(1);
  table.add("batch_size", &RunConfig::batch_size, "Images in a step; an incomplete last batch is dropped.")
      .between(1, 65536);
  table.add("lr", &RunConfig::lr, "Base learning rate.").above(0);
  table.add("momentum", &RunConfig::momentum, "Momentum of SGD.").between(0, 1);
  table.add("nesterov", &RunConfig::nesterov, "Nesterov's form of momentum.");
  table.add("weight_decay", &RunConfig::weight_decay, "L2 penalty on every parameter.").at_least(0);
  table
      .add("clip", &RunConfig::clip,
           "Largest 2-norm of the gradient; a longer one is shortened. 0: no clipping.")
      .at_least(0);
  table
      .add("schedule", &RunConfig::schedule,
           "Learning rate after the warm-up: multiplied by lr_decay at each milestone, a half cosine down to "
           "0, or constant.")
      .check(schedule_choices(), [](const std::string& text) { make_schedule(text); });
  table
      .add("warmup_epochs", &RunConfig::warmup_epochs,
           "Epochs of linear warm-up: epoch t, counted from 0, has lr (t + 1) / warmup_epochs.")
      .at_least(0);
  table
      .add("milestones", &RunConfig::milestones,
           "Epochs, counted from 0, at which the learning rate is multiplied by lr_decay. Empty: 80% and 90% "
           "of the epochs, which is 160,180 of 200.")
      .at_least(1);
  table.add("lr_decay", &RunConfig::lr_decay, "Factor of the learning rate at each milestone.").above(0);
  table
      .add("rebalance", &RunConfig::rebalance,
           "What is done to the classifier after training, the features frozen; `longtail rebalance --help` "
           "explains the methods.")
      .check("none | " + rebalance_choices(), [](const std::string& text) { canonical_rebalance(text); })
      .omitted(kNoRebalance);
}

void add_run_params(Table& table) {
  table.section("run");
  table
      .add("keep_epochs", &RunConfig::keep_epochs,
           "Keep the checkpoint after this many epochs, for `longtail probe`; 0 is the initial network.")
      .at_least(0)
      .incidental();
  table
      .add("data", &RunConfig::data,
           "Folder with the files of the data set; for `list:` the one that its paths are relative to. "
           "Empty: the usual places "
           "(docs/data.md).")
      .incidental();
  table.add("threads", &RunConfig::threads, "Threads; 0 is all CPUs. Results do not depend on it.")
      .between(0, 1024)
      .incidental();
}

Table make_table() {
  Table table;
  add_data_params(table);
  add_model_params(table);
  add_train_params(table);
  add_run_params(table);
  return table;
}

}  // namespace

const Table& run_params() {
  static const Table table = make_table();
  return table;
}

void check(const RunConfig& config) {
  for (const auto& entry : run_params().entries()) {
    for (const auto& test : entry.checks) test(config);
    if (const std::string text = entry.get(config); !base::is_utf8(text)) {
      base::fail<base::UsageError>("`{}` is `{}`, which is not UTF-8; rename the file or folder",
                                   entry.info.name, base::to_utf8(text));
    }
  }
  if (!data::is_side(config.image_size)) {
    base::fail<base::UsageError>("`image_size` is {}; it must be a multiple of 8 from {} to {}",
                                 config.image_size, data::kSmallestSide, data::kLargestSide);
  }
  if (config.width == 3) base::fail<base::UsageError>("`width` is 3; it must be 1, 2 or 4");
  if (make_schedule(config.schedule)->name() == "multistep") {
    for (const int milestone : config.milestones) {
      if (milestone >= config.epochs) {
        base::fail<base::UsageError>(
            "`milestones` has {}, but the last of {} epochs is {} (counted from 0); leave milestones empty "
            "for 80% and 90% of the epochs, or use `schedule` constant",
            milestone, config.epochs, config.epochs - 1);
      }
    }
  }
  const auto strategy = sampling::make_strategy(config.strategy);
  sampling::refuse_late_change("strategy", config.strategy, strategy->deferral(config.epochs), config.epochs);
  sampling::refuse_late_change("loss", config.loss, nn::make_loss(config.loss, {})->deferral(config.epochs),
                               config.epochs);
  if (config.subset.profile == "default" && config.subset.rho != data::SubsetConfig{}.rho) {
    data::refuse_idle_ratio(data::decided(config.subset, config.dataset), config.dataset);
  }
  for (const int epoch : config.keep_epochs) {
    if (epoch > config.epochs) {
      base::fail<base::UsageError>("`keep_epochs` has {}, but the run has only {} epochs", epoch,
                                   config.epochs);
    }
  }
  if (config.val_fraction <= 0 && strategy->feedback() == sampling::Feedback::kHeldOut) {
    base::fail<base::UsageError>(
        "strategy `{}` looks at the accuracy on held-out images, but none are held out; set `val_fraction` "
        "(--val-fraction 0.1)",
        config.strategy);
  }
  if (config.head == "cosine" && nn::make_loss(config.loss, {})->logit_scale() == 1) {
    base::fail<base::UsageError>(
        "`head` is cosine, whose logits are from -1 to 1, and the loss `{}` takes them as they are; use a "
        "loss that multiplies them (--loss ldam), or --head linear",
        config.loss);
  }
  if (config.head == "cosine" && config.rebalance != kNoRebalance) {
    base::fail<base::UsageError>("`rebalance` is `{}`, which needs a linear head; use --head linear",
                                 config.rebalance);
  }
  if (config.nesterov && config.momentum == 0) {
    base::fail<base::UsageError>(
        "`nesterov` needs a momentum above 0; set `nesterov` to false (--no-nesterov) or `momentum` to 0.9");
  }
}

void check_batch(const RunConfig& config, std::int64_t images) {
  if (config.batch_size <= images) return;
  base::fail("a batch of {} images is larger than the training subset of {}; use a smaller `batch_size`",
             config.batch_size, images);
}

bool goes_without_saying(const std::string& param, const std::string& value) {
  const auto* entry = run_params().find(param);
  if (!entry) return false;
  if (!entry->info.omitted.empty() && value == entry->info.omitted) return true;
  if (param == "val_fraction" && value == "0") return true;
  return (param == "loss" || param == "augment" || param == "val_fraction") && value == entry->info.initial;
}

bool names_file(std::string_view param, std::string_view value) {
  if (param == "counts_file") return !value.empty();
  return param == "class_order" && data::is_order_file(value);
}

std::map<std::string, std::string> logged_config(std::map<std::string, std::string> config) {
  for (auto& [param, value] : config) {
    if (names_file(param, value)) value.erase(0, value.rfind('/') + 1);
  }
  return config;
}

std::map<std::string, std::string> config_map(const RunConfig& config) {
  std::map<std::string, std::string> map;
  for (const auto& entry : run_params().entries()) {
    if (!entry.info.identity) continue;
    const std::string value = entry.get(config);
    if (entry.info.omitted.empty() || value != entry.info.omitted) map[entry.info.name] = value;
  }
  return map;
}

RunConfig config_from_map(const std::map<std::string, std::string>& map) {
  RunConfig config;
  for (const auto& entry : run_params().entries()) {
    if (!entry.info.omitted.empty()) entry.set(config, entry.info.omitted);
  }
  for (const auto& [name, text] : map) {
    // Code that needs an engine for such a run must ask for another one.
    if (name == "engine" && text == nn::kRetiredEngine) {
      config.engine = text;
    } else {
      run_params().set(config, name, text);
    }
  }
  return config;
}

}  // namespace longtail::train
