#pragma once
/// Watches at the steps of optimizers whether the cores are this program's alone, and adapts how it
/// waits and how many threads it computes with.

#include <distribute/base/config.hpp>

namespace distribute::base_internal {

/// At every step of an optimizer, on the thread that computes. Ten times a second it looks how long
/// threads had to wait for cores, and whether the quota ran out. If they had to,
/// cores_are_contended() is true from then on, OpenMP's threads sleep instead of spinning, and the
/// calling thread's operations get the number of threads with which steps are fastest. The number
/// stays what it is where OMP_NUM_THREADS or OMP_DYNAMIC=false is set, or after
/// keep_number_of_threads(). Thread-safe; follows the steps of one thread.
void watch_cores() noexcept;

/// The number for a thread that would compute with `most`.
int advised_threads(int most);

/// Results shall not depend on neighbours, not even in their last bits.
void keep_number_of_threads();

}  // namespace distribute::base_internal
