#pragma once
/// Large blocks of host memory, cut out of a few reservations; free neighbours become one again.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>

namespace distribute::device_internal {

/// Takes the smallest free extent that fits, else memory that was never written, so that what
/// one size leaves serves all others: a training step frees its activations in the order opposite
/// to that of their making, and its gradients find room between them. Reservations grow by
/// doubling; what is not touched costs no memory. Thread-compatible.
class HostArena {
 public:
  /// `before_growth` is called before a block is given out that takes `bytes` more memory from the
  /// system; it may trim(), and refuse by an exception.
  explicit HostArena(std::function<void(int64_t bytes)> before_growth = nullptr)
      : before_growth_(std::move(before_growth)) {}
  HostArena(const HostArena&) = delete;
  ~HostArena();

  /// What a block of `bytes` takes: whole pages.
  static int64_t block_size(int64_t bytes);
  /// `block` bytes, as block_size gave them, aligned to a page.
  /// Throws  ResourceExhaustedError when the system has no memory left.
  void* allocate(int64_t block);
  void release(void* data, int64_t block);
  /// Gives the memory of all free extents back to the system.
  void trim();
  /// Bytes of free extents that still hold memory.
  int64_t cached() const { return cached_; }

 private:
  struct Extent {
    int64_t bytes = 0;
    bool holds_memory = true;
  };
  struct Reservation {
    char* fresh = nullptr;  // from here to the end it was never written
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
