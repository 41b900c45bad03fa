// A fixed pool of threads for short parallel loops. What a job computes may depend on the index, never on the
// worker: results are then the same on any number of threads.
//
//   ThreadPool pool(2);
//   pool.run(16, [&](int slice, int worker) { ... });   // returns when all 16 are done
#pragma once

#include <functional>
#include <memory>

namespace longtail::base {

class ThreadPool {
 public:
  // The calling thread is worker 0; threads - 1 more are started.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return threads_; }

  // Calls job(index, worker) for every index in [0, count), each once, in no particular order. The first
  // exception is rethrown here. Not reentrant: one loop at a time.
  void run(int count, const std::function<void(int index, int worker)>& job);

 private:
  struct State;
  void work(int worker);
  void drain(int worker);

  int threads_;
  std::unique_ptr<State> state_;
};

// The number of CPUs this process may run on.
int available_cpus();

}  // namespace longtail::base
