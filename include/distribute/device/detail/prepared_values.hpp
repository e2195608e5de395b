#pragma once
/// Arrays that kernels derive from a variable's elements, such as transformed filters, made once
/// for all replicas of the process.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/layout.hpp>

#include <cstdint>
#include <functional>

namespace distribute::device_internal {

/// Keeps arrays that kernels derive from these elements until forget_prepared() is called or the
/// buffer dies. The owner of a variable that several replicas read calls it. Thread-safe.
void keep_prepared(const Array& elements);

/// The only holder of kept elements calls it before it changes them in place. Thread-safe.
void forget_prepared(const Array& elements);

/// How an array is derived from another one, in pieces that are independent of each other.
struct Preparation {
  const char* name;  // what it makes; with `sizes` it identifies the preparation
  int64_t sizes[2];
  int64_t bytes;   // size of the result
  int64_t pieces;  // number of pieces with about equal work
  /// Computes one piece. It may run on any thread and must not throw.
  std::function<void(char* result, int64_t piece)> make;
};

/// Gives the prepared array. Threads that ask for the same array of kept elements at the same time
/// share the work on its pieces; later threads get the finished array. For elements that are not
/// kept, each call makes the array.
/// Blocks  while other threads compute their last pieces.
Array prepared(const Array& elements, const Preparation& preparation);

}  // namespace distribute::device_internal
