// The pictures that `longtail predict` is given, alone and in folders, and what of them cannot be read.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace longtail::cli {

struct FoundPictures {
  std::vector<std::filesystem::path> pictures;
  std::vector<std::string> faults;  // sentences on folders that cannot be read
};

// The words are files, and folders: of these the pictures in them and in their folders, by name, through links. An Error if
// a folder has none.
FoundPictures pictures_of(const std::vector<std::string>& words);

// An Error that lists what could not be read, if there is anything: the folders, and pictures, with a sentence each.
void refuse_unread(const FoundPictures& found, const std::vector<std::string>& pictures);

}  // namespace longtail::cli
