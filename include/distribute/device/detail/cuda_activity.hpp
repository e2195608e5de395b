#pragma once
/// Records what GPUs do as spans of DISTRIBUTE_TIMELINE, with a row for each stream, by CUPTI.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/span_recorder.hpp>
#include <distribute/device/detail/cuda_driver.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace distribute::device_internal {

// CUpti_ActivityKind, and what a copy goes between (CUpti_ActivityMemcpyKind).
inline constexpr int kCuptiMemcpy = 1, kCuptiMemset = 2, kCuptiKernel = 10, kCuptiPeerCopy = 22;
inline constexpr int kCuptiToGpu = 1, kCuptiFromGpu = 2, kCuptiOnGpu = 8, kCuptiBetweenGpus = 10;
inline constexpr unsigned kCuptiFlushAll = 1;  // CUPTI_ACTIVITY_FLAG_FLUSH_FORCED

/// The members with which every record begins, and those with which a record of its kind begins;
/// later versions of CUPTI add members behind them. Times are nanoseconds of cuptiGetTimestamp's
/// clock; 0 means unknown.
struct CuptiRecord {
  int kind;
};
struct __attribute__((packed, aligned(8))) CuptiKernel {
  int kind;
  uint8_t cache, shared_memory;
  uint16_t registers;
  int partitioned_cache[2];
  uint64_t start, end, completed;
  uint32_t device, context, stream;
  int32_t grid[3], block[3], static_shared, dynamic_shared;
  uint32_t local_of_thread, local, correlation;
  int64_t grid_id;
  const char* name;
};
/// The record of a copy, also between GPUs, or of a fill. In the record of a fill, a value takes
/// the place of the four kinds.
struct __attribute__((packed, aligned(8))) CuptiMemory {
  int kind;
  uint8_t copy_kind, from, to, flags;
  uint64_t bytes, start, end;
  uint32_t device, context, stream;
};

using CuptiBufferWanted = void (*)(uint8_t** buffer, size_t* bytes, size_t* max_records);
using CuptiBufferFull = void (*)(CudaHandle context, uint32_t stream, uint8_t* buffer, size_t bytes,
                                 size_t valid_bytes);

/// Functions of libcupti, by their exported names. Handles are pointers, enumerators ints.
struct CuptiTable {
  int (*cuptiGetVersion)(uint32_t*) = nullptr;
  int (*cuptiGetResultString)(int, const char**) = nullptr;
  int (*cuptiGetTimestamp)(uint64_t*) = nullptr;
  int (*cuptiActivityRegisterCallbacks)(CuptiBufferWanted, CuptiBufferFull) = nullptr;
  int (*cuptiActivityEnable)(int) = nullptr;
  int (*cuptiActivityGetNextRecord)(uint8_t*, size_t, CuptiRecord**) = nullptr;
  int (*cuptiActivityFlushAll)(uint32_t) = nullptr;
};

/// Fills the table from the library of this machine that suits a driver of this version.
/// Returns  an empty string, or what is missing and how to get it; the table is then unusable.
std::string load_cupti(CuptiTable& table, int driver);

/// From now on kernels, copies and fills of all GPUs of the process become spans of `recorder`, as
/// long as it lives. If CUPTI is missing or refuses, the log says so in one line. Thread-safe.
void record_gpus(const std::shared_ptr<monitoring::SpanRecorder>& recorder);
/// Adds what GPUs have finished so far; work that is still running is omitted.
void flush_gpu_spans();

/// Replaces CUPTI by this table during tests, for the life of the object, with nothing recorded.
/// Not thread-safe.
class [[nodiscard]] ScopedCupti {
 public:
  explicit ScopedCupti(const CuptiTable& table);
  ~ScopedCupti();
  ScopedCupti(const ScopedCupti&) = delete;
  ScopedCupti& operator=(const ScopedCupti&) = delete;
};

}  // namespace distribute::device_internal
