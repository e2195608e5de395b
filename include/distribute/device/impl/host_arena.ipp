#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/limits.hpp>
#include <distribute/device/detail/host_arena.hpp>

#include <algorithm>
#include <cstdlib>
#include <iterator>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace distribute::device_internal {

inline constexpr int64_t kArenaPage = 4 << 10, kHugePage = 2 << 20, kFirstReservation = 64 << 20;

/// Reserves whole huge pages; null on failure.
DISTRIBUTE_INLINE char* reserve_from_system(int64_t bytes) {
  if (!base_internal::leaves_room_for_others(bytes)) return nullptr;
  auto* data = static_cast<char*>(std::aligned_alloc(size_t(kHugePage), size_t(bytes)));
#if defined(__linux__)
  if (data) madvise(data, size_t(bytes), MADV_HUGEPAGE);  // only a hint, so failure is ignored
#endif
  return data;
}

/// Returns whole pages to the system; when touched again they are zeros.
DISTRIBUTE_INLINE bool give_pages_back([[maybe_unused]] char* data,
                                       [[maybe_unused]] int64_t bytes) {
#if defined(__linux__)
  return madvise(data, size_t(bytes), MADV_DONTNEED) == 0;
#else
  return false;
#endif
}

DISTRIBUTE_INLINE HostArena::~HostArena() {
  for (const auto& [data, reservation] : reservations_) std::free(data);
}

DISTRIBUTE_INLINE int64_t HostArena::block_size(int64_t bytes) {
  return (bytes + kArenaPage - 1) / kArenaPage * kArenaPage;
}

DISTRIBUTE_INLINE void* HostArena::allocate(int64_t block) {
  if (before_growth_ && !fits_without_growth(block)) before_growth_(block);
  const auto fitting = by_size_.lower_bound({block, nullptr});
  if (fitting != by_size_.end()) return take(free_.find(fitting->second), block);
  if (void* data = take_fresh(block)) return data;
  reserve(block);
  return take_fresh(block);
}

DISTRIBUTE_INLINE bool HostArena::fits_without_growth(int64_t block) const {
  const auto fitting = by_size_.lower_bound({block, nullptr});
  return fitting != by_size_.end() && free_.at(fitting->second).holds_memory;
}

DISTRIBUTE_INLINE void* HostArena::take(Extents::iterator extent, int64_t block) {
  char* const data = extent->first;
  const Extent whole = extent->second;
  remove(extent);
  if (whole.bytes > block) add(data + block, {whole.bytes - block, whole.holds_memory});
  return data;
}

/// Takes memory that was never written, and the free extent before it if there is one. The oldest
/// reservation is used first.
DISTRIBUTE_INLINE void* HostArena::take_fresh(int64_t block) {
  for (auto& [begin, reservation] : reservations_) {
    const bool untouched = reservation.fresh == begin;
    const auto before = untouched ? free_.end() : extent_before(reservation.fresh);
    char* const data = before == free_.end() ? reservation.fresh : before->first;
    if (reservation.end - data < block) continue;
    if (before != free_.end()) remove(before);
    reservation.fresh = data + block;
    return data;
  }
  return nullptr;
}

DISTRIBUTE_INLINE void HostArena::reserve(int64_t block) {
  const int64_t least = (block + kHugePage - 1) / kHugePage * kHugePage;
  int64_t bytes = std::max({least, reserved_, kFirstReservation});
  char* data = reserve_from_system(bytes);
  if (!data && bytes > least) data = reserve_from_system(bytes = least);
  if (!data) {
    const auto room = address_room();
    throw ResourceExhaustedError(str_cat("out of host memory: ", block, " bytes wanted",
                                         room ? "; " + memory_text(*room) : std::string()));
  }
  reservations_[data] = {data, data + bytes};
  reserved_ += bytes;
}

DISTRIBUTE_INLINE void HostArena::release(void* data, int64_t block) {
  char* begin = static_cast<char*>(data);
  Extent extent{block};
  if (const auto before = extent_before(begin);
      before != free_.end() && !reservations_.contains(begin)) {
    extent.bytes += before->second.bytes;
    begin = before->first;
    remove(before);
  }
  char* const end = begin + extent.bytes;
  if (const auto after = free_.find(end); after != free_.end() && !reservations_.contains(end)) {
    extent.bytes += after->second.bytes;
    remove(after);
  }
  add(begin, extent);
}

DISTRIBUTE_INLINE void HostArena::trim() {
  Extents extents = free_;
  for (const auto& [data, extent] : extents) {
    const auto found = reservations_.find(data);
    remove(free_.find(data));
    if (found != reservations_.end() && data + extent.bytes == found->second.fresh) {
      reserved_ -= found->second.end - data;
      std::free(data);
      reservations_.erase(found);
    } else {
      add(data, {extent.bytes, extent.holds_memory && !give_pages_back(data, extent.bytes)});
    }
  }
}

DISTRIBUTE_INLINE void HostArena::add(char* data, Extent extent) {
  free_[data] = extent;
  by_size_.insert({extent.bytes, data});
  if (extent.holds_memory) cached_ += extent.bytes;
}

DISTRIBUTE_INLINE void HostArena::remove(Extents::iterator extent) {
  if (extent->second.holds_memory) cached_ -= extent->second.bytes;
  by_size_.erase({extent->second.bytes, extent->first});
  free_.erase(extent);
}

/// Finds the free extent that ends where `data` begins, if there is one.
DISTRIBUTE_INLINE HostArena::Extents::iterator HostArena::extent_before(char* data) {
  auto next = free_.lower_bound(data);
  if (next == free_.begin()) return free_.end();
  const auto before = std::prev(next);
  return before->first + before->second.bytes == data ? before : free_.end();
}

}  // namespace distribute::device_internal
