#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/limits.hpp>

#include <cstdio>
#include <new>
#include <optional>
#include <vector>

#include <execinfo.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace distribute {

DISTRIBUTE_INLINE std::optional<MemoryRoom> memory_room(const std::string& root) {
  const ControlGroups groups(root);
  const auto limit = groups.memory();
  if (!limit) return std::nullopt;
  return MemoryRoom{limit->value, groups.memory_used().value_or(0), limit->file};
}

DISTRIBUTE_INLINE std::optional<MemoryRoom> address_room() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  const std::vector<double> stat = base_internal::process_stat();
  const double used = stat.size() > 19 ? stat[19] : 0;
  return MemoryRoom{int64_t(limit.rlim_cur), int64_t(used), "ulimit -v"};
}

DISTRIBUTE_INLINE std::string memory_text(int64_t bytes) {
  constexpr const char* units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  double value = double(bytes);
  int unit = 0;
  for (; value >= 1024 && unit < 4; ++unit) value /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, value < 10 && unit > 0 ? "%.1f %s" : "%.0f %s", value,
                units[unit]);
  return text;
}

DISTRIBUTE_INLINE std::string memory_text(const MemoryRoom& room) {
  return str_cat(memory_text(room.used), " of ", memory_text(room.limit), " are in use (",
                 room.source, ")");
}

DISTRIBUTE_INLINE std::string error_text(const std::exception& error) noexcept {
  try {
    if (!dynamic_cast<const std::bad_alloc*>(&error)) return error.what();
    std::string text = "out of host memory";
    for (const auto& room : {address_room(), memory_room()})
      if (room && room->free() < room->limit / 4) text += "; " + memory_text(*room);
    return text;
  } catch (const std::exception&) {
    return "out of memory";  // short enough to need none
  }
}

namespace base_internal {

DISTRIBUTE_INLINE bool leaves_room_for_others(int64_t bytes) {
  const auto room = address_room();
  return !room || room->free() - bytes >= kLeftToOthers;
}

/// The kernel maps the pages of a stack when they are touched, and answers with SIGSEGV when the
/// limit forbids it.
[[gnu::noinline]] DISTRIBUTE_INLINE void grow_stack() {
  constexpr size_t kBytes = 1 << 20, kPage = 4096;
  volatile char pages[kBytes];
  for (size_t end = kBytes; end > 0; end -= kPage) pages[end - 1] = 0;
  (void)pages[0];
}

DISTRIBUTE_INLINE void prepare_for_little_memory() {
  static const bool done = [] {
    const auto room = address_room();
    if (!room || room->free() < 4 << 20) return true;
#if defined(__GLIBC__)
    ::mallopt(M_ARENA_MAX, 1);
#endif
    void* frame = nullptr;  // the C library aborts when it cannot load this later
    ::backtrace(&frame, 1);
    if (::syscall(SYS_gettid) == ::getpid()) grow_stack();
    return true;
  }();
  (void)done;
}

}  // namespace base_internal

}  // namespace distribute
