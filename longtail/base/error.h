// Errors are sentences: what was wrong, where, and what to do. The command line prints them and turns the
// type into an exit code: Error and StorageError 1, UsageError 2, Interrupted 130.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace longtail::base {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class UsageError : public Error {
 public:
  using Error::Error;
};

// Something could not be read or written (the disk is full, the folder is read-only). The machine is at
// fault, not the work: the same work succeeds elsewhere or later.
class StorageError : public Error {
 public:
  using Error::Error;
};

// One of our own files (a checkpoint, a log) is not what was written: wrong checksum, length or format.
class DamagedFile : public Error {
 public:
  using Error::Error;
};

class Interrupted : public Error {
 public:
  using Error::Error;
};

// Throws E with a formatted sentence: fail("{}: {} bytes, expected {}", path, got, want).
template <class E = Error, class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw E(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace longtail::base
