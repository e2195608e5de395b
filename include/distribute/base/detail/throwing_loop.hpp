#pragma once
/// Loops over the process's pool whose bodies take memory.

#include <distribute/base/parallel.hpp>

#include <cstdint>
#include <exception>
#include <mutex>

namespace distribute::base_internal {

/// parallel_for for an `fn` that may throw, as everything does that takes memory: an exception that
/// left a thread of OpenMP would end the process.
/// Throws  the first exception of `fn`, once all parts are over.
template <typename Fn>
void throwing_parallel_for(int64_t count, int64_t grain, Fn&& fn) {
  std::mutex mutex;  // guards failure
  std::exception_ptr failure;
  parallel_for(count, grain, [&](int64_t begin, int64_t end) {
    try {
      fn(begin, end);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  });
  if (failure) std::rethrow_exception(failure);
}

}  // namespace distribute::base_internal
