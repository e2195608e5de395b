#pragma once
/// A GPU's work of a whole step, recorded once and launched again as one.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/cuda_memory.hpp>
#include <distribute/device/detail/cuda_stream.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace distribute {

/// The executable of a graph, for those whose work it holds: a communicator of NCCL can end only
/// when no executable holds its work any more. Thread-safe.
class CudaGraphLife {
 public:
  CudaGraphLife() = default;
  CudaGraphLife(const CudaGraphLife&) = delete;
  ~CudaGraphLife() { drop(); }
  /// Destroys the executable, now or when the launch under way has been queued. Launches throw from
  /// then on.
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

/// An executable graph and the memory that its work uses. Moved-from is empty. Launches belong to
/// one thread at a time.
class CudaGraph {
 public:
  /// Calls `work`, for which the current stream of `device` is one of its own: what it is given is
  /// recorded and not run, while other threads go on with the device's stream. Tensors that the
  /// work makes keep their places for all launches; those that it reads must stay where they are.
  /// It may not copy from or to host memory, or wait.
  /// Others may drop the graph by `life`.
  /// Throws  what `work` throws; FailedPreconditionError when it did something that cannot be
  ///         recorded, or when the stream records already; AbortedError when it was dropped.
  static CudaGraph capture(Device device, const std::function<void()>& work,
                           std::shared_ptr<CudaGraphLife> life = std::make_shared<CudaGraphLife>());

  CudaGraph(CudaGraph&& other) noexcept;
  CudaGraph& operator=(CudaGraph&& other) noexcept;
  ~CudaGraph();
  /// The driver's handle, which this object keeps, and its GPU.
  CudaHandle native() const { return life_ ? life_->native() : nullptr; }
  Device device() const { return device_; }

  /// Queues the whole work on the device's current stream.
  /// Throws  AbortedError when the graph was dropped.
  void launch() const;

 private:
  CudaGraph(Device device, std::shared_ptr<GpuPool> pool, std::shared_ptr<CudaGraphLife> life)
      : device_(device), pool_(std::move(pool)), life_(std::move(life)) {}
  Device device_;
  std::shared_ptr<GpuPool> pool_;
  std::shared_ptr<CudaGraphLife> life_;
  std::vector<std::shared_ptr<Buffer>> read_;  // memory of others, as long as the work reads it
};

}  // namespace distribute
