#pragma once
/// Names parts of a program for NVIDIA's profilers.

#include <distribute/base/config.hpp>

namespace distribute::profiler::experimental {

/// While it lives, the calling thread is in a range of this name (NVTX), which Nsight Systems shows
/// above the GPU's work: `nsys profile --trace=cuda,nvtx program`. Steps of strategies have such
/// ranges already. Without a profiler its cost is not measurable; in builds without CUDA's headers
/// it does nothing.
/// Source  tf.profiler.experimental.Trace
class [[nodiscard]] Trace {
 public:
  explicit Trace(const char* name);
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;
};

}  // namespace distribute::profiler::experimental
