#pragma once
#include <distribute/base/error.hpp>
#include <distribute/device/detail/cuda_cupti.hpp>
#include <distribute/device/detail/cuda_library.hpp>

#include <type_traits>

namespace distribute::device_internal {

DISTRIBUTE_INLINE std::string load_cupti(CuptiTable& table, int driver) {
  std::string problem;
  void* library =
      open_cuda_library({.what = "CUPTI",
                         .files = files_for_driver({"libcupti.so.13", "libcupti.so.12"}, driver),
                         .package = "cuda-cupti-13-0 (nvidia-cuda-cupti)",
                         .folders = {"cu13", "cuda_cupti"}},
                        problem);
  if (!library) return problem;
  const auto load = [&](const char* name, auto& function) {
    void* found = cuda_symbol(library, name);
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(found);
    if (!found && problem.empty()) problem = str_cat("CUPTI: the library has no function ", name);
  };
  load("cuptiGetVersion", table.cuptiGetVersion);
  load("cuptiGetResultString", table.cuptiGetResultString);
  load("cuptiGetTimestamp", table.cuptiGetTimestamp);
  load("cuptiActivityRegisterCallbacks", table.cuptiActivityRegisterCallbacks);
  load("cuptiActivityEnable", table.cuptiActivityEnable);
  load("cuptiActivityGetNextRecord", table.cuptiActivityGetNextRecord);
  load("cuptiActivityFlushAll", table.cuptiActivityFlushAll);
  return problem;
}

}  // namespace distribute::device_internal
