#pragma once
/// What kernels make of a variable's elements, such as transformed filters, made once for all
/// replicas of the process.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/layout.hpp>

#include <cstdint>
#include <functional>

namespace distribute::device_internal {

/// From now on what kernels prepare from these elements is kept, until forget_prepared() or the end
/// of the buffer. For the owner of a variable that several replicas read. Thread-safe.
void keep_prepared(const Array& elements);

/// To be called before kept elements are changed in place, by their only holder.
/// Thread-safe.
void forget_prepared(const Array& elements);

/// How an array is made out of another, in pieces that do not depend on each other.
struct Preparation {
  const char* name;  // what it makes; together with `sizes` it tells preparations apart
  int64_t sizes[2];
  int64_t bytes;   // of the result
  int64_t pieces;  // of about equal work
  /// Computes a piece. Any thread; must not throw.
  std::function<void(char* result, int64_t piece)> make;
};

/// The prepared array. Threads that want the same one of kept elements at the same time share its
/// pieces, later ones get it as it is; of other elements it is made anew.
/// Blocks  while other threads compute their last piece.
Array prepared(const Array& elements, const Preparation& preparation);

}  // namespace distribute::device_internal
