#pragma once
/// How much memory this process may still take before its container's limit ends it.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <exception>
#include <optional>
#include <string>

namespace distribute {

/// A limit that the kernel enforces by killing (control groups) or by refusing (ulimit -v).
/// Units   bytes.
struct MemoryRoom {
  int64_t limit = 0;
  int64_t used = 0;    // counted against it, without what the kernel can drop
  std::string source;  // "/sys/fs/cgroup/memory.max", "ulimit -v"

  /// Bytes.
  int64_t free() const { return limit - used; }
};

/// Under the limit of the control group; nothing where there is none. Reads files of the kernel:
/// about 0.1 ms. `root` stands before /proc and /sys, for tests.
std::optional<MemoryRoom> memory_room(const std::string& root = "");
/// The same under RLIMIT_AS, whose use is the size of the address space.
std::optional<MemoryRoom> address_room();

/// "1.5 GiB", "300 KiB".
std::string memory_text(int64_t bytes);
/// "1.2 GiB of 1.5 GiB are in use (/sys/fs/cgroup/memory.max)".
std::string memory_text(const MemoryRoom& room);

/// what() of an error; of a std::bad_alloc, which says nothing, "out of memory" with the limit that
/// is near. Does not throw.
std::string error_text(const std::exception& error) noexcept;

namespace base_internal {

/// Under `ulimit -v` large blocks leave this much to what ends a process when it is refused: the
/// stack of the main thread, the C library, the code that oneDNN makes.
/// Units   bytes.
inline constexpr int64_t kLeftToOthers = 24 << 20;

/// Whether a block of `bytes` leaves that much. True without `ulimit -v`.
bool leaves_room_for_others(int64_t bytes);

/// Once for a process, under `ulimit -v` only: malloc keeps to one arena (each takes 64 MiB), what
/// ends a thread is loaded, and the main thread's stack grows when called there. Thread-safe.
void prepare_for_little_memory();

}  // namespace base_internal

}  // namespace distribute
