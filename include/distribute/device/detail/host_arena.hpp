#pragma once
/// Large blocks of host memory, cut out of a few reservations; adjacent free blocks are merged.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>

namespace distribute::device_internal {

/// Gives out large blocks. It takes the smallest free extent that fits, else memory that was never
/// written. So memory freed by one size serves all others: a training step frees its activations in
/// the reverse order of their making, and its gradients fit between them. Reservations double in
/// size; pages that are not touched cost no memory. Thread-compatible.
///
/// Invariants between calls:
/// 1. No two free extents of a reservation are adjacent.
/// 2. by_size_ has the same extents as the map by address.
/// 3. Nothing behind Reservation::fresh was ever written.
class HostArena {
 public:
  /// `before_growth` is called before a block is given out that takes `bytes` more memory from the
  /// system. It may call trim(), and may refuse by throwing.
  explicit HostArena(std::function<void(int64_t bytes)> before_growth = nullptr)
      : before_growth_(std::move(before_growth)) {}
  HostArena(const HostArena&) = delete;
  ~HostArena();

  /// The size of the block for `bytes` bytes: whole pages.
  static int64_t block_size(int64_t bytes);
  /// Gives a block of the size that block_size() gave, aligned to a page.
  /// Throws  ResourceExhaustedError when the system has no memory left.
  void* allocate(int64_t block);
  void release(void* data, int64_t block);
  /// Returns the memory of all free extents to the system.
  void trim();
  /// Number of bytes of free extents that still use memory.
  int64_t cached() const { return cached_; }

 private:
  struct Extent {
    int64_t bytes = 0;
    bool holds_memory = true;
  };
  struct Reservation {
    char* fresh = nullptr;  // never written from here to the end
    char* end = nullptr;
  };
  using Extents = std::map<char*, Extent>;

  bool fits_without_growth(int64_t block) const;
  void* take(Extents::iterator extent, int64_t block);
  void* take_fresh(int64_t block);
  void reserve(int64_t block);
  void add(char* data, Extent extent);
  void remove(Extents::iterator extent);
  Extents::iterator extent_before(char* data);

  std::function<void(int64_t)> before_growth_;
  std::map<char*, Reservation> reservations_;  // by their begin
  Extents free_;
  std::set<std::pair<int64_t, char*>> by_size_;  // the same extents
  int64_t reserved_ = 0, cached_ = 0;
};

}  // namespace distribute::device_internal
