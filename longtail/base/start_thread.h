// Starts a thread. If the system has none left, a StorageError (the machine is at fault, not the work) says
// what to do.
#pragma once

#include <functional>
#include <thread>

namespace longtail::base {

std::thread start_thread(std::function<void()> work);

}  // namespace longtail::base
