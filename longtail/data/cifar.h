// CIFAR-10 and CIFAR-100 in both formats their authors publish: Python pickles and binary records.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "longtail/data/dataset.h"

namespace longtail::data {

// One published format: which files it has, and how labels are stored in them.
struct CifarForm {
  std::string_view folder;         // as in the authors' archive
  std::vector<std::string> train;  // file names, in order
  std::string test;
  std::string names;  // the file with the class names
  bool binary = false;
  std::string_view label_key;  // pickle: the list of labels
  std::string_view names_key;  // pickle: the list of class names
  int label_bytes = 1;         // binary: bytes before the pixels; the last of them is the label
};

const CifarForm& cifar10_python();
const CifarForm& cifar10_binary();
const CifarForm& cifar100_python();
const CifarForm& cifar100_binary();

// True if the folder holds the class names and the first training file of the form.
bool has_cifar(const std::filesystem::path& folder, const CifarForm& form);

// Pixels, labels and class names of both splits; not yet sealed. A missing or damaged file is an Error naming
// it.
Dataset read_cifar(const std::filesystem::path& folder, const CifarForm& form);

// Extracts the images of one file and returns the labels. `bytes` holds the file before the call and its
// pixels after it, so that the largest file is never in memory twice.
std::vector<std::int32_t> take_cifar_pickle(std::vector<std::uint8_t>& bytes, std::string_view label_key,
                                            const std::string& where);
std::vector<std::int32_t> take_cifar_binary(std::vector<std::uint8_t>& bytes, int label_bytes,
                                            const std::string& where);

}  // namespace longtail::data
