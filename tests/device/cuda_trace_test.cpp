// Ranges for NVIDIA's profilers, with a profiler that is a part of this program.
#include <distribute/device/detail/cuda_trace.hpp>

#include "../support/catch.hpp"

#if DISTRIBUTE_HAS_CUDA && __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>

namespace {

std::vector<std::string> events;

int push(const char* name) {
  events.push_back(name);
  return 0;
}
int pop() {
  events.push_back("end");
  return 0;
}

/// NVTX asks it once, before the first range.
int attach(NvtxGetExportTableFunc_t get) {
  const auto* callbacks = static_cast<const NvtxExportTableCallbacks*>(get(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (!callbacks || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size))
    return 0;
  *table[NVTX_CBID_CORE_RangePushA] = reinterpret_cast<NvtxFunctionPointer>(push);
  *table[NVTX_CBID_CORE_RangePop] = reinterpret_cast<NvtxFunctionPointer>(pop);
  return 1;
}

/// The variable is NVTX's, weak in each object and one in the program.
[[maybe_unused]] const bool attached = [] {
  InitializeInjectionNvtx2_fnptr = attach;
  return true;
}();

}  // namespace

TEST_CASE("a trace is a range of a profiler's", "[device][cuda_trace]") {
  using distribute::profiler::experimental::Trace;
  events.clear();
  {
    const Trace outer("step 7");
    const Trace inner("forward");
  }
  CHECK(events == std::vector<std::string>{"step 7", "forward", "end", "end"});
}
#else
TEST_CASE("without CUDA's headers a trace does nothing", "[device][cuda_trace]") {
  CHECK_NOTHROW(distribute::profiler::experimental::Trace("step 7"));
}
#endif
