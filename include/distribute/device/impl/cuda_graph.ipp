#pragma once
#include <distribute/base/error.hpp>
#include <distribute/device/detail/cuda_device.hpp>
#include <distribute/device/detail/cuda_graph.hpp>
#include <distribute/device/detail/cuda_state.hpp>
#include <distribute/device/detail/transposed_filter_cache.hpp>

#include <utility>

namespace distribute {

namespace device_internal {

void report_cuda(CudaResult result, const char* call) noexcept;  // cuda_stream.ipp

/// Ends a failed recording, and drops what it holds.
DISTRIBUTE_INLINE void drop_capture(CudaStreamRef stream) noexcept {
  const CudaDriver& driver = gpu_state().driver;
  CudaHandle graph = nullptr;
  driver.cuStreamEndCapture(stream.native(), &graph);
  if (graph) report_cuda(driver.cuGraphDestroy(graph), "cuGraphDestroy");
}

/// Records the work as a graph, which the caller destroys.
DISTRIBUTE_INLINE CudaHandle record_work(CudaStreamRef stream, const std::function<void()>& work) {
  // In the mode "relaxed" memory may be allocated during the recording.
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

DISTRIBUTE_INLINE CudaGraph CudaGraph::capture(Device device, const std::function<void()>& work,
                                               std::shared_ptr<CudaGraphLife> life) {
  const GpuGuard guard(device);
  if (current_stream(device).is_capturing())
    throw FailedPreconditionError("the stream of " + to_string(device) + " is being recorded");
  CudaGraph made(device, make_gpu_pool(device), std::move(life));
  CudaHandle graph = nullptr;
  {
    const CudaStream stream(device);
    const CudaStreamScope scope(stream);
    const GpuPoolScope pool(made.pool_);
    device_internal::FilterCapture filters(stream);
    graph = device_internal::record_work(stream, work);
    made.read_ = filters.end();
  }
  const CudaDriver& driver = cuda_driver();
  CudaHandle executable = nullptr;
  const CudaResult result = driver.cuGraphInstantiateWithFlags(&executable, graph, 0);
  device_internal::report_cuda(driver.cuGraphDestroy(graph), "cuGraphDestroy");
  check_cuda(result, "cuGraphInstantiateWithFlags", device);
  made.life_->begin(executable);
  return made;
}

DISTRIBUTE_INLINE CudaGraph::CudaGraph(CudaGraph&& other) noexcept = default;
DISTRIBUTE_INLINE CudaGraph& CudaGraph::operator=(CudaGraph&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(pool_, other.pool_);
  std::swap(life_, other.life_);
  std::swap(read_, other.read_);
  return *this;
}
DISTRIBUTE_INLINE CudaGraph::~CudaGraph() {
  if (life_) life_->drop();
}

DISTRIBUTE_INLINE void CudaGraph::launch() const {
  const GpuGuard guard(device_);
  life_->launch(current_stream(device_));
  device_internal::transposed_filter_cache(device_)
      .end_pass();  // variables may have changed in place
}

DISTRIBUTE_INLINE void CudaGraphLife::begin(CudaHandle executable) {
  {
    const std::lock_guard lock(mutex_);
    native_ = executable;
    if (!is_dropped_) return;
  }
  drop();
  throw AbortedError("what a graph holds was aborted while it was recorded");
}

DISTRIBUTE_INLINE void CudaGraphLife::launch(CudaStreamRef stream) {
  {
    const std::lock_guard lock(mutex_);
    if (is_dropped_) throw AbortedError("a graph is launched whose work was aborted");
    ++launching_;
  }
  const CudaResult result = cuda_driver().cuGraphLaunch(native_, stream.native());
  end_launch();
  check_cuda(result, "cuGraphLaunch", stream.device());
}

DISTRIBUTE_INLINE void CudaGraphLife::end_launch() noexcept {
  const bool goes = [&] {
    const std::lock_guard lock(mutex_);
    return --launching_ == 0 && is_dropped_;
  }();
  if (goes) drop();
}

DISTRIBUTE_INLINE void CudaGraphLife::drop() noexcept {
  const std::lock_guard lock(mutex_);
  is_dropped_ = true;
  if (launching_ > 0 || !native_) return;
  device_internal::report_cuda(device_internal::gpu_state().driver.cuGraphExecDestroy(native_),
                               "cuGraphExecDestroy");
  native_ = nullptr;
}

DISTRIBUTE_INLINE bool CudaGraphLife::is_dropped() const {
  const std::lock_guard lock(mutex_);
  return is_dropped_;
}
DISTRIBUTE_INLINE CudaHandle CudaGraphLife::native() const {
  const std::lock_guard lock(mutex_);
  return native_;
}

}  // namespace distribute
