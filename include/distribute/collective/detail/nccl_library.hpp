#pragma once
/// The functions of NCCL, loaded at first use; no program links it.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/cuda_driver.hpp>

#include <climits>
#include <cstddef>
#include <string>

namespace distribute::collective {

/// ncclUniqueId: names a group of ranks before they have met.
struct NcclUniqueId {
  char bytes[128] = {};
};

/// The first fields of ncclConfig_t, which NCCL completes with its defaults: `size` is the size
/// passed.
struct NcclConfig {
  size_t size = sizeof(NcclConfig);
  unsigned magic = 0xcafebeef;
  unsigned version = 21800;
  int blocking = 0;  // calls return at once, so that none waits for a rank that does not come
  int cga_cluster_size = INT_MIN, min_ctas = INT_MIN, max_ctas = INT_MIN;
  const char* net_name = nullptr;
  int split_share = INT_MIN;
};

inline constexpr int kNcclSuccess = 0, kNcclInProgress = 7;

/// Functions of libnccl.so.2, by their exported names. Handles are pointers, enumerators ints.
struct NcclTable {
  int (*ncclGetVersion)(int*) = nullptr;
  int (*ncclGetUniqueId)(NcclUniqueId*) = nullptr;
  int (*ncclCommInitRankConfig)(CudaHandle*, int, NcclUniqueId, int, NcclConfig*) = nullptr;
  int (*ncclCommAbort)(CudaHandle) = nullptr;
  int (*ncclCommGetAsyncError)(CudaHandle, int*) = nullptr;
  const char* (*ncclGetErrorString)(int) = nullptr;
  const char* (*ncclGetLastError)(CudaHandle) = nullptr;
  int (*ncclGroupStart)() = nullptr;
  int (*ncclGroupEnd)() = nullptr;
  int (*ncclAllReduce)(const void*, void*, size_t, int, int, CudaHandle, CudaHandle) = nullptr;
  int (*ncclReduce)(const void*, void*, size_t, int, int, int, CudaHandle, CudaHandle) = nullptr;
  int (*ncclReduceScatter)(const void*, void*, size_t, int, int, CudaHandle, CudaHandle) = nullptr;
  int (*ncclAllGather)(const void*, void*, size_t, int, CudaHandle, CudaHandle) = nullptr;
  int (*ncclBroadcast)(const void*, void*, size_t, int, int, CudaHandle, CudaHandle) = nullptr;
  int (*ncclSend)(const void*, size_t, int, int, CudaHandle, CudaHandle) = nullptr;
  int (*ncclRecv)(void*, size_t, int, int, CudaHandle, CudaHandle) = nullptr;
};

/// Fills the table from the library of this machine.
/// Returns  an empty string, or what is missing and how to get it; the table is then unusable.
std::string load_nccl(NcclTable& table);

/// Returns why NCCL cannot be used; empty when it can.
std::string nccl_problem();

/// Throws  UnavailableError with the reason when there is none.
const NcclTable& nccl();

/// Replaces NCCL by this table while it lives, for tests. Not thread-safe.
class [[nodiscard]] ScopedNccl {
 public:
  explicit ScopedNccl(const NcclTable& table);
  ~ScopedNccl();
  ScopedNccl(const ScopedNccl&) = delete;
  ScopedNccl& operator=(const ScopedNccl&) = delete;

 private:
  const NcclTable* previous_;
};

}  // namespace distribute::collective
