#include "longtail/base/threads.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "longtail/base/error.h"
#include "longtail/base/start_thread.h"

namespace longtail::base {
namespace {

// Tells the CPU that this is a busy-waiting loop.
void breathe() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

// A loop is often followed by the next within microseconds, so waiting starts by spinning; a longer wait
// sleeps.
constexpr int kSpins = 4000;

template <class Value>
void wait_while(const std::atomic<Value>& cell, Value unwanted) {
  for (int i = 0; i < kSpins; ++i) {
    if (cell.load(std::memory_order_acquire) != unwanted) return;
    breathe();
  }
  cell.wait(unwanted, std::memory_order_acquire);
}

}  // namespace

struct ThreadPool::State {
  // The generation counts loops; workers wait for it to change. `stop` ends them.
  alignas(64) std::atomic<std::uint32_t> generation{0};
  alignas(64) std::atomic<int> next{0};
  alignas(64) std::atomic<int> busy{0};
  int count = 0;
  bool stop = false;
  const std::function<void(int, int)>* job = nullptr;
  std::mutex mutex;
  std::exception_ptr error;
  std::vector<std::thread> crew;
};

ThreadPool::ThreadPool(int threads) : threads_(std::max(threads, 1)), state_(std::make_unique<State>()) {
  state_->crew.reserve(static_cast<std::size_t>(threads_ - 1));
  try {
    for (int worker = 1; worker < threads_; ++worker)
      state_->crew.emplace_back([this, worker] { work(worker); });
  } catch (const std::system_error&) {  // a limit on threads: the pool is as large as possible
    threads_ = static_cast<int>(state_->crew.size()) + 1;
  } catch (const std::bad_alloc&) {  // or of memory
    threads_ = static_cast<int>(state_->crew.size()) + 1;
  }
}

ThreadPool::~ThreadPool() {
  state_->stop = true;
  state_->generation.fetch_add(1, std::memory_order_release);
  state_->generation.notify_all();
  for (std::thread& thread : state_->crew) thread.join();
}

void ThreadPool::drain(int worker) {
  State& s = *state_;
  for (;;) {
    const int index = s.next.fetch_add(1, std::memory_order_relaxed);
    if (index >= s.count) return;
    try {
      (*s.job)(index, worker);
    } catch (...) {
      const std::lock_guard lock(s.mutex);
      if (!s.error) s.error = std::current_exception();
      s.next.store(s.count, std::memory_order_relaxed);
    }
  }
}

void ThreadPool::work(int worker) {
  State& s = *state_;
  std::uint32_t seen = 0;
  for (;;) {
    wait_while(s.generation, seen);
    seen = s.generation.load(std::memory_order_acquire);
    if (s.stop) return;
    drain(worker);
    if (s.busy.fetch_sub(1, std::memory_order_acq_rel) == 1) s.busy.notify_one();
  }
}

void ThreadPool::run(int count, const std::function<void(int, int)>& job) {
  State& s = *state_;
  s.job = &job;
  s.count = count;
  s.error = nullptr;
  s.next.store(0, std::memory_order_relaxed);
  s.busy.store(threads_ - 1, std::memory_order_relaxed);
  if (threads_ > 1) {
    s.generation.fetch_add(1, std::memory_order_release);
    s.generation.notify_all();
  }
  drain(0);
  for (int left = s.busy.load(std::memory_order_acquire); left != 0;
       left = s.busy.load(std::memory_order_acquire)) {
    wait_while(s.busy, left);
  }
  if (s.error) std::rethrow_exception(s.error);
}

std::thread start_thread(std::function<void()> work) {
  try {
    return std::thread(std::move(work));
  } catch (const std::system_error& error) {
    fail<StorageError>(
        "no thread could be started ({}); raise the limit of processes (ulimit -u) or of memory (ulimit -v)",
        error.code().message());
  }
}

int available_cpus() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(CPU_COUNT(&set), 1);
  return std::max(static_cast<int>(std::thread::hardware_concurrency()), 1);
}

}  // namespace longtail::base
