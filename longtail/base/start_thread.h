// A thread of its own; a StorageError (the fault of the place, not of the work) says what to do if none can
// be had.
#pragma once

#include <functional>
#include <thread>

namespace longtail::base {

std::thread start_thread(std::function<void()> work);

}  // namespace longtail::base
