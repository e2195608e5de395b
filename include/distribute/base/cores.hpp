#pragma once
/// The one place that knows how many cores this process may use, and whether waiting by spinning
/// pays on them.

#include <distribute/base/config.hpp>
#include <distribute/base/process_state.hpp>

#include <atomic>
#include <optional>
#include <string>

namespace distribute {

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

}  // namespace distribute
