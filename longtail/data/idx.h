// IDX, the form of MNIST and Fashion-MNIST, plain or gzipped: one file of images, one of labels. Images of at
// most 32x32 pixels are centred on black; one channel.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "longtail/data/dataset.h"

namespace longtail::data {

// One file already in memory, plain or gzipped; `where` names it in errors.
// `form` is given the form of smaller images (Dataset::form).
std::vector<std::uint8_t> parse_idx_images(std::span<const std::uint8_t> file, const std::string& where,
                                           std::string* form = nullptr);
std::vector<std::int32_t> parse_idx_labels(std::span<const std::uint8_t> file, const std::string& where);

// True if the folder holds the training images under their usual name, with or without .gz.
bool has_idx(const std::filesystem::path& folder);

// Both splits, the names of the classes made from the labels ("0", "1", ...); not yet sealed.
Dataset read_idx(const std::filesystem::path& folder);

}  // namespace longtail::data
