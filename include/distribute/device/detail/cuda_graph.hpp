#pragma once
/// All work of a GPU in a step, recorded once and launched again as one unit.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/cuda_memory.hpp>
#include <distribute/device/detail/cuda_stream.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace distribute {

/// Owns the executable of a graph. A communicator of NCCL can end only when no executable holds its
/// work, so it may drop the executable here. Thread-safe.
class CudaGraphLife {
 public:
  CudaGraphLife() = default;
  CudaGraphLife(const CudaGraphLife&) = delete;
  ~CudaGraphLife() { drop(); }
  /// Destroys the executable, now or as soon as the current launch has been queued. Later launches
  /// throw.
  void drop() noexcept;
  bool is_dropped() const;
  /// The driver's handle; null before the recording has ended, and when it was dropped.
  CudaHandle native() const;

 private:
  friend class CudaGraph;
  void begin(CudaHandle executable);
  void launch(CudaStreamRef stream);
  void end_launch() noexcept;

  mutable std::mutex mutex_;  // guards all below
  CudaHandle native_ = nullptr;
  bool is_dropped_ = false;
  int launching_ = 0;
};

/// An executable graph and the memory that its work uses. Moved-from is empty. One thread at a time
/// launches it.
class CudaGraph {
 public:
  /// Calls `work` with the current stream of `device` replaced by one of its own. Work that is
  /// queued there is recorded and not run; other threads go on with the device's usual stream.
  /// Tensors that the work makes keep their addresses for all launches; those that it reads must
  /// stay where they are. The work may not copy from or to host memory, or wait. `life` lets others
  /// drop the graph.
  /// Throws  what `work` throws; FailedPreconditionError when it did something that cannot be
  ///         recorded, or when the stream records already; AbortedError when it was dropped.
  static CudaGraph capture(Device device, const std::function<void()>& work,
                           std::shared_ptr<CudaGraphLife> life = std::make_shared<CudaGraphLife>());

  CudaGraph(CudaGraph&& other) noexcept;
  CudaGraph& operator=(CudaGraph&& other) noexcept;
  ~CudaGraph();
  /// The driver's handle, which this object owns, and the GPU.
  CudaHandle native() const { return life_ ? life_->native() : nullptr; }
  Device device() const { return device_; }

  /// Queues all recorded work on the device's current stream.
  /// Throws  AbortedError when the graph was dropped.
  void launch() const;

 private:
  CudaGraph(Device device, std::shared_ptr<GpuPool> pool, std::shared_ptr<CudaGraphLife> life)
      : device_(device), pool_(std::move(pool)), life_(std::move(life)) {}
  Device device_;
  std::shared_ptr<GpuPool> pool_;
  std::shared_ptr<CudaGraphLife> life_;
  std::vector<std::shared_ptr<Buffer>> read_;  // memory that the work reads, kept alive
};

}  // namespace distribute
