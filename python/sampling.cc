// Strategies, streams, subsets and groups for Python.
#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "longtail/base/error.h"
#include "longtail/data/groups.h"
#include "longtail/data/subset.h"
#include "longtail/sampling/strategy.h"
#include "longtail/sampling/stream.h"
#include "longtail/theory/forecast.h"
#include "longtail/train/feedback.h"
#include "python/bindings.h"

namespace longtail::python {
namespace {

using base::fail;

// Images of each class; the classes are 0 to the largest label.
std::vector<std::int64_t> counts_of(std::span<const std::int64_t> labels) {
  std::vector<std::int64_t> counts;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const std::int64_t label = labels[i];
    if (label < 0 || label > std::int64_t{1} << 24)
      fail("image {} has the label {}; labels are whole numbers from 0 to 2^24", i, label);
    if (static_cast<std::size_t>(label) >= counts.size()) counts.resize(static_cast<std::size_t>(label) + 1);
    ++counts[static_cast<std::size_t>(label)];
  }
  return counts;
}

// Where the images of each class are: a stream numbers images class after class, a data set has its own
// order.
class ImageOrder {
 public:
  ImageOrder(std::span<const std::int64_t> labels, std::span<const std::int64_t> counts) {
    if (labels.size() > std::numeric_limits<std::uint32_t>::max())
      fail("labels of {} images; from 2^32 on give `counts` and order the images by class", labels.size());
    std::vector<std::size_t> next(counts.size());
    for (std::size_t k = 1; k < counts.size(); ++k)
      next[k] = next[k - 1] + static_cast<std::size_t>(counts[k - 1]);
    places_.resize(labels.size());
    for (std::size_t i = 0; i < labels.size(); ++i)
      places_[next[static_cast<std::size_t>(labels[i])]++] = static_cast<std::uint32_t>(i);
  }
  // From the places() of another ImageOrder.
  ImageOrder(std::vector<std::uint32_t> places, std::int64_t images) : places_(std::move(places)) {
    if (std::cmp_not_equal(places_.size(), images))
      fail("the pickled sampler has an order of {} images and counts of {}", places_.size(), images);
    for (const std::uint32_t place : places_) {
      if (place >= places_.size()) fail("the pickled sampler has image {} of {}", place, places_.size());
    }
  }
  const std::vector<std::uint32_t>& places() const { return places_; }
  void apply(std::span<std::int64_t> images) const {
    for (std::int64_t& image : images) image = places_[static_cast<std::size_t>(image)];
  }

 private:
  std::vector<std::uint32_t> places_;
};

py::list list_of(std::span<const std::int64_t> values) {
  py::list made(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    PyObject* const number = PyLong_FromLongLong(values[i]);
    if (number == nullptr) throw py::error_already_set();
    PyList_SET_ITEM(made.ptr(), static_cast<py::ssize_t>(i), number);
  }
  return made;
}

// Whether `is` (stratified batches, or draws without replacement) holds in some epoch of the training from
// `first` on. Only a deferred strategy can change, so only then are all epochs checked.
bool some_epoch(const sampling::Strategy& strategy,
                bool (sampling::Strategy::*is)(const sampling::Situation&) const, int first, int epochs) {
  const int last = strategy.deferral(epochs) ? std::max(first, epochs - 1) : first;
  for (int epoch = first; epoch <= last; ++epoch) {
    if ((strategy.*is)({epoch, epochs})) return true;
  }
  return false;
}

// The draws of all epochs of a training.
class Source {
 public:
  Source(const std::optional<Array<std::int64_t>>& labels, const std::optional<Array<std::int64_t>>& counts,
         const std::string& strategy, int epochs, std::uint64_t seed, int batch_size)
      : strategy_(sampling::make_strategy(strategy)), epochs_(epochs), seed_(seed), batch_size_(batch_size) {
    if (labels.has_value() == counts.has_value())
      fail("give either `labels`, the class of every image, or `counts`, the images of every class");
    if (epochs < 1) fail("`epochs` is {}; it must be at least 1", epochs);
    if (batch_size < 0) fail("`batch_size` is {}; it must be at least 1", batch_size);
    sampling::refuse_late_change("strategy", strategy_->name(), strategy_->deferral(epochs), epochs);
    if (batch_size == 0 && shapes_batches())
      fail("{} shapes whole batches; give `batch_size`, the draws of a step on all ranks together",
           strategy_->name());
    if (labels) {
      counts_ = counts_of(span_of(*labels));
      order_.emplace(span_of(*labels), counts_);
    } else {
      const auto given = span_of(*counts);
      counts_.assign(given.begin(), given.end());
    }
    stream(0);  // refuses impossible counts
  }

  // To a pickle and back: everything except the tables of the epoch last asked for, which are rebuilt.
  py::tuple state() const {
    const py::object places = order_ ? py::object(array_of(order_->places())) : py::object(py::none());
    return py::make_tuple(strategy(), epochs_, seed_, batch_size_, array_of(counts_), places,
                          class_accuracy_);
  }
  static std::unique_ptr<Source> from_state(const py::tuple& state) {
    if (state.size() != 7) fail("the pickled sampler is one of another version of longtail");
    auto source = std::make_unique<Source>(std::nullopt, state[4].cast<Array<std::int64_t>>(),
                                           state[0].cast<std::string>(), state[1].cast<int>(),
                                           state[2].cast<std::uint64_t>(), state[3].cast<int>());
    if (!state[5].is_none()) {
      const auto places = state[5].cast<Array<std::uint32_t>>();
      const auto span = span_of(places);
      source->order_.emplace(std::vector<std::uint32_t>(span.begin(), span.end()), source->images());
    }
    for (const auto& accuracies : state[6].cast<std::vector<std::vector<double>>>())
      source->update(accuracies);
    return source;
  }

  std::string strategy() const { return strategy_->name(); }
  int epochs() const { return epochs_; }
  std::uint64_t seed() const { return seed_; }
  int batch_size() const { return batch_size_; }
  py::array_t<std::int64_t> counts() const { return array_of(counts_); }
  std::int64_t images() const { return std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0}); }

  // In this epoch or a later one.
  bool without_replacement(int epoch) const {
    return some_epoch(*strategy_, &sampling::Strategy::without_replacement, epoch, epochs_);
  }
  // In some epoch.
  bool shapes_batches() const { return some_epoch(*strategy_, &sampling::Strategy::stratified, 0, epochs_); }
  py::array_t<double> probabilities(int epoch) { return array_of(stream(epoch).probabilities()); }

  // The draws first, first + 1, ... of rank's part of the epoch, into an array of int64.
  void fill(int epoch, std::int64_t first, py::array_t<std::int64_t, py::array::c_style> out, int rank,
            int world) {
    draw(epoch, first, {out.mutable_data(), static_cast<std::size_t>(out.size())}, rank, world);
  }

  // The same as a list of integers: `__iter__` of a sampler needs one, and making it with NumPy's tolist
  // takes longer than the draws themselves.
  py::list list(int epoch, std::int64_t first, std::int64_t count, int rank, int world) {
    std::vector<std::int64_t> images(static_cast<std::size_t>(std::max<std::int64_t>(count, 0)));
    draw(epoch, first, images, rank, world);
    return list_of(images);
  }
  // A list of lists of `size` draws each.
  py::list batches(int epoch, std::int64_t first, std::int64_t count, std::int64_t size, int rank,
                   int world) {
    if (size < 1 || count < 0) fail("cannot make {} batches of {} draws", count, size);
    std::vector<std::int64_t> images(static_cast<std::size_t>(count * size));
    draw(epoch, first, images, rank, world);
    py::list all(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto batch =
          std::span(images).subspan(i * static_cast<std::size_t>(size), static_cast<std::size_t>(size));
      PyList_SET_ITEM(all.ptr(), static_cast<py::ssize_t>(i), list_of(batch).release().ptr());
    }
    return all;
  }

  // What the accuracies given to update() are measured on; nothing if the strategy takes none.
  std::optional<std::string> feedback() const {
    switch (strategy_->feedback()) {
      case sampling::Feedback::kTrainingDraws:
        return "draws";
      case sampling::Feedback::kHeldOut:
        return "held_out";
      case sampling::Feedback::kNone:
        break;
    }
    return std::nullopt;
  }
  // Adds the accuracy of each class in percent after the next epoch that has none yet; only for strategies
  // with feedback.
  void update(std::vector<double> class_accuracy) {
    if (strategy_->feedback() == sampling::Feedback::kNone)
      fail("the strategy {} takes no feedback; only strategies that follow the classes' accuracy do",
           strategy_->name());
    if (class_accuracy.size() != counts_.size())
      fail("there are {} accuracies for {} classes", class_accuracy.size(), counts_.size());
    for (const double value : class_accuracy) {
      if (!std::isnan(value) && (value < 0 || value > 100))
        fail("an accuracy is {}; it is from 0 to 100 percent, or NaN for a class that was not measured",
             value);
    }
    class_accuracy_.push_back(train::rounded(std::move(class_accuracy)));
    stream_.reset();
    part_.reset();
  }
  const std::vector<std::vector<double>>& class_accuracy() const { return class_accuracy_; }
  void forget() {
    class_accuracy_.clear();
    stream_.reset();
    part_.reset();
  }

 private:
  // What the strategy would know in that epoch of a training.
  sampling::Situation situation(int epoch) const {
    sampling::Situation result{epoch, epochs_, {}, batch_size_};
    const auto known = std::min(class_accuracy_.size(), static_cast<std::size_t>(epoch));
    result.class_accuracy.assign(class_accuracy_.begin(),
                                 class_accuracy_.begin() + static_cast<std::ptrdiff_t>(known));
    return result;
  }

  const sampling::IndexStream& stream(int epoch) {
    if (!stream_ || epoch_ != epoch) {
      stream_.emplace(*strategy_, counts_, situation(epoch), seed_);
      part_.reset();
      epoch_ = epoch;
    }
    return *stream_;
  }

  // A part is a copy with its own tables. It is kept, because callers may ask for one batch at a time.
  const sampling::IndexStream& part(int epoch, int rank, int world) {
    const sampling::IndexStream& whole = stream(epoch);
    if (rank == 0 && world == 1) return whole;
    if (!part_ || rank_ != rank || world_ != world) {
      part_ = whole.shard(rank, world);
      rank_ = rank;
      world_ = world;
    }
    return *part_;
  }

  void draw(int epoch, std::int64_t first, std::span<std::int64_t> images, int rank, int world) {
    const sampling::IndexStream& mine = part(epoch, rank, world);
    if (images.size() < kMany) {
      mine.fill(first, images);
    } else {  // from a copy: other threads may ask for another part meanwhile
      const sampling::IndexStream copy = mine;
      const py::gil_scoped_release release;
      copy.fill(first, images);
    }
    if (order_) order_->apply(images);
  }

  // So many draws take so long that other threads should run meanwhile.
  static constexpr std::size_t kMany = std::size_t{1} << 17;

  std::unique_ptr<sampling::Strategy> strategy_;
  std::vector<std::int64_t> counts_;
  std::vector<std::vector<double>> class_accuracy_;  // [epoch][class]
  std::optional<ImageOrder> order_;
  int epochs_;
  std::uint64_t seed_;
  int batch_size_;
  std::optional<sampling::IndexStream> stream_;  // of the epoch last asked for
  std::optional<sampling::IndexStream> part_;    // its part for the rank last asked for
  int epoch_ = -1;
  int rank_ = 0;
  int world_ = 1;
};

py::list list_strategies() {
  py::list all;
  for (const auto& info : sampling::strategies()) {
    py::dict entry;
    entry["name"] = info.name;
    entry["parameters"] = info.parameter_words();
    entry["help"] = info.help;
    all.append(entry);
  }
  return all;
}

// A strategy to look at in one epoch, ahead of any training.
std::unique_ptr<sampling::Strategy> strategy_at(const std::string& text, int epoch, int epochs) {
  auto made = sampling::make_strategy(text);
  sampling::refuse_feedback(*made);
  if (epoch < 0 || epoch >= epochs)
    fail("there is no epoch {} in a training of {}; epochs are counted from 0", epoch, epochs);
  sampling::refuse_late_change("strategy", made->name(), made->deferral(epochs), epochs);
  return made;
}

py::array_t<double> probabilities(const Array<std::int64_t>& counts, const std::string& strategy, int epoch,
                                  int epochs) {
  const auto made = strategy_at(strategy, epoch, epochs);
  constexpr int kAnyBatch = 1;  // the shares of stratified batches do not depend on the size
  const sampling::Situation situation{epoch, epochs, {}, kAnyBatch};
  return array_of(sampling::IndexStream(*made, span_of(counts), situation, 0).probabilities());
}

py::list groups(const Array<std::int64_t>& counts, const std::string& definition) {
  const data::Groups known = data::Groups::parse(definition).decided(span_of(counts));
  py::list names;
  for (const std::int64_t count : span_of(counts)) {
    if (count < 0) fail("class {} has {} images; a count cannot be negative", names.size(), count);
    if (count == 0) {
      names.append(py::none());  // in no group: a network cannot learn it
    } else {
      names.append(data::kGroupNames[static_cast<std::size_t>(known.of(count))]);
    }
  }
  return names;
}

data::Subset subset(const Array<std::int64_t>& labels, double rho, std::int64_t seed,
                    const std::string& profile, int n_max, const std::string& class_order,
                    const std::string& counts_file, int classes) {
  data::SubsetConfig config;
  config.profile = profile;
  config.rho = rho;
  config.n_max = n_max;
  config.class_order = class_order;
  config.counts_file = counts_file;
  const auto span = span_of(labels);
  if (span.empty()) fail("there are no labels");
  const auto found = static_cast<int>(counts_of(span).size());  // refuses labels that do not fit into 32 bits
  const std::vector<std::int32_t> narrow(span.begin(), span.end());
  return data::make_subset(config, narrow, classes > 0 ? classes : found, seed);
}

py::dict theory(const Array<std::int64_t>& counts, const std::string& strategy, int epoch, int epochs,
                int batch_size, double sigma2, double norm2) {
  const auto made = strategy_at(strategy, epoch, epochs);
  const sampling::Situation situation{epoch, epochs, {}, batch_size};
  sampling::IndexStream(*made, span_of(counts), situation, 0);  // refuses impossible counts
  const theory::Forecast forecast = theory::forecast(*made, span_of(counts), situation,
                                                     {.batch = batch_size, .sigma2 = sigma2, .norm2 = norm2});
  py::list classes;
  for (const theory::ClassForecast& one : forecast.classes) {
    py::dict entry;
    entry["count"] = one.count;
    entry["weight"] = one.weight;
    entry["expected"] = one.expected;
    entry["absence"] = one.absence;
    entry["proposition_ratio"] = number_of(one.proposition_ratio);
    entry["exact_ratio"] = number_of(one.exact_ratio);
    classes.append(entry);
  }
  py::dict result;
  result["strategy"] = forecast.strategy;
  result["without_replacement"] = forecast.without_replacement;
  result["lambda"] = forecast.lambda;
  result["deviation"] = forecast.deviation.two;
  result["total_variation"] = forecast.deviation.total_variation;
  result["classes"] = classes;
  return result;
}

}  // namespace

void add_sampling(py::module_& module) {
  py::class_<Source>(module, "Source",
                     "The draws of all epochs of a training; `longtail.Sampler` walks through them.")
      .def(py::init<const std::optional<Array<std::int64_t>>&, const std::optional<Array<std::int64_t>>&,
                    const std::string&, int, std::uint64_t, int>(),
           py::arg("labels").none(true), py::arg("counts").none(true), py::arg("strategy"), py::arg("epochs"),
           py::arg("seed"), py::arg("batch_size") = 0)
      .def(py::pickle([](const Source& source) { return source.state(); },
                      [](const py::tuple& state) { return Source::from_state(state); }))
      .def_property_readonly("strategy", &Source::strategy)
      .def_property_readonly("epochs", &Source::epochs)
      .def_property_readonly("seed", &Source::seed)
      .def_property_readonly("batch_size", &Source::batch_size)
      .def_property_readonly("counts", &Source::counts)
      .def_property_readonly("images", &Source::images)
      .def_property_readonly("class_accuracy", &Source::class_accuracy)
      .def_property_readonly("feedback", &Source::feedback)
      .def("update", &Source::update, py::arg("class_accuracy"))
      .def("forget", &Source::forget)
      .def("without_replacement", &Source::without_replacement, py::arg("epoch"))
      .def_property_readonly("shapes_batches", &Source::shapes_batches)
      .def("probabilities", &Source::probabilities, py::arg("epoch"))
      .def("fill", &Source::fill, py::arg("epoch"), py::arg("first"), py::arg("out").noconvert(),
           py::arg("rank") = 0, py::arg("world") = 1)
      .def("list", &Source::list, py::arg("epoch"), py::arg("first"), py::arg("count"), py::arg("rank") = 0,
           py::arg("world") = 1)
      .def("batches", &Source::batches, py::arg("epoch"), py::arg("first"), py::arg("count"), py::arg("size"),
           py::arg("rank") = 0, py::arg("world") = 1);

  py::class_<data::Subset>(module, "Subset",
                           "Which images take part: `indices` into the labels, class after class.")
      .def_property_readonly("indices", [](const data::Subset& subset) { return array_of(subset.indices); })
      .def_property_readonly("counts", [](const data::Subset& subset) { return array_of(subset.counts); })
      .def_property_readonly("sha256", &data::Subset::hash)
      .def("__len__", &data::Subset::size);

  module.def("strategies", &list_strategies);
  module.def("canonical_strategy", &sampling::canonical_strategy, py::arg("strategy"));
  module.def("probabilities", &probabilities, py::arg("counts"), py::arg("strategy"), py::arg("epoch") = 0,
             py::arg("epochs") = 200);
  module.def("groups", &groups, py::arg("counts"), py::arg("definition") = "paper");
  module.def("subset", &subset, py::arg("labels"), py::arg("rho") = 100.0, py::arg("seed") = 42,
             py::arg("profile") = "exp", py::arg("n_max") = 0, py::arg("class_order") = "label",
             py::arg("counts_file") = "", py::arg("classes") = 0);
  module.def("theory", &theory, py::arg("counts"), py::arg("strategy"), py::arg("epoch") = 0,
             py::arg("epochs") = 200, py::arg("batch_size") = 128, py::arg("sigma2") = 1.0,
             py::arg("norm2") = 1.0);
}

}  // namespace longtail::python
