#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/collective/detail/nccl_library.hpp>
#include <distribute/device/detail/cuda_library.hpp>
#include <distribute/device/detail/cuda_state.hpp>

#include <utility>

namespace distribute::collective {

DISTRIBUTE_INLINE std::string load_nccl(NcclTable& table) {
  return load_cuda_functions({.what = "NCCL",
                              .files = {"libnccl.so.2"},
                              .package = "libnccl2 2.18 or later (nvidia-nccl-cu13)",
                              .folders = {"nccl"}},
                             {{"ncclGetVersion", table.ncclGetVersion},
                              {"ncclGetUniqueId", table.ncclGetUniqueId},
                              {"ncclCommInitRankConfig", table.ncclCommInitRankConfig},
                              {"ncclCommAbort", table.ncclCommAbort},
                              {"ncclCommGetAsyncError", table.ncclCommGetAsyncError},
                              {"ncclGetErrorString", table.ncclGetErrorString},
                              {"ncclGetLastError", table.ncclGetLastError},
                              {"ncclGroupStart", table.ncclGroupStart},
                              {"ncclGroupEnd", table.ncclGroupEnd},
                              {"ncclAllReduce", table.ncclAllReduce},
                              {"ncclReduce", table.ncclReduce},
                              {"ncclReduceScatter", table.ncclReduceScatter},
                              {"ncclAllGather", table.ncclAllGather},
                              {"ncclBroadcast", table.ncclBroadcast},
                              {"ncclSend", table.ncclSend},
                              {"ncclRecv", table.ncclRecv}});
}

namespace nccl_internal {

struct Library {
  NcclTable table;
  std::string problem = load_nccl(table);
};

/// Returns the library, which is never destroyed, as communicators may outlive main().
DISTRIBUTE_INLINE Library& library() { return in_process<Library>(); }

struct TestTable {
  const NcclTable* table = nullptr;
};

/// Returns the table of a test; null: the library's is used.
DISTRIBUTE_INLINE const NcclTable*& slot() { return in_process<TestTable>().table; }

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
