// Your own pictures as a data set: a folder with a folder for each class, or list files as ImageNet-LT and
// Places-LT ship them. Pictures of any size, averaged down to 32x32. One channel if every picture is grey,
// otherwise three.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "longtail/data/dataset.h"

namespace longtail::data {

// One picture to read and its label.
struct PictureEntry {
  std::filesystem::path path;
  std::int32_t label = 0;
};

// `train/CLASS/*` and `test/CLASS/*` (or `val`). Classes are the folders of `train` in the order of their
// names' bytes; files likewise; hidden files are passed over. Not yet sealed; the channel constants are
// measured.
Dataset read_picture_folder(const std::filesystem::path& folder);

// A line is `path label`; the label is what follows the last blank. Paths are relative to `root` (if empty,
// to the list's own folder). Labels run from 0 without gaps.
Dataset read_picture_lists(const std::filesystem::path& train, const std::filesystem::path& test,
                           const std::filesystem::path& root);

// The lines of one list file.
std::vector<PictureEntry> parse_picture_list(std::string_view text, const std::filesystem::path& root,
                                             const std::string& where);

}  // namespace longtail::data
