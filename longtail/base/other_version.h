// The error of a file of our own that is sound, but of another version of this program: not to be set aside
// as damaged.
#pragma once

#include "longtail/base/error.h"

namespace longtail::base {

class OtherVersion : public Error {
 public:
  using Error::Error;
};

}  // namespace longtail::base
