#pragma once
/// Loops and copies over several threads.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/first_exception.hpp>

#include <omp.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace distribute {

namespace base_internal {
/// Sets usable_threads() for the calling thread, as OpenMP counts the cores of the affinity only.
void choose_threads();
/// Checks that OpenMP works in this process; call it before a computation with several threads.
/// Throws  FailedPreconditionError in a process that was forked after such a call: a fork copies
///          the calling thread alone, and OpenMP would wait for the others for ever.
void check_no_fork();
inline bool& threads_are_chosen() {
  thread_local bool chosen = false;
  return chosen;
}
}  // namespace base_internal

/// Returns the threads that one operation of the calling thread may use; usable_threads() of
/// base/limits.hpp unless it was set.
/// Source  tf.config.threading.get_intra_op_parallelism_threads
inline int intra_op_threads() {
  if (bool& chosen = base_internal::threads_are_chosen(); !chosen) {
    chosen = true;
    base_internal::choose_threads();
  }
  return omp_get_max_threads();
}

/// Limits the operations of the calling thread to `threads` threads (at least one).
/// Source  tf.config.threading.set_intra_op_parallelism_threads
inline void set_intra_op_threads(int threads) {
  base_internal::threads_are_chosen() = true;
  omp_set_num_threads(threads < 1 ? 1 : threads);
}

/// Calls fn(begin, end) on equal parts of [0, count), one part a thread; `grain` is the smallest
/// part worth a thread. Parts depend only on the thread count, so results repeat bit by bit.
/// Throws  what `fn` throws, once all parts have ended; of several exceptions the first.
template <typename Fn>
void parallel_for(int64_t count, int64_t grain, Fn&& fn) {
  const int threads = omp_in_parallel() ? 1 : intra_op_threads();
  if (threads == 1 || count < 2 * grain) {
    if (count > 0) fn(int64_t{0}, count);
    return;
  }
  base_internal::check_no_fork();
  base_internal::FirstException error;
#pragma omp parallel num_threads(threads)
  {
    const int64_t parts = omp_get_num_threads(), part = omp_get_thread_num();
    const int64_t begin = count * part / parts, end = count * (part + 1) / parts;
    try {
      if (begin < end) fn(begin, end);
    } catch (...) {
      error.keep();
    }
  }
  error.rethrow();
}

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define DISTRIBUTE_ALWAYS_INLINE __attribute__((always_inline))

/// Returns the instruction set of this machine: 2 = AVX-512, 1 = AVX2 with FMA, 0 = the compiler's
/// default.
inline int simd_level() {
  static const int level = [] {
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
      return 2;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? 1 : 0;
  }();
  return level;
}

#if defined(__clang__)  // it uses full vectors by itself, and ignores targets with a given width
#define DISTRIBUTE_AVX512 "avx512f,avx512bw,avx512vl,avx512dq,avx2,fma"
#else
#define DISTRIBUTE_AVX512 "avx512f,avx512bw,avx512vl,avx512dq,avx2,fma,prefer-vector-width=512"
#endif
template <typename Body>
__attribute__((noinline, target(DISTRIBUTE_AVX512))) void simd_call_avx512(Body& body) {  // AVX-512
  body();
}
#undef DISTRIBUTE_AVX512
template <typename Body>
__attribute__((noinline, target("avx2,fma"))) void simd_call_avx2(Body& body) {  // AVX2
  body();
}

/// Runs `body`, a lambda marked DISTRIBUTE_ALWAYS_INLINE, compiled for the best instruction set of
/// this machine. Loops to be vectorised need `#pragma omp simd`.
template <typename Body>
void simd_call(Body body) {
  switch (simd_level()) {
    case 2: simd_call_avx512(body); break;
    case 1: simd_call_avx2(body); break;
    default: body();
  }
}
#else
#define DISTRIBUTE_ALWAYS_INLINE
template <typename Body>
void simd_call(Body body) {
  body();
}
#endif

namespace base_internal {

/// Returns whether memcpy should be called for small pieces. Above some KiB glibc copies with `rep
/// movsb`, which on AMD's Zen 3 takes 3 to 5 times as long as its loop of vectors if the lines are
/// in another core's cache.
inline bool copies_in_pieces() {
#if defined(__x86_64__) || defined(__i386__)
  static const bool is_amd = __builtin_cpu_is("amd");
  return is_amd;
#else
  return false;
#endif
}

}  // namespace base_internal

/// Copies arrays that pass from core to core, such as slots in shared memory.
inline void copy_memory(void* to, const void* from, size_t bytes) {
  constexpr size_t kPiece = 2048;
  const size_t most = base_internal::copies_in_pieces() ? kPiece : bytes;
  for (size_t at = 0; at < bytes; at += most)
    std::memcpy(static_cast<std::byte*>(to) + at, static_cast<const std::byte*>(from) + at,
                std::min(most, bytes - at));
}

}  // namespace distribute
