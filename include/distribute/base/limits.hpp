#pragma once
/// The cores and the memory that this process may use, by control groups and ulimit.

#include <distribute/base/config.hpp>
#include <distribute/base/process_state.hpp>

#include <atomic>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <vector>

namespace distribute {

/// The smallest limit of all enclosing groups, and the file that sets it.
template <typename T>
struct GroupLimit {
  T value{};
  std::string file;
};

/// Tells how the CPU quota has slowed the process since its control group was made.
struct CpuThrottling {
  std::string file;       // from which it was read
  int64_t periods = 0;    // in which the group had work
  int64_t throttled = 0;  // in which its quota ran out
  double seconds = 0;     // during which its threads were stopped
};

/// The control groups of the calling process, of version 1 and of version 2, and the enclosing ones
/// as far as they are mounted, whose limits count, too. Files are read at each call, as limits may
/// change while a process runs. Thread-compatible.
/// Source  cgroups(7); Documentation/admin-guide/cgroup-v1 and cgroup-v2 of Linux
class ControlGroups {
 public:
  /// `root` is put before /proc and the mounted folders, for tests.
  explicit ControlGroups(std::string root = "");

  /// Returns the limit of CPU time in cores: cpu.max, or cpu.cfs_quota_us over cpu.cfs_period_us.
  std::optional<GroupLimit<double>> cores() const;
  /// Returns the throttling in the group that sets cores(); nullopt if no group has a quota.
  std::optional<CpuThrottling> throttling() const;
  /// Returns memory.max, or memory.limit_in_bytes.
  /// Units   bytes.
  std::optional<GroupLimit<int64_t>> memory() const;
  /// Returns the memory in use in the group that sets memory(), without cached files, which the
  /// kernel drops before it kills.
  /// Units   bytes.
  std::optional<int64_t> memory_used() const;

 private:
  /// A folder of a group, innermost first; `version` is 1 or 2.
  struct Folder {
    std::string path;
    int version;
  };
  void add_folders(std::vector<Folder>& folders, const std::string& controller) const;
  std::string shown(const std::string& path) const;

  std::string root_;
  std::vector<Folder> cpu_, memory_;
};

/// Limits of the cores of a process.
struct CoreLimits {
  int online = 1;               // of this host
  int allowed = 1;              // by the affinity of the process, which includes cpusets
  std::optional<double> quota;  // of CPU time, by a control group
  std::string quota_file;       // file that sets the quota
  int environment = 0;          // OMP_NUM_THREADS; 0: not set

  /// Returns the usable CPU time, in cores.
  double usable() const;
  /// Returns whole cores, at least one; half a core is rounded up. With many more threads than the
  /// quota has cores, all are stopped for a part of each period, and threads that meet then wait
  /// for each other. base/detail/core_watch finds by trials whether one fewer is faster.
  int cores() const;
  /// Returns "12 of 64 cores by the container's quota".
  std::string text() const;
};

/// Reads the limits anew; `root` is put before /proc and /sys, for tests.
CoreLimits find_core_limits(const std::string& root = "");
/// Returns the limits of this process at the first call.
const CoreLimits& core_limits();

/// Sets the number of tasks that compute on this host, found at the rendezvous: usable_cores() and
/// usable_threads() then return a share.
void set_tasks_on_host(int tasks);
/// Returns the whole cores for one of the `tasks` of this host, at least one; for threads that read
/// or decode.
int cores_for_tasks(int tasks);
int usable_cores();
/// Returns the threads of an operation: OMP_NUM_THREADS if it is set, else the cores.
int threads_for_tasks(int tasks);
int usable_threads();

/// Logs one line, at the first call, if the cores are limited: the limit and the number of threads
/// that compute.
void log_core_limits();

namespace base_internal {
struct SpinState {
  const int cores = core_limits().cores();
  std::atomic<bool> contended{false};
};
inline SpinState& spin_state() { return in_process<SpinState>(); }
}  // namespace base_internal

/// Returns whether threads of this process had to wait for a core lately, or were stopped by the
/// quota (base/detail/core_watch finds out).
inline bool cores_are_contended() {
  return base_internal::spin_state().contended.load(std::memory_order_relaxed);
}

/// Returns whether a thread that waits for others of `together` threads or ranks on this host gains
/// by spinning: each has a core, and none of them had to wait for one lately. If it is false the
/// thread should sleep at once, as the core that it would hold is needed, perhaps by the thread for
/// which it waits. Fast enough for every wait.
inline bool spinning_pays(int together) {
  return together <= base_internal::spin_state().cores && !cores_are_contended();
}

/// A limit that the kernel enforces by killing (control groups) or by refusing (ulimit -v).
/// Units   bytes.
struct MemoryRoom {
  int64_t limit = 0;
  int64_t used = 0;    // counted against the limit, without memory that the kernel can free
  std::string source;  // "/sys/fs/cgroup/memory.max", "ulimit -v"

  /// Returns the free bytes.
  int64_t free() const { return limit - used; }
};

/// Returns the room under the limit of the control group; nullopt if there is no limit. It reads
/// files of the kernel, which takes about 0.1 ms. `root` is put before /proc and /sys, for tests.
std::optional<MemoryRoom> memory_room(const std::string& root = "");
/// Returns the room under RLIMIT_AS, whose use is the size of the address space.
std::optional<MemoryRoom> address_room();

/// Formats "1.5 GiB", "300 KiB".
std::string memory_text(int64_t bytes);
/// Formats "1.2 GiB of 1.5 GiB are in use (/sys/fs/cgroup/memory.max)".
std::string memory_text(const MemoryRoom& room);

/// Returns what() of an error; for a std::bad_alloc "out of memory" with the nearest limit. Does
/// not throw.
std::string error_text(const std::exception& error) noexcept;

namespace base_internal {

/// Large blocks leave this much memory free under `ulimit -v`. Code that ends the process without
/// memory needs it: the stack of the main thread, the C library, and what oneDNN compiles.
/// Units   bytes.
inline constexpr int64_t kLeftToOthers = 24 << 20;

/// Returns whether a block of `bytes` leaves that much free; always true without `ulimit -v`.
bool leaves_room_for_others(int64_t bytes);

/// Prepares a process once, under `ulimit -v` only: malloc uses one arena (each takes 64 MiB), code
/// that ends a thread is loaded, and the main thread's stack grows when called there. Thread-safe.
void prepare_for_little_memory();

}  // namespace base_internal

/// Returns the time since this process was started, the loading of the program included; 0 if the
/// system does not tell.
double seconds_since_process_start();
/// Returns the peak of the resident memory.
int64_t peak_rss_bytes();

}  // namespace distribute

namespace distribute::base_internal {

/// Returns the fields from the fourth on that are numbers: field n of proc(5) is at n - 4. Empty if
/// the system has no such file.
std::vector<double> process_stat();

}  // namespace distribute::base_internal
