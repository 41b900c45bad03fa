#include "longtail/train/checkpoint.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/base/hash.h"
#include "longtail/base/other_version.h"

namespace longtail::train {
namespace {

using base::fail;
using nlohmann::json;
namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little, "checkpoints are little-endian");

constexpr std::string_view kMagic = "LONGTAIL";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kPrefix = 24;    // magic, version, zero, header size
constexpr std::size_t kChecksum = 64;  // SHA-256 in hexadecimal digits

template <class T>
void append(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class T>
T value_at(std::string_view bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

struct NamedArray {
  const char* name;
  const std::vector<float>* values;
};

std::vector<NamedArray> arrays_of(const Checkpoint& checkpoint) {
  return {{"parameters", &checkpoint.network.parameters},
          {"buffers", &checkpoint.network.buffers},
          {"best_parameters", &checkpoint.best.parameters},
          {"best_buffers", &checkpoint.best.buffers},
          {"momentum", &checkpoint.momentum}};
}

json header_of(const Checkpoint& checkpoint) {
  json sizes = json::object();
  for (const NamedArray& array : arrays_of(checkpoint)) sizes[array.name] = array.values->size();
  return {{"epochs_done", checkpoint.epochs_done},
          {"steps_per_epoch", checkpoint.steps_per_epoch},
          {"classes", checkpoint.classes},
          {"channels", checkpoint.channels},
          {"config", checkpoint.config},
          {"sizes", sizes},
          {"log", checkpoint.log ? to_json(*checkpoint.log) : json()}};
}

std::string_view covered_by_checksum(std::string_view bytes) {
  return bytes.substr(0, bytes.size() - std::min(bytes.size(), kChecksum));
}

// The bytes between prefix and checksum, once the file is known to be complete.
std::string_view checked_body(std::string_view bytes, const std::string& checksum) {
  if (bytes.substr(0, kMagic.size()) != kMagic) fail("it is not a checkpoint of longtail");
  if (bytes.size() < kPrefix + kChecksum) fail("it is cut short: {} bytes", bytes.size());
  const std::string_view covered = covered_by_checksum(bytes);
  if (checksum != bytes.substr(covered.size())) {
    fail("its checksum does not agree with its {} bytes: it is damaged or cut short", bytes.size());
  }
  const auto version = value_at<std::uint32_t>(bytes, 8);
  if (version != kVersion) {
    fail<base::OtherVersion>("it has version {}, this program reads version {}", version, kVersion);
  }
  return covered.substr(kPrefix);
}

void read_array(std::string_view& body, const json& sizes, const char* name, std::vector<float>& out) {
  const auto size = sizes.at(name).get<std::size_t>();
  if (size > body.size() / sizeof(float)) fail("its array `{}` is longer than the file", name);
  out.resize(size);
  if (size > 0) std::memcpy(out.data(), body.data(), size * sizeof(float));
  body.remove_prefix(size * sizeof(float));
}

// If a sound file names something that this program does not know, another version wrote it.
nn::ResNetSpec known_spec(const Checkpoint& checkpoint) {
  try {
    return checkpoint.spec();
  } catch (const base::Error& error) {
    fail<base::OtherVersion>("{}", error.what());
  }
}

// The arrays must fit the network that the configuration names.
void check_sizes(const Checkpoint& checkpoint) {
  const nn::ParameterLayout layout = nn::parameter_layout(known_spec(checkpoint));
  const auto fits = [&](const NetworkState& network) {
    return std::cmp_equal(network.parameters.size(), layout.parameter_count) &&
           std::cmp_equal(network.buffers.size(), layout.buffer_count);
  };
  bool good = fits(checkpoint.network);
  if (checkpoint.log) {
    good = good && fits(checkpoint.best) &&
           checkpoint.momentum.size() == checkpoint.network.parameters.size() &&
           checkpoint.log->epochs() == checkpoint.epochs_done;
  }
  if (!good) fail("its arrays do not fit its network");
}

Checkpoint parse_checkpoint(std::string_view bytes, const std::string& checksum) {
  std::string_view body = checked_body(bytes, checksum);
  const auto header_size = value_at<std::uint64_t>(bytes, 16);
  if (header_size > body.size()) fail("its header is longer than the file");
  const json header = parse_shallow(body.substr(0, header_size));
  body.remove_prefix(header_size);
  Checkpoint checkpoint;
  checkpoint.epochs_done = header.at("epochs_done").get<int>();
  checkpoint.steps_per_epoch = header.at("steps_per_epoch").get<int>();
  checkpoint.classes = header.at("classes").get<int>();
  checkpoint.channels = header.at("channels").get<int>();
  checkpoint.config = header.at("config").get<std::map<std::string, std::string>>();
  const json& sizes = header.at("sizes");
  read_array(body, sizes, "parameters", checkpoint.network.parameters);
  read_array(body, sizes, "buffers", checkpoint.network.buffers);
  read_array(body, sizes, "best_parameters", checkpoint.best.parameters);
  read_array(body, sizes, "best_buffers", checkpoint.best.buffers);
  read_array(body, sizes, "momentum", checkpoint.momentum);
  if (!body.empty()) fail("it has {} bytes too many", body.size());
  if (!header.at("log").is_null()) checkpoint.log = from_json(header.at("log"));
  check_sizes(checkpoint);
  return checkpoint;
}

}  // namespace

nn::ResNetSpec network_of(const RunConfig& config, int classes, int channels) {
  return nn::make_spec(config.model, config.shortcut, classes, channels, config.width, config.image_size,
                       config.head);
}

nn::ResNetSpec Checkpoint::spec() const { return network_of(config_from_map(config), classes, channels); }

void write_checkpoint(const fs::path& path, const Checkpoint& checkpoint) {
  const std::string header = header_of(checkpoint).dump();
  std::string bytes;
  std::size_t size = kPrefix + header.size() + kChecksum;
  for (const NamedArray& array : arrays_of(checkpoint)) size += array.values->size() * sizeof(float);
  bytes.reserve(size);
  bytes += kMagic;
  append(bytes, kVersion);
  append(bytes, std::uint32_t{0});
  append(bytes, std::uint64_t{header.size()});
  bytes += header;
  for (const NamedArray& array : arrays_of(checkpoint)) {
    bytes.append(reinterpret_cast<const char*>(array.values->data()), array.values->size() * sizeof(float));
  }
  bytes += base::sha256(bytes);
  base::write_atomically(path, bytes);
}

// A file is called damaged only if its own bytes prove it: a study sets it aside and starts the run again.
// Too little memory, or a file of another version, is not damage.
Checkpoint checkpoint_of(std::string_view bytes, const std::string& name) {
  const std::string checksum = base::sha256(covered_by_checksum(bytes));
  const auto damaged = [&](const char* why) {
    fail<base::DamagedFile>(
        "{} cannot be used: {}. Delete it to start that run again, or put a good copy in its place", name,
        why);
  };
  try {
    return parse_checkpoint(bytes, checksum);
  } catch (const base::OtherVersion& error) {
    fail<base::OtherVersion>("{} cannot be used: {}; use the longtail that wrote it", name, error.what());
  } catch (const base::Error& error) {
    damaged(error.what());
  } catch (const json::exception& error) {
    damaged(error.what());
  } catch (const std::out_of_range& error) {
    damaged("it does not say what network it holds");
  }
  return {};
}

Checkpoint read_checkpoint(const fs::path& path) {
  return checkpoint_of(base::read_text(path), path.string());
}

fs::path state_path(const fs::path& run) { return run / "state.ckpt"; }
fs::path kept_path(const fs::path& run, int epochs_done) {
  return run / "kept" / (std::to_string(epochs_done) + ".ckpt");
}
fs::path log_path(const fs::path& run) { return run / "log.json"; }

Checkpoint read_state(const fs::path& run) {
  if (!fs::exists(state_path(run))) {
    if (fs::exists(state_path(run / "network"))) {  // the folder of `longtail recommend`
      fail("{} holds no run (there is no {}) but a network that was chosen: give {}", run.string(),
           state_path(run).filename().string(), (run / "network").string());
    }
    fail("{} holds no run (there is no {}); `longtail train --out {}` makes one", run.string(),
         state_path(run).filename().string(), run.string());
  }
  Checkpoint checkpoint = read_checkpoint(state_path(run));
  if (!checkpoint.log)
    fail("{} is the checkpoint of a network only, not the state of a run", state_path(run).string());
  return checkpoint;
}

}  // namespace longtail::train
