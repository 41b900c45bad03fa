// Finds the pictures that `longtail predict` is given, as files and in folders, and reports those that cannot
// be read.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace longtail::cli {

struct FoundPictures {
  std::vector<std::filesystem::path> pictures;
  std::vector<std::string> faults;  // one sentence per folder that cannot be read
};

// The words are files and folders. A folder gives all pictures in it and in its subfolders, sorted by name;
// symbolic links are followed. An Error if a folder has no pictures.
FoundPictures pictures_of(const std::vector<std::string>& words);

// An Error if anything could not be read. It lists the folders and `pictures`, one sentence each.
void refuse_unread(const FoundPictures& found, const std::vector<std::string>& pictures);

}  // namespace longtail::cli
