// The version of the library and the program; CMake takes it from here.
#pragma once

namespace longtail {

inline constexpr char kVersion[] = "0.2.0";

}  // namespace longtail
