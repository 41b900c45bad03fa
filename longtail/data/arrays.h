// Data as NumPy arrays: the format in which `longtail data import` keeps your own data, and the easiest one
// to write from Python.
//   train_images.npy, test_images.npy    uint8, (images, channels, side, side), one or three channels;
//                                        the side is a multiple of 8 from 16 to 128
//   train_labels.npy, test_labels.npy    uint8, int32 or int64, (images)
//   class_names.txt                      one per line; if absent the classes are called 0, 1, ...
//   picture_form.txt                     how pictures became these images (Dataset::form), for `predict`;
//                                        present only if that is known and they were not stretched
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "longtail/data/dataset.h"
#include "longtail/data/staging.h"

namespace longtail::data {

// The names above.
std::span<const std::string> array_files();
bool has_arrays(const std::filesystem::path& folder);
// The data set is not yet sealed; its channel constants are measured.
Dataset read_arrays(const std::filesystem::path& folder);
// Writes the files into an existing empty folder.
void write_arrays(const Dataset& data, const std::filesystem::path& folder, const Stop& stop = {});

// The header of a .npy file (format 1.0, C order).
struct NpyHeader {
  std::string type;  // "|u1", "<i4"
  std::vector<std::uint64_t> shape;
  std::size_t data_at = 0;  // where the data begins
};
// Checks the header against the size of the file: the data is complete and nothing follows it.
NpyHeader parse_npy(std::span<const std::uint8_t> file, const std::string& where);

}  // namespace longtail::data
