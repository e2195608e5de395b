#pragma once
/// A CUPTI that gives the records of a test.

#include <distribute/device/detail/cuda_activity.hpp>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <vector>

namespace distribute::testing {

using namespace distribute::device_internal;

/// Its clock is the host's, three hours earlier; a flush gives the records of `kernels` and
/// `memory`.
struct FakeCupti {
  using Clock = monitoring::SpanRecorder::Clock;
  static inline std::vector<CuptiKernel> kernels;
  static inline std::vector<CuptiMemory> memory;
  static inline std::vector<int> kinds;
  static inline int result = 0;  // of cuptiActivityEnable
  static inline CuptiBufferWanted wanted = nullptr;
  static inline CuptiBufferFull full = nullptr;
  static constexpr std::chrono::hours kEarlier{3};

  static uint64_t time(Clock::time_point host) {
    return uint64_t(std::chrono::nanoseconds(host.time_since_epoch()).count() -
                    std::chrono::nanoseconds(kEarlier).count() +
                    std::chrono::nanoseconds(kBase).count());
  }
  static constexpr std::chrono::hours kBase{24};  // no time is negative

  static int flush(uint32_t) {
    uint8_t* buffer = nullptr;
    size_t bytes = 0, most = 0;
    wanted(&buffer, &bytes, &most);
    uint8_t* at = buffer;
    const auto put = [&](const auto& record) {
      std::memcpy(at, &record, sizeof record);
      at += kRoom;
    };
    for (const CuptiKernel& one : kernels) put(one);
    for (const CuptiMemory& one : memory) put(one);
    kernels.clear();
    memory.clear();
    full(nullptr, 0, buffer, bytes, size_t(at - buffer));
    return 0;
  }
  static constexpr size_t kRoom = 256;  // of a record, which is longer than what is declared

  static CuptiTable table() {
    kernels.clear();
    memory.clear();
    kinds.clear();
    result = 0;
    CuptiTable t;
    t.cuptiGetVersion = [](uint32_t* version) { return *version = 130001, 0; };
    t.cuptiGetResultString = [](int, const char** text) {
      return *text = "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES", 0;
    };
    t.cuptiGetTimestamp = [](uint64_t* now) { return *now = time(Clock::now()), 0; };
    t.cuptiActivityRegisterCallbacks = [](CuptiBufferWanted w, CuptiBufferFull f) {
      wanted = w;
      full = f;
      return 0;
    };
    t.cuptiActivityEnable = [](int kind) { return kinds.push_back(kind), result; };
    t.cuptiActivityGetNextRecord = [](uint8_t* buffer, size_t valid, CuptiRecord** record) {
      uint8_t* next = *record ? reinterpret_cast<uint8_t*>(*record) + kRoom : buffer;
      if (next >= buffer + valid) return 12;  // CUPTI_ERROR_MAX_LIMIT_REACHED
      return *record = reinterpret_cast<CuptiRecord*>(next), 0;
    };
    t.cuptiActivityFlushAll = flush;
    return t;
  }
};

inline CuptiKernel cupti_kernel(const char* name, FakeCupti::Clock::time_point begin,
                                int microseconds, uint32_t stream) {
  CuptiKernel one{};
  one.kind = kCuptiKernel;
  one.start = FakeCupti::time(begin);
  one.end = one.start + uint64_t(microseconds) * 1000;
  one.device = 1;
  one.stream = stream;
  one.name = name;
  return one;
}

inline CuptiMemory cupti_memory(int kind, uint8_t copy_kind, FakeCupti::Clock::time_point begin,
                                uint64_t bytes) {
  CuptiMemory one{};
  one.kind = kind;
  one.copy_kind = copy_kind;
  one.start = FakeCupti::time(begin);
  one.end = one.start + 1000;
  one.bytes = bytes;
  one.stream = 7;
  return one;
}

}  // namespace distribute::testing
