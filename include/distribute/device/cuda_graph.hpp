#pragma once
/// A GPU's work of a whole step, recorded once and launched again as one.

#include <distribute/base/config.hpp>
#include <distribute/device/cuda_memory.hpp>
#include <distribute/device/cuda_stream.hpp>

#include <cstdint>
#include <functional>
#include <memory>

namespace distribute {

/// An executable graph and the memory that its work uses. Moved-from is empty. Launches belong to
/// one thread at a time.
class CudaGraph {
 public:
  /// Calls `work`, for which the current stream of `device` is one of its own: what it is given is
  /// recorded and not run, while other threads go on with the device's stream. Tensors that the
  /// work makes keep their places for all launches; those that it reads must stay where they are.
  /// It may not copy from or to host memory, or wait.
  /// Throws  what `work` throws; FailedPreconditionError when it did something that cannot be
  ///         recorded, or when the stream records already.
  static CudaGraph capture(Device device, const std::function<void()>& work);

  CudaGraph(CudaGraph&& other) noexcept;
  CudaGraph& operator=(CudaGraph&& other) noexcept;
  ~CudaGraph();
  /// The driver's handle, which this object keeps, and its GPU.
  CudaHandle native() const { return native_; }
  Device device() const { return device_; }

  /// Queues the whole work on the device's current stream.
  void launch() const;

 private:
  CudaGraph(Device device, std::shared_ptr<GpuPool> pool)
      : device_(device), pool_(std::move(pool)) {}
  Device device_;
  std::shared_ptr<GpuPool> pool_;
  CudaHandle native_ = nullptr;
};

}  // namespace distribute
