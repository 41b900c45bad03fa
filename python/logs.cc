// Run logs and reports for Python.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "longtail/base/error.h"
#include "longtail/base/hash.h"
#include "longtail/base/params.h"
#include "longtail/base/text.h"
#include "longtail/report/choices.h"
#include "longtail/train/log_writer.h"
#include "longtail/train/metrics.h"
#include "python/bindings.h"

namespace longtail::python {
namespace {

using base::fail;
using train::FullResult;
using train::LogWriter;

std::int64_t whole_of(const std::string& key, const py::handle& value) {
  try {
    return value.cast<std::int64_t>();
  } catch (const py::cast_error&) {
    fail("`{}` of the configuration is {}; a whole number must be from -2^63 to 2^63 - 1", key,
         py::str(value).cast<std::string>());
  }
}

// A value of a configuration as logs store it: 0.1, true, 160,180. NumPy's numbers and arrays are converted
// to the Python values that they stand for.
std::string text_of(const std::string& key, const py::handle& value) {
  if (py::isinstance<py::str>(value)) return value.cast<std::string>();
  if (py::isinstance<py::bool_>(value)) return value.cast<bool>() ? "true" : "false";
  if (py::isinstance<py::int_>(value)) return base::detail::print(whole_of(key, value));
  if (py::isinstance<py::float_>(value)) return base::detail::print(value.cast<double>());
  if (value.is_none()) return "";
  if (py::hasattr(value, "tolist") && !py::isinstance<py::type>(value)) {
    const py::object plain = value.attr("tolist")();
    // tolist() leaves a long double unchanged, since Python has no number for it.
    if (!py::type::of(plain).is(py::type::of(value))) return text_of(key, plain);
  }
  if (!py::isinstance<py::list>(value) && !py::isinstance<py::tuple>(value))
    fail("`{}` of the configuration is a {}; it may be text, a number, true or false, or a list of them", key,
         py::str(py::type::of(value).attr("__name__")).cast<std::string>());
  std::vector<std::string> parts;
  for (const py::handle& part : value) parts.push_back(text_of(key, part));
  return base::join(parts, ",");
}

// Any mapping as a dictionary.
py::dict dict_of(const py::object& mapping, const char* name) {
  if (!py::isinstance(mapping, py::module_::import("collections.abc").attr("Mapping")))
    throw py::type_error(fmt::format("`{}` must be a dictionary or another mapping", name));
  return py::dict(mapping);
}

std::map<std::string, std::string> texts_of(const py::dict& object) {
  std::map<std::string, std::string> texts;
  for (const auto& [key, value] : object) {
    const auto name = py::str(key).cast<std::string>();
    texts[name] = text_of(name, value);
  }
  return texts;
}

std::string protocol_of(const std::map<std::string, std::string>& config) {
  std::string text;
  for (const auto& [key, value] : config) text += key + "=" + value + "\n";
  return base::sha256(text);
}

// `config` is a plain dictionary of parameters, or what a study wrote into config.json: {"config": ...,
// "params": ..., "hash": ...}.
train::RunLog head_of(const py::dict& config, std::vector<std::int64_t> class_counts,
                      std::vector<std::string> class_names, const std::string& data,
                      const std::string& subset, const std::string& init, const std::string& augment) {
  train::RunLog log;
  if (config.contains("config") && config.contains("hash")) {
    log.config = texts_of(dict_of(config["config"], "config"));
    if (config.contains("params")) log.config.merge(texts_of(dict_of(config["params"], "params")));
    log.fingerprint.protocol = config["hash"].cast<std::string>();
  } else {
    log.config = texts_of(config);
    log.fingerprint.protocol = protocol_of(log.config);
  }
  const auto value = [&](const char* key, const std::string& otherwise) {
    const auto found = log.config.find(key);
    return found == log.config.end() ? otherwise : found->second;
  };
  log.dataset = value("dataset", "unknown");
  log.strategy = value("strategy", "");
  if (log.strategy.empty()) fail("the configuration has no `strategy`");
  const auto seed = base::parse_integer(value("seed", ""));
  if (!seed) fail("the configuration has no `seed` that is a whole number");
  log.seed = *seed;
  log.rho = base::parse_real(value("rho", "0")).value_or(0);
  if (const std::string profile = value("profile", "exp"); profile != "exp" && profile != "step") log.rho = 0;
  log.groups = value("groups", "paper");
  log.class_counts = std::move(class_counts);
  log.class_names = std::move(class_names);
  log.fingerprint.data = data;
  log.fingerprint.subset = subset;
  log.fingerprint.init = init;
  log.fingerprint.augment = augment;
  log.fingerprint.engine = "trainer";
  log.fingerprint.version = LONGTAIL_VERSION;
  return log;
}

// Whole numbers from a list or an array of any type: NumPy counts in doubles too.
std::vector<int> whole_numbers(const char* name, const py::handle& values) {
  const auto array = Array<double>::ensure(py::reinterpret_borrow<py::object>(values));
  if (!array) fail("`{}` is no list of whole numbers", name);
  std::vector<int> numbers;
  for (const double value : span_of(array)) {
    if (value != std::floor(value) || std::abs(value) > std::numeric_limits<int>::max())
      fail("`{}` has {}; it must be whole numbers", name, value);
    numbers.push_back(static_cast<int>(value));
  }
  return numbers;
}

// Test results on the images of trained classes. The other classes are left out, as in `longtail train`.
class TestSet {
 public:
  explicit TestSet(const LogWriter& writer) : writer_(writer) {}

  FullResult of_logits(const py::handle& outputs, const py::handle& truth) const {
    const auto logits = outputs.cast<Array<float>>();
    const std::vector<int> labels = whole_numbers("labels", truth);
    if (logits.ndim() != 2 || std::cmp_not_equal(logits.shape(1), classes()) ||
        std::cmp_not_equal(labels.size(), logits.shape(0)))
      fail("`logits` must have a row for each of the {} labels and a column for each of the {} classes",
           labels.size(), classes());
    train::Meter meter(static_cast<int>(classes()), writer_.groups());
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (labels[i] < 0 || std::cmp_greater_equal(labels[i], classes()))
        fail("test image {} has the label {}; there are {} classes", i, labels[i], classes());
      if (trained(static_cast<std::size_t>(labels[i])))
        meter.add({logits.data(static_cast<py::ssize_t>(i), 0), classes()}, labels[i]);
    }
    return full(meter);
  }
  FullResult of_confusion(const py::handle& rows, double loss) const {
    std::vector<std::vector<int>> matrix;
    for (const py::handle& row : rows) {
      matrix.push_back(whole_numbers("confusion", row));
      if (matrix.size() <= classes() && !trained(matrix.size() - 1))
        std::fill(matrix.back().begin(), matrix.back().end(), 0);
    }
    train::Meter meter(static_cast<int>(classes()), writer_.groups());
    meter.add_confusion(matrix, loss);
    return full(meter);
  }
  FullResult of_counts(const py::handle& right, const py::handle& all, double loss) const {
    std::vector<int> correct = whole_numbers("correct", right), images = whole_numbers("images", all);
    for (std::size_t k = 0; k < std::min({correct.size(), images.size(), classes()}); ++k) {
      if (!trained(k)) correct[k] = images[k] = 0;
    }
    const FullResult result =
        train::result_of_counts(correct, images, writer_.groups(), loss, writer_.epochs());
    if (std::isnan(result.accuracy.overall)) refuse_nothing_tested();
    return result;
  }

 private:
  std::size_t classes() const { return writer_.groups().size(); }
  bool trained(std::size_t k) const { return writer_.log().class_counts[k] > 0; }
  FullResult full(const train::Meter& meter) const {
    if (meter.images() == 0) refuse_nothing_tested();
    return meter.full(writer_.epochs());
  }
  [[noreturn]] static void refuse_nothing_tested() {
    fail("no test image belongs to a class that has training images");
  }

  const LogWriter& writer_;
};

FullResult measured(const LogWriter& writer, const py::kwargs& test) {
  const TestSet set(writer);
  const auto has = [&](const char* key) { return test.contains(key) && !test[key].is_none(); };
  if (has("logits") && has("labels")) return set.of_logits(test["logits"], test["labels"]);
  if (!has("test_loss")) fail("give `test_loss`, the mean loss on the test set, or `logits` and `labels`");
  const double loss = test["test_loss"].cast<double>();
  if (has("confusion")) return set.of_confusion(test["confusion"], loss);
  if (has("correct") && has("images")) return set.of_counts(test["correct"], test["images"], loss);
  fail(
      "give one of: `logits` and `labels`; `confusion` and `test_loss`; `correct`, `images` and `test_loss`");
}

void refuse_unknown(const py::kwargs& test) {
  const std::vector<std::string> known = {"logits", "labels",    "confusion",     "correct",
                                          "images", "test_loss", "class_accuracy"};
  for (const auto& [key, value] : test) {
    const auto name = py::str(key).cast<std::string>();
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw py::type_error("epoch() has no argument `" + name + "`" + base::did_you_mean(name, known));
  }
}

// The hash of the numbers in the order of their indices, as a.copy() stores them, whatever their layout in
// memory: a[::2] and a transposed array are views with their own strides.
std::string sha256_of(const py::buffer& array) {
  const py::memoryview view(array);
  if (!view.attr("c_contiguous").cast<bool>())
    return base::sha256(view.attr("tobytes")().cast<std::string>());
  const py::buffer_info info = array.request();
  return base::sha256(std::span(static_cast<const std::byte*>(info.ptr),
                                static_cast<std::size_t>(info.size * info.itemsize)));
}

py::object parsed(const std::string& json) { return py::module_::import("json").attr("loads")(json); }

py::object cell_of(const report::Cell& cell) {
  if (cell.kind == report::Cell::Kind::kText) return py::str(cell.text);
  return number_of(cell.value);
}

// One dictionary per row, keyed by the titles of the columns; a deviation has its own key.
py::list rows_of(const report::Table& table) {
  py::list rows;
  for (const auto& row : table.rows) {
    py::dict entry;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string& title = table.columns[i].title;
      entry[py::str(title)] = cell_of(row[i]);
      if (!std::isnan(row[i].spread)) entry[py::str(title + " ±")] = row[i].spread;
    }
    rows.append(entry);
  }
  return rows;
}

py::dict report(const std::vector<std::filesystem::path>& paths,
                const std::optional<std::filesystem::path>& out, const report::Choices& choices,
                const report::Names& names, bool tables_only) {
  report::ReportOptions options = report::options_of(paths, choices);
  options.read.names = names;
  options.tables_only = tables_only;
  const report::Report made = report::make_report(options);
  py::dict tables;
  for (const report::Table& table : made.tables) {
    py::dict entry;
    entry["caption"] = table.caption;
    entry["rows"] = rows_of(table);
    entry["notes"] = table.notes;
    tables[py::str(table.id)] = entry;
  }
  py::dict result;
  result["tables"] = tables;
  result["text"] = report::to_terminal(made);
  result.attr("update")(parsed(report::to_json(made)));
  result["remarks"] = std::vector<std::string>{};
  if (out) {
    options.out = *out;
    result["remarks"] = report::write_report(made, options);
  }
  return result;
}

}  // namespace

void add_logs(py::module_& module) {
  py::class_<LogWriter>(module, "RunLog")
      .def(py::init([](const std::filesystem::path& folder, const py::object& config,
                       std::vector<std::int64_t> class_counts,
                       std::optional<std::vector<std::string>> class_names, const std::string& data,
                       const std::string& subset, const std::string& init, const std::string& augment) {
             return LogWriter(folder, head_of(dict_of(config, "config"), std::move(class_counts),
                                              class_names.value_or(std::vector<std::string>{}), data, subset,
                                              init, augment));
           }),
           py::arg("folder"), py::arg("config"), py::arg("class_counts"), py::kw_only(),
           py::arg("class_names") = py::none(), py::arg("data") = "", py::arg("subset") = "",
           py::arg("init") = "", py::arg("augment") = "")
      .def_property_readonly("epochs", &LogWriter::epochs)
      .def_property_readonly("best_epoch", [](const LogWriter& writer) { return writer.log().best_epoch; })
      .def_property_readonly("last",
                             [](const LogWriter& writer) {
                               const auto& last = writer.log().last.accuracy;
                               py::dict result;
                               result["overall"] = number_of(last.overall);
                               result["head"] = number_of(last.head);
                               result["medium"] = number_of(last.medium);
                               result["tail"] = number_of(last.tail);
                               result["loss"] = number_of(last.loss);
                               return result;
                             })
      .def(
          "epoch",
          [](LogWriter& writer, double train_loss, double train_acc, double lr, const py::kwargs& test) {
            refuse_unknown(test);
            std::vector<double> class_accuracy;
            if (test.contains("class_accuracy") && !test["class_accuracy"].is_none())
              class_accuracy = test["class_accuracy"].cast<std::vector<double>>();
            writer.epoch({train_loss, train_acc, lr, std::move(class_accuracy)}, measured(writer, test));
          },
          py::arg("train_loss"), py::arg("train_acc"), py::arg("lr"))
      .def("finish", &LogWriter::finish)
      .def("state_dict",
           [](const LogWriter& writer) {
             py::dict state;
             state["log"] = writer.state();
             return state;
           })
      .def("load_state_dict", [](LogWriter& writer, const py::object& state) {
        writer.restore(dict_of(state, "state")["log"].cast<std::string>());
      });

  module.def(
      "read_log",
      [](const std::filesystem::path& path) {
        return parsed(
            train::to_json(train::read_log(std::filesystem::is_directory(path) ? path / "log.json" : path))
                .dump());
      },
      py::arg("path"));
  module.def(
      "report",
      [](const std::vector<std::filesystem::path>& paths, const std::optional<std::filesystem::path>& out,
         const std::string& baseline, const std::string& goal, const std::string& at,
         const std::string& select, const std::string& epochs, const std::string& deviation,
         const std::string& against, const report::Names& names, bool tables_only) {
        const report::Choices choices{.baseline = baseline,
                                      .goal = goal,
                                      .deviation = deviation,
                                      .at = at,
                                      .select = select,
                                      .epochs = epochs,
                                      .against = against};
        return report(paths, out, choices, names, tables_only);
      },
      py::arg("paths"), py::arg("out"), py::kw_only(), py::arg("baseline"), py::arg("goal"), py::arg("at"),
      py::arg("select"), py::arg("epochs"), py::arg("deviation"), py::arg("against"), py::arg("names"),
      py::arg("tables_only"));
  module.def("sha256", &sha256_of, py::arg("array"));
}

}  // namespace longtail::python
