// The error for one of our own files that is sound, but was written by another version of this program. Such
// a file must not be set aside as damaged.
#pragma once

#include "longtail/base/error.h"

namespace longtail::base {

class OtherVersion : public Error {
 public:
  using Error::Error;
};

}  // namespace longtail::base
