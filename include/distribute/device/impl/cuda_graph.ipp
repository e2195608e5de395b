#pragma once
#include <distribute/base/error.hpp>
#include <distribute/device/cuda_device.hpp>
#include <distribute/device/cuda_graph.hpp>
#include <distribute/device/detail/cuda_state.hpp>

#include <utility>

namespace distribute {

namespace device_internal {

void report_cuda(CudaResult result, const char* call) noexcept;  // cuda_stream.ipp

/// Ends a recording that went wrong, whatever it holds.
DISTRIBUTE_INLINE void drop_capture(CudaStreamRef stream) noexcept {
  const CudaDriver& driver = gpu_state().driver;
  CudaHandle graph = nullptr;
  driver.cuStreamEndCapture(stream.native(), &graph);
  if (graph) report_cuda(driver.cuGraphDestroy(graph), "cuGraphDestroy");
}

/// The recorded graph; the caller destroys it.
DISTRIBUTE_INLINE CudaHandle record_work(CudaStreamRef stream, const std::function<void()>& work) {
  // Relaxed: memory may be taken from the driver meanwhile.
  constexpr int kRelaxed = 2;
  const CudaDriver& driver = cuda_driver();
  check_cuda(driver.cuStreamBeginCapture(stream.native(), kRelaxed), "cuStreamBeginCapture",
             stream.device());
  try {
    work();
  } catch (...) {
    drop_capture(stream);
    throw;
  }
  CudaHandle graph = nullptr;
  const CudaResult result = driver.cuStreamEndCapture(stream.native(), &graph);
  if (result == kCudaSuccess && graph) return graph;
  throw FailedPreconditionError(str_cat("the step on ", to_string(stream.device()),
                                        " cannot be recorded (cuStreamEndCapture ", "gave ", result,
                                        "): did it wait for the device?"));
}

}  // namespace device_internal

DISTRIBUTE_INLINE CudaGraph CudaGraph::capture(Device device, const std::function<void()>& work) {
  const GpuGuard guard(device);
  if (current_stream(device).is_capturing())
    throw FailedPreconditionError("the stream of " + to_string(device) + " is being recorded");
  CudaGraph made(device, make_gpu_pool(device));
  CudaHandle graph = nullptr;
  {
    const CudaStream stream(device);
    const CudaStreamScope scope(stream);
    const GpuPoolScope pool(made.pool_);
    graph = device_internal::record_work(stream, work);
  }
  const CudaDriver& driver = cuda_driver();
  const CudaResult result = driver.cuGraphInstantiateWithFlags(&made.native_, graph, 0);
  device_internal::report_cuda(driver.cuGraphDestroy(graph), "cuGraphDestroy");
  check_cuda(result, "cuGraphInstantiateWithFlags", device);
  return made;
}

DISTRIBUTE_INLINE CudaGraph::CudaGraph(CudaGraph&& other) noexcept
    : device_(other.device_),
      pool_(std::move(other.pool_)),
      native_(std::exchange(other.native_, nullptr)) {}
DISTRIBUTE_INLINE CudaGraph& CudaGraph::operator=(CudaGraph&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(pool_, other.pool_);
  std::swap(native_, other.native_);
  return *this;
}
DISTRIBUTE_INLINE CudaGraph::~CudaGraph() {
  if (native_)
    device_internal::report_cuda(device_internal::gpu_state().driver.cuGraphExecDestroy(native_),
                                 "cuGraphExecDestroy");
}

DISTRIBUTE_INLINE void CudaGraph::launch() const {
  const GpuGuard guard(device_);
  check_cuda(cuda_driver().cuGraphLaunch(native_, current_stream(device_).native()),
             "cuGraphLaunch", device_);
}

}  // namespace distribute
