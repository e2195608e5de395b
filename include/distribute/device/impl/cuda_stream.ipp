#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/device/detail/cuda_device.hpp>
#include <distribute/device/detail/cuda_state.hpp>
#include <distribute/device/detail/cuda_stream.hpp>

#include <utility>
#include <vector>

namespace distribute {

namespace device_internal {

inline constexpr unsigned kNonBlockingStream = 1, kEventWithoutTiming = 2;

/// The streams with which scopes of the calling thread replace the compute streams.
DISTRIBUTE_INLINE std::vector<CudaStreamRef>& stream_scopes() {
  return base_internal::in_thread_context<base_internal::ContextPlace{1, 2},
                                          std::vector<CudaStreamRef>>();
}

/// Reports an error without throwing, for destructors.
DISTRIBUTE_INLINE void report_cuda(CudaResult result, const char* call) noexcept {
  if (result != kCudaSuccess) log_warning("device", str_cat(call, " failed with ", result));
}

/// Destroys an object of a GPU. At the end of a program the driver may be gone before it.
DISTRIBUTE_INLINE void destroy_cuda(CudaResult (*destroy)(CudaHandle), CudaHandle native,
                                    Device device, const char* call) noexcept {
  if (!native) return;
  try {
    const GpuGuard guard(device);
    report_cuda(destroy(native), call);
  } catch (const Error& error) {
    log_warning("device", str_cat(call, ": ", error.what()));
  }
}

DISTRIBUTE_INLINE bool is_finished(CudaResult result, const char* call, Device device) {
  if (result == kCudaNotReady) return false;
  check_cuda(result, call, device);
  return true;
}

}  // namespace device_internal

DISTRIBUTE_INLINE void CudaEventRef::record(CudaStreamRef stream) const {
  const GpuGuard guard(device_);
  check_cuda(cuda_driver().cuEventRecord(native_, stream.native()), "cuEventRecord", device_);
}
DISTRIBUTE_INLINE bool CudaEventRef::is_done() const {
  const GpuGuard guard(device_);
  return device_internal::is_finished(cuda_driver().cuEventQuery(native_), "cuEventQuery", device_);
}
DISTRIBUTE_INLINE void CudaEventRef::synchronize() const {
  const GpuGuard guard(device_);
  check_cuda(cuda_driver().cuEventSynchronize(native_), "cuEventSynchronize", device_);
}
DISTRIBUTE_INLINE float CudaEventRef::elapsed_ms(CudaEventRef start) const {
  const GpuGuard guard(device_);
  float ms = 0;
  check_cuda(cuda_driver().cuEventElapsedTime(&ms, start.native(), native_), "cuEventElapsedTime",
             device_);
  return ms;
}

DISTRIBUTE_INLINE CudaEvent::CudaEvent(Device device, bool timing) : device_(device) {
  const GpuGuard guard(device);
  check_cuda(
      cuda_driver().cuEventCreate(&native_, timing ? 0 : device_internal::kEventWithoutTiming),
      "cuEventCreate", device);
}
DISTRIBUTE_INLINE CudaEvent::CudaEvent(CudaEvent&& other) noexcept
    : native_(std::exchange(other.native_, nullptr)), device_(other.device_) {}
DISTRIBUTE_INLINE CudaEvent& CudaEvent::operator=(CudaEvent&& other) noexcept {
  std::swap(native_, other.native_);
  std::swap(device_, other.device_);
  return *this;
}
DISTRIBUTE_INLINE CudaEvent::~CudaEvent() {
  device_internal::destroy_cuda(device_internal::gpu_state().driver.cuEventDestroy, native_,
                                device_, "cuEventDestroy");
}
DISTRIBUTE_INLINE CudaHandle CudaEvent::release() { return std::exchange(native_, nullptr); }
DISTRIBUTE_INLINE void CudaEvent::record(CudaStreamRef stream) const { ref().record(stream); }

DISTRIBUTE_INLINE void CudaStreamRef::wait(CudaEventRef event) const {
  const GpuGuard guard(device_);
  check_cuda(cuda_driver().cuStreamWaitEvent(native_, event.native(), 0), "cuStreamWaitEvent",
             device_);
}
DISTRIBUTE_INLINE void CudaStreamRef::wait(CudaStreamRef other) const {
  if (other == *this) return;
  const CudaEvent reached(other.device());
  reached.record(other);
  wait(reached.ref());  // the driver keeps the wait, so the event may be destroyed
}
DISTRIBUTE_INLINE void CudaStreamRef::synchronize() const {
  const GpuGuard guard(device_);
  check_cuda(cuda_driver().cuStreamSynchronize(native_), "cuStreamSynchronize", device_);
}
DISTRIBUTE_INLINE bool CudaStreamRef::is_done() const {
  const GpuGuard guard(device_);
  return device_internal::is_finished(cuda_driver().cuStreamQuery(native_), "cuStreamQuery",
                                      device_);
}
DISTRIBUTE_INLINE bool CudaStreamRef::is_capturing() const {
  const GpuGuard guard(device_);
  int status = 0;
  check_cuda(cuda_driver().cuStreamIsCapturing(native_, &status), "cuStreamIsCapturing", device_);
  return status != 0;
}

DISTRIBUTE_INLINE CudaStream::CudaStream(Device device, StreamPriority priority) : device_(device) {
  const GpuGuard guard(device);
  check_cuda(cuda_driver().cuStreamCreateWithPriority(&native_, device_internal::kNonBlockingStream,
                                                      priority == StreamPriority::High ? -1 : 0),
             "cuStreamCreateWithPriority", device);
}
DISTRIBUTE_INLINE CudaStream::CudaStream(CudaStream&& other) noexcept
    : native_(std::exchange(other.native_, nullptr)), device_(other.device_) {}
DISTRIBUTE_INLINE CudaStream& CudaStream::operator=(CudaStream&& other) noexcept {
  std::swap(native_, other.native_);
  std::swap(device_, other.device_);
  return *this;
}
DISTRIBUTE_INLINE CudaStream::~CudaStream() {
  device_internal::destroy_cuda(device_internal::gpu_state().driver.cuStreamDestroy, native_,
                                device_, "cuStreamDestroy");
}
DISTRIBUTE_INLINE CudaHandle CudaStream::release() { return std::exchange(native_, nullptr); }

DISTRIBUTE_INLINE CudaStreamRef current_stream(Device device) {
  const auto& scopes = device_internal::stream_scopes();
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope)
    if (scope->device() == device) return *scope;
  return {device_internal::gpu_lane(device).compute, device};
}
DISTRIBUTE_INLINE CudaStreamRef communication_stream(Device device) {
  return {device_internal::gpu_lane(device).communication, device};
}

DISTRIBUTE_INLINE CudaStreamScope::CudaStreamScope(CudaStreamRef stream) {
  device_internal::stream_scopes().push_back(stream);
}
DISTRIBUTE_INLINE CudaStreamScope::~CudaStreamScope() {
  device_internal::stream_scopes().pop_back();
}

}  // namespace distribute
