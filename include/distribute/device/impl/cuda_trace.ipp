#pragma once
#include <distribute/device/detail/cuda_trace.hpp>

#if DISTRIBUTE_HAS_CUDA && __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>

namespace distribute::profiler::experimental {

DISTRIBUTE_INLINE Trace::Trace(const char* name) { nvtxRangePushA(name); }
DISTRIBUTE_INLINE Trace::~Trace() { nvtxRangePop(); }

}  // namespace distribute::profiler::experimental

#else

namespace distribute::profiler::experimental {

DISTRIBUTE_INLINE Trace::Trace(const char*) {}
DISTRIBUTE_INLINE Trace::~Trace() {}

}  // namespace distribute::profiler::experimental
#endif
