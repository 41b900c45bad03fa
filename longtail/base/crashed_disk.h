// For tests: rebuilds the disk as a crash could leave it, from the events of file_events.h. There are four
// readings of what a disk promises:
//   everything   every operation has happened
//   durable      a file's bytes are there once it was synced, its name once its folder was; nothing else is
//   names        names are there at once, bytes once synced: a file renamed before it was synced is empty
//   torn         as `everything`, but half of the last write is missing
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "longtail/base/file.h"
#include "longtail/base/file_events.h"
#include "longtail/base/hash.h"

namespace longtail::base {

using DiskImage = std::map<std::filesystem::path, std::string>;

class CrashedDisk {
 public:
  void apply(const FileEvent& event) {
    last_write_ = nullptr;
    switch (event.kind) {
      case FileEvent::Kind::kWrite: {
        auto& file = names_[event.path];
        if (!file) file = std::make_shared<File>();
        before_last_ = file->bytes.size();
        file->bytes += event.bytes;
        last_write_ = file;
        break;
      }
      case FileEvent::Kind::kSync:
        if (names_.contains(event.path)) names_[event.path]->synced = names_[event.path]->bytes;
        break;
      case FileEvent::Kind::kRename:
        if (!names_.contains(event.path)) break;
        names_[event.target] = names_[event.path];
        names_.erase(event.path);
        break;
      case FileEvent::Kind::kRemove:
        names_.erase(event.path);
        break;
      case FileEvent::Kind::kSyncFolder:
        std::erase_if(durable_, [&](const auto& entry) { return entry.first.parent_path() == event.path; });
        for (const auto& [path, file] : names_) {
          if (path.parent_path() == event.path) durable_[path] = file;
        }
        break;
    }
  }

  std::vector<DiskImage> images() const {
    std::vector<DiskImage> all(3);
    for (const auto& [path, file] : names_) {
      all[0][path] = file->bytes;
      all[1][path] = file->synced;
    }
    for (const auto& [path, file] : durable_) all[2][path] = file->synced;
    if (last_write_) {
      all.push_back(all[0]);
      for (const auto& [path, file] : names_) {
        if (file == last_write_) all[3][path].resize((before_last_ + file->bytes.size()) / 2);
      }
    }
    return all;
  }

 private:
  struct File {
    std::string bytes;
    std::string synced;
  };
  std::map<std::filesystem::path, std::shared_ptr<File>> names_, durable_;
  std::shared_ptr<File> last_write_;
  std::size_t before_last_ = 0;
};

// Calls check(image) for every distinct disk that a crash before the first event or after any event could
// leave. Returns how many there were.
template <class Check>
int each_crash(std::span<const FileEvent> events, const Check& check) {
  std::set<std::string> seen;
  int count = 0;
  CrashedDisk disk;
  const auto look = [&] {
    for (const DiskImage& image : disk.images()) {
      Hasher hasher(Hasher::kSha256);
      for (const auto& [path, bytes] : image) {
        // The random part of a temporary file's name does not matter.
        const bool temporary = path.extension() == ".tmp";
        hasher.add((temporary ? path.stem().stem().string() : path.string()) + "\n");
        hasher.add(std::to_string(bytes.size()) + "\n" + bytes);
      }
      if (!seen.insert(hasher.hex()).second) continue;
      ++count;
      check(image);
    }
  };
  look();
  for (const FileEvent& event : events) {
    disk.apply(event);
    look();
  }
  return count;
}

// Puts an image into a folder: paths under `from` become paths under `to`, which is emptied first.
inline void lay_out(const DiskImage& image, const std::filesystem::path& from,
                    const std::filesystem::path& to) {
  std::filesystem::remove_all(to);
  make_folder(to);
  for (const auto& [path, bytes] : image) {
    const std::filesystem::path place = to / std::filesystem::relative(path, from);
    make_folder(place.parent_path());
    write_atomically(place, bytes);
  }
}

}  // namespace longtail::base
