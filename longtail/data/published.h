// The published data sets that Longtail knows by name: what they are, where they come from and how to verify
// them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace longtail::data {

// A file on the authors' site.
struct RemoteFile {
  std::string name;  // appended to the address
  std::uint64_t size = 0;
  std::string md5;
};

struct PublishedData {
  std::string name;
  std::string title;
  std::string address;             // folder on the authors' site, with the last slash
  std::vector<RemoteFile> remote;  // an archive, or the files themselves
  std::vector<std::string>
      places;        // folders under a data folder where it may be; the first is where fetch puts it
  bool idx = false;  // IDX, otherwise CIFAR
  int channels = 3;
  std::array<float, 3> mean{};
  std::array<float, 3> deviation{};
  std::vector<std::string> class_names;    // empty: the files name them
  std::vector<std::int64_t> train_counts;  // images of each class
  std::vector<std::int64_t> test_counts;
  std::string hash;  // data::content_hash; empty where only the checksums of files are known
  // Checked for each file when loading: name and MD5 (32 digits) or SHA-1 (40).
  std::vector<std::pair<std::string, std::string>> checksums;
};

std::span<const PublishedData> published_data();
// The data set of that name, or nullptr.
const PublishedData* find_published(std::string_view name);
std::vector<std::string> published_names();

}  // namespace longtail::data
