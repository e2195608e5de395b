#pragma once
/// Treats numbers too small for full precision as zero, as CPUs compute with them hundreds of times
/// slower.

#include <distribute/base/config.hpp>
#include <distribute/base/parallel.hpp>

#include <cstdint>

#include <omp.h>

namespace distribute {

namespace base_internal {

#if defined(__x86_64__)
/// Bits 15 and 6 of MXCSR: results and operands below the normal range are zero.
inline constexpr uint64_t kFlushBits = 0x8040;
inline uint64_t float_control() { return __builtin_ia32_stmxcsr(); }
inline void set_float_control(uint64_t value) { __builtin_ia32_ldmxcsr(unsigned(value)); }
#elif defined(__aarch64__)
/// FZ of FPCR.
inline constexpr uint64_t kFlushBits = uint64_t{1} << 24;
inline uint64_t float_control() {
  uint64_t value;
  asm volatile("mrs %0, fpcr" : "=r"(value));
  return value;
}
inline void set_float_control(uint64_t value) { asm volatile("msr fpcr, %0" : : "r"(value)); }
#else
inline constexpr uint64_t kFlushBits = 0;
inline uint64_t float_control() { return 0; }
inline void set_float_control(uint64_t) {}
#endif

}  // namespace base_internal

/// Makes subnormal floats zero for the calling thread while it lives. Threads of its OpenMP pool
/// keep the setting for ever, as they run no other thread's work.
/// Source  TensorFlow's ScopedFlushDenormal around every operation
class [[nodiscard]] FlushSubnormals {
 public:
  FlushSubnormals() : previous_(base_internal::float_control()) {
    if (!omp_in_parallel() && intra_op_threads() > 1) base_internal::check_no_fork();
    const auto flush = [value = previous_ | base_internal::kFlushBits] {
      if (base_internal::float_control() != value) base_internal::set_float_control(value);
    };
    flush();
    thread_local int pool = 1;  // threads that are known to flush
    if (omp_in_parallel() || intra_op_threads() <= pool) return;
    pool = intra_op_threads();
#pragma omp parallel
    flush();
  }
  ~FlushSubnormals() { base_internal::set_float_control(previous_); }
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;

 private:
  uint64_t previous_;
};

}  // namespace distribute
