// Internal to the reading of pictures: from a list of files to a data set (picture_listing.cc).
#pragma once

#include <string>
#include <vector>

#include "longtail/data/pictures.h"

namespace longtail::data::detail {

// What was found before any picture was opened.
struct Listing {
  std::vector<std::string> classes{};
  std::vector<PictureEntry> train{};
  std::vector<PictureEntry> test{};
  std::vector<std::string> faults{};  // sentences on files that cannot be part of the data set
  bool split_off = false;             // there is no test part: take one from `train`
};

// Opens every picture, then decides: files that cannot be read, the test part, classes that are left out.
Dataset read_listing(Listing& listing, const PictureOptions& options, const std::string& where);

}  // namespace longtail::data::detail
