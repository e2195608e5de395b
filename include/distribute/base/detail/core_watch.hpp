#pragma once
/// Checks at the steps of optimizers whether this program shares its cores with others, and adapts
/// its waits and its number of threads.

#include <distribute/base/config.hpp>

namespace distribute::base_internal {

/// Call it at every step of an optimizer, on the thread that computes. Ten times a second it checks
/// how long threads had to wait for cores, and whether the quota ran out. If so,
/// cores_are_contended() is true from then on, OpenMP's threads sleep instead of spinning, and the
/// calling thread's operations get the number of threads with which steps are fastest. The number
/// does not change if OMP_NUM_THREADS or OMP_DYNAMIC=false is set, or after
/// keep_number_of_threads(). Thread-safe; it follows the steps of one thread.
void watch_cores() noexcept;

/// Returns the number of threads for a thread that would compute with `most`.
int advised_threads(int most);

/// Fixes the number of threads, so that results do not depend on other programs, not even in their
/// last bits.
void keep_number_of_threads();

}  // namespace distribute::base_internal
