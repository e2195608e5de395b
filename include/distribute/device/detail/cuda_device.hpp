#pragma once
/// The GPUs of this process, real and logical, and the guard that makes one current.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/cuda_driver.hpp>
#include <distribute/device/device_spec.hpp>
#include <distribute/device/placement.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace distribute {

/// The GPUs that CUDA_VISIBLE_DEVICES shows; empty without a driver or a GPU.
const std::vector<PhysicalGpu>& physical_gpus();
/// The logical GPUs: `Device{DeviceType::Gpu, i}` is the i-th. Each has its own streams and its own
/// cache of memory.
const std::vector<LogicalGpu>& logical_gpus();
/// Replaces the logical devices. To be called before the first tensor is on a GPU.
/// Throws  InvalidArgumentError for a GPU that does not exist; FailedPreconditionError when GPUs
///         are in use already.
void set_logical_gpus(std::vector<LogicalGpu> gpus);

/// Describes the GPU of a device.
/// Throws  InvalidArgumentError that says what is missing, for a device that this process lacks.
const PhysicalGpu& gpu_info(Device device);

/// The table of the driver. Throws  FailedPreconditionError with the reason when there is no
/// driver.
const CudaDriver& cuda_driver();
/// The version of CUDA that the driver can run, such as 13000; 0 without a driver.
int cuda_driver_version();
/// The table of the compiler. Throws  FailedPreconditionError with the reason when there is no
/// compiler.
const CudaCompiler& cuda_compiler();
/// The driver's context of a logical GPU.
CudaHandle cuda_context(Device device);

/// Checks the result of a call; does nothing on success. `details` says device and sizes.
/// Throws  ResourceExhaustedError when memory ran out, else InternalError. The message has the
///         call, the driver's text, the details and the likely cause.
void check_cuda(CudaResult result, const char* call, const std::string& details);
void check_cuda(CudaResult result, const char* call, Device device);

/// Makes a GPU current on the calling thread for the life of the object.
class [[nodiscard]] GpuGuard {
 public:
  explicit GpuGuard(Device device);
  ~GpuGuard();
  GpuGuard(const GpuGuard&) = delete;
  GpuGuard& operator=(const GpuGuard&) = delete;
};

/// Waits until the device has finished all its work.
void synchronize(Device device);

/// During tests, these tables replace the driver and the compiler for the life of the object.
class [[nodiscard]] ScopedCudaTables {
 public:
  ScopedCudaTables(const CudaDriver& driver, const CudaCompiler& compiler);
  ~ScopedCudaTables();
  ScopedCudaTables(const ScopedCudaTables&) = delete;
  ScopedCudaTables& operator=(const ScopedCudaTables&) = delete;

 private:
  void* previous_;
};

}  // namespace distribute
