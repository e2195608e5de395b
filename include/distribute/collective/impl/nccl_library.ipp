#pragma once
#include <distribute/base/error.hpp>
#include <distribute/collective/detail/nccl_library.hpp>
#include <distribute/device/detail/cuda_library.hpp>
#include <distribute/device/detail/cuda_state.hpp>

#include <type_traits>
#include <utility>

namespace distribute::collective {

DISTRIBUTE_INLINE std::string load_nccl(NcclTable& table) {
  std::string problem;
  void* library = open_cuda_library({.what = "NCCL",
                                     .files = {"libnccl.so.2"},
                                     .package = "libnccl2 (nvidia-nccl-cu13)",
                                     .folders = {"nccl"}},
                                    problem);
  if (!library) return problem;
  const auto load = [&](const char* name, auto& function) {
    void* found = cuda_symbol(library, name);
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(found);
    if (!found && problem.empty())
      problem = str_cat("NCCL 2.18 or later is needed: libnccl.so.2 has no function ", name);
  };
  load("ncclGetVersion", table.ncclGetVersion);
  load("ncclGetUniqueId", table.ncclGetUniqueId);
  load("ncclCommInitRankConfig", table.ncclCommInitRankConfig);
  load("ncclCommAbort", table.ncclCommAbort);
  load("ncclCommGetAsyncError", table.ncclCommGetAsyncError);
  load("ncclGetErrorString", table.ncclGetErrorString);
  load("ncclGetLastError", table.ncclGetLastError);
  load("ncclGroupStart", table.ncclGroupStart);
  load("ncclGroupEnd", table.ncclGroupEnd);
  load("ncclAllReduce", table.ncclAllReduce);
  load("ncclReduce", table.ncclReduce);
  load("ncclReduceScatter", table.ncclReduceScatter);
  load("ncclAllGather", table.ncclAllGather);
  load("ncclBroadcast", table.ncclBroadcast);
  load("ncclSend", table.ncclSend);
  load("ncclRecv", table.ncclRecv);
  return problem;
}

namespace nccl_internal {

struct Library {
  NcclTable table;
  std::string problem = load_nccl(table);
};

/// Never destroyed: communicators may outlive main().
DISTRIBUTE_INLINE Library& library() {
  static auto* loaded = new Library;
  return *loaded;
}

/// The table of a test; null: the library's.
DISTRIBUTE_INLINE const NcclTable*& slot() {
  static const NcclTable* table = nullptr;
  return table;
}

}  // namespace nccl_internal

DISTRIBUTE_INLINE std::string nccl_problem() {
  if (nccl_internal::slot()) return {};
  if (!device_internal::gpu_state().uses_libraries) return "NCCL: not used with a test's tables";
  return nccl_internal::library().problem;
}

DISTRIBUTE_INLINE const NcclTable& nccl() {
  if (const NcclTable* scoped = nccl_internal::slot()) return *scoped;
  const nccl_internal::Library& library = nccl_internal::library();
  if (!library.problem.empty()) throw UnavailableError(library.problem);
  return library.table;
}

DISTRIBUTE_INLINE ScopedNccl::ScopedNccl(const NcclTable& table)
    : previous_(std::exchange(nccl_internal::slot(), new NcclTable(table))) {}
DISTRIBUTE_INLINE ScopedNccl::~ScopedNccl() {
  delete std::exchange(nccl_internal::slot(), previous_);
}

}  // namespace distribute::collective
