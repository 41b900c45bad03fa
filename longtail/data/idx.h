// IDX, the format of MNIST and Fashion-MNIST, plain or gzipped: one file of images, one of labels. Images of
// at most 32x32 pixels are centred on black; one channel.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "longtail/data/dataset.h"

namespace longtail::data {

// Parses one file already in memory, plain or gzipped; `where` names it in errors.
// `form`, if given, is set if the images are smaller than 32x32 (Dataset::form).
std::vector<std::uint8_t> parse_idx_images(std::span<const std::uint8_t> file, const std::string& where,
                                           std::string* form = nullptr);
std::vector<std::int32_t> parse_idx_labels(std::span<const std::uint8_t> file, const std::string& where);

// True if the folder holds the training images under their usual name, with or without .gz.
bool has_idx(const std::filesystem::path& folder);

// Reads both splits; class names are made from the labels ("0", "1", ...). Not yet sealed.
Dataset read_idx(const std::filesystem::path& folder);

}  // namespace longtail::data
