// Your own pictures as a data set: a folder with a folder for each class, or list files as ImageNet-LT and
// Places-LT ship them. Pictures may have any size and are averaged down to squares (of side 32 by default).
// One channel if every picture is grey, otherwise three. Dataset::remarks says what was done beyond reading
// (a test part split off, classes or files left out).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "longtail/data/dataset.h"
#include "longtail/data/image.h"

namespace longtail::data {

struct PictureOptions {
  Fit fit = Fit::kStretch;
  // Leave out files that cannot be read, and say so. Otherwise they are an Error that names all of them.
  bool skip_unreadable = false;
  int side = kSide;  // of the square images that the pictures become
  bool keep_side =
      false;  // data that has its own side (arrays) keeps it; otherwise it is stretched to `side`
};

// One picture to read and its label.
struct PictureEntry {
  std::filesystem::path path;
  std::int32_t label = 0;
};

// `train/CLASS/*` and `test/CLASS/*` (or `val`), or `CLASS/*` alone; without a test folder a test part is
// split off (test_part). Other folders next to `train` are an Error, or a remark if there is a test folder;
// if `train`, `test` and `val` hold no folders, they are classes themselves. Classes and files are sorted by
// the bytes of their names. A class without training pictures is left out. Not yet sealed; the channel
// constants are measured.
Dataset read_picture_folder(const std::filesystem::path& folder, const PictureOptions& options = {});

// Whether a file or folder among pictures is ignored: a hidden one, or one that Windows leaves in folders.
bool is_passed_over(const std::filesystem::path& path);

// A line is `path label`; the label is what follows the last blank. Paths are relative to `root` (if empty,
// to the list's own folder). Classes are the labels of the training list, by number.
Dataset read_picture_lists(const std::filesystem::path& train, const std::filesystem::path& test,
                           const std::filesystem::path& root, const PictureOptions& options = {});

// How many of `count` pictures of a class become test pictures: a fifth, but at least five or, if that is
// less, a third.
std::int64_t test_part_size(std::int64_t count);
// Which pictures become test pictures, by their names `CLASS/FILE`: those with the smallest SHA-256 of the
// name, class by class. Adding or removing a picture hardly moves any other.
std::vector<bool> test_part(const std::vector<PictureEntry>& entries);

// One picture as data sets store it: planar, in the given shape. With one channel, a colour picture becomes
// the mean of red, green and blue.
std::vector<std::uint8_t> read_picture(const std::filesystem::path& path, const PictureForm& form,
                                       const ImageShape& shape);

// The lines of one list file.
std::vector<PictureEntry> parse_picture_list(std::string_view text, const std::filesystem::path& root,
                                             const std::string& where);

}  // namespace longtail::data
