#pragma once
#include <distribute/device/detail/cuda_activity.hpp>
#include <distribute/device/detail/cuda_library.hpp>

namespace distribute::device_internal {

DISTRIBUTE_INLINE std::string load_cupti(CuptiTable& table, int driver) {
  return load_cuda_functions(
      {.what = "CUPTI",
       .files = files_for_driver({"libcupti.so.13", "libcupti.so.12"}, driver),
       .package = "cuda-cupti-13-0 (nvidia-cuda-cupti)",
       .folders = {"cu13", "cuda_cupti"}},
      {{"cuptiGetVersion", table.cuptiGetVersion},
       {"cuptiGetResultString", table.cuptiGetResultString},
       {"cuptiGetTimestamp", table.cuptiGetTimestamp},
       {"cuptiActivityRegisterCallbacks", table.cuptiActivityRegisterCallbacks},
       {"cuptiActivityEnable", table.cuptiActivityEnable},
       {"cuptiActivityGetNextRecord", table.cuptiActivityGetNextRecord},
       {"cuptiActivityFlushAll", table.cuptiActivityFlushAll}});
}

}  // namespace distribute::device_internal
