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

/// A limit of the tightest group, and the file that sets it.
template <typename T>
struct GroupLimit {
  T value{};
  std::string file;
};

/// How often the quota of CPU time stopped the process, since its group was made.
struct CpuThrottling {
  int64_t periods = 0;    // in which the group wanted to run
  int64_t throttled = 0;  // of these, where its quota ran out
  double seconds = 0;     // that its threads were stopped for
};

/// The groups of the calling process, of version 1 and of version 2, and those around them as far
/// as they are mounted: a limit of an outer group counts, too. Files are read at each call, as
/// limits may change while a process runs. Thread-compatible.
/// Source  cgroups(7); Documentation/admin-guide/cgroup-v1 and cgroup-v2 of Linux
class ControlGroups {
 public:
  /// `root` stands before /proc and the mounted folders, for tests.
  explicit ControlGroups(std::string root = "");

  /// Cores' worth of CPU time: cpu.max, or cpu.cfs_quota_us over cpu.cfs_period_us.
  std::optional<GroupLimit<double>> cores() const;
  /// Throttling in the group that sets cores(); nothing where no group has a quota.
  std::optional<CpuThrottling> throttling() const;
  /// memory.max, or memory.limit_in_bytes.
  /// Units   bytes.
  std::optional<GroupLimit<int64_t>> memory() const;
  /// What the group that sets memory() has in use, without cached files, which the kernel
  /// drops before it kills.
  /// Units   bytes.
  std::optional<int64_t> memory_used() const;

 private:
  /// Innermost first; `version` is 1 or 2.
  struct Folder {
    std::string path;
    int version;
  };
  void add_folders(std::vector<Folder>& folders, const std::string& controller) const;
  std::string shown(const std::string& path) const;

  std::string root_;
  std::vector<Folder> cpu_, memory_;
};

/// What bounds the cores of a process.
struct CoreLimits {
  int online = 1;               // of this host
  int allowed = 1;              // by the affinity of the process, which a cpuset sets, too
  std::optional<double> quota;  // of CPU time, by a control group
  std::string quota_file;       // that sets the quota
  int environment = 0;          // OMP_NUM_THREADS; 0: not set

  /// Cores' worth of CPU time.
  double usable() const;
  /// Whole cores, at least one; half a core is rounded up. Many more threads than the quota has
  /// cores would mean that all are stopped for a part of each period, and those that meet then wait
  /// for each other. Whether one fewer is faster, base/detail/core_watch finds by trying.
  int cores() const;
  /// "12 of 64 cores by the container's quota".
  std::string text() const;
};

/// Reads the limits anew; `root` stands before /proc and /sys, for tests.
CoreLimits find_core_limits(const std::string& root = "");
/// The limits of this process as they were at the first call.
const CoreLimits& core_limits();

/// Tasks that compute on this host beside each other, found at the rendezvous: from now on
/// usable_cores() and usable_threads() are a share.
void set_tasks_on_host(int tasks);
/// Whole cores for one of the `tasks` of this host, at least one; for threads that read or decode.
int cores_for_tasks(int tasks);
int usable_cores();
/// Threads of an operation: OMP_NUM_THREADS where it is set, else the cores.
int threads_for_tasks(int tasks);
int usable_threads();

/// Writes one line to the log, at the first call, where something bounds the cores: what it is and
/// how many threads compute.
void log_core_limits();

namespace base_internal {
struct SpinState {
  const int cores = core_limits().cores();
  std::atomic<bool> contended{false};
};
inline SpinState& spin_state() { return in_process<SpinState>(); }
}  // namespace base_internal

/// Whether threads of this process had to wait for a core lately, or were stopped by the quota
/// (base/detail/core_watch finds out).
inline bool cores_are_contended() {
  return base_internal::spin_state().contended.load(std::memory_order_relaxed);
}

/// Whether a thread that waits for others of `together` threads or ranks on this host gains by
/// spinning: each has a core, and none of them had to wait for one lately. Where it is false the
/// thread should sleep at once: the core that it would hold is needed, perhaps by the thread that
/// it waits for. Cheap enough for every wait.
inline bool spinning_pays(int together) {
  return together <= base_internal::spin_state().cores && !cores_are_contended();
}

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

/// Whether a block of `bytes` leaves that much. It is true without `ulimit -v`.
bool leaves_room_for_others(int64_t bytes);

/// Once for a process, under `ulimit -v` only: malloc keeps to one arena (each takes 64 MiB), what
/// ends a thread is loaded, and the main thread's stack grows when called there. Thread-safe.
void prepare_for_little_memory();

}  // namespace base_internal

/// Since this process was started, the loading of the program included; 0 where the system does not
/// tell.
double seconds_since_process_start();
/// Most memory that was resident at a time.
int64_t peak_rss_bytes();

}  // namespace distribute

namespace distribute::base_internal {

/// The fields from the fourth on, without what is no number: field n of proc(5) is at n - 4. Empty
/// where the system has no such file.
std::vector<double> process_stat();

}  // namespace distribute::base_internal
