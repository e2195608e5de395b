#pragma once
/// Owns one rank of an NCCL group; NcclGroup guards its calls.

#include <distribute/base/config.hpp>
#include <distribute/collective/detail/nccl_library.hpp>
#include <distribute/collective/operation.hpp>
#include <distribute/device/detail/cuda_stream.hpp>
#include <distribute/net/deadline.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace distribute {
class CudaGraphLife;
}

namespace distribute::collective {

/// Returns the name of a new group; one rank makes it and passes it to all.
NcclUniqueId make_nccl_id();
/// Writes the id as text for a store; nccl_id_from() reads it.
/// Throws  InvalidArgumentError for other text.
std::string to_text(const NcclUniqueId& id);
NcclUniqueId nccl_id_from(const std::string& text);

/// Makes calls during its life start together, at end(): ranks that call for several peers or
/// devices one after the other then cannot wait for each other.
class [[nodiscard]] NcclGroup {
 public:
  NcclGroup();
  /// Ends the group unless end() was called, and ignores errors.
  ~NcclGroup();
  NcclGroup(const NcclGroup&) = delete;
  NcclGroup& operator=(const NcclGroup&) = delete;
  /// Throws  InternalError with NCCL's message.
  void end();

 private:
  bool open_ = true;
};

/// Aborts every communicator of the process; exit() calls it first.
void abort_nccl_communicators() noexcept;

/// One rank, on one GPU. Calls return before the work is done: it is queued on the stream. A
/// moved-from object is empty. Any thread may call abort(); other functions are used by one thread
/// at a time. Communicators that live when the program ends are aborted before the destructors of
/// the libraries.
class NcclCommunicator {
 public:
  /// Begins to connect to the other ranks; wait_ready() completes it.
  /// Throws  InternalError with NCCL's message and its likely cause, such as two ranks on one GPU.
  NcclCommunicator(NcclGroup& group, Device device, int rank, int size, const NcclUniqueId& id);
  NcclCommunicator(std::nullptr_t) = delete;
  NcclCommunicator(NcclCommunicator&& other) noexcept;
  NcclCommunicator& operator=(NcclCommunicator&&) = delete;
  ~NcclCommunicator();

  CudaHandle native() const { return native_; }
  CudaHandle release() { return native_.exchange(nullptr); }
  Device device() const { return device_; }
  int rank() const { return rank_; }
  int size() const { return size_; }

  /// Blocks  until the work that was begun has been queued on the device.
  /// Throws  DeadlineExceededError; UnavailableError when a peer or the network failed. `stop` is
  ///          called from time to time and may throw.
  void wait_ready(net::Deadline deadline, const std::function<void()>& stop = {}) const;
  /// Returns false while work is being queued.
  /// Throws  UnavailableError when the group failed.
  bool is_ready() const;
  /// Notes that the graph contains work of this rank. An abort drops the graph first, as NCCL waits
  /// until no graph holds work of a communicator that ends.
  void record_in(const std::shared_ptr<CudaGraphLife>& graph);
  /// Whether live graphs contain work of this rank.
  bool is_recorded() const;
  /// Ends all work on the device at once; the group is then broken for all ranks.
  void abort() noexcept;

  void all_reduce(NcclGroup&, const void* input, void* output, int64_t count, DType dtype,
                  ReductionOp op, CudaStreamRef stream) const;
  void reduce(NcclGroup&, const void* input, void* output, int64_t count, DType dtype,
              ReductionOp op, int root, CudaStreamRef stream) const;
  void reduce_scatter(NcclGroup&, const void* input, void* output, int64_t count_each, DType dtype,
                      ReductionOp op, CudaStreamRef stream) const;
  void all_gather(NcclGroup&, const void* input, void* output, int64_t count_each, DType dtype,
                  CudaStreamRef stream) const;
  void broadcast(NcclGroup&, const void* input, void* output, int64_t count, DType dtype, int root,
                 CudaStreamRef stream) const;
  void send(NcclGroup&, const void* data, int64_t count, DType dtype, int to,
            CudaStreamRef stream) const;
  void receive(NcclGroup&, void* data, int64_t count, DType dtype, int from,
               CudaStreamRef stream) const;

 private:
  struct State {
    std::mutex mutex;  // guards the graphs, and the destruction of the handle
    std::vector<std::weak_ptr<CudaGraphLife>> graphs;
  };
  void check(int result, const char* call) const;

  std::unique_ptr<State> state_ = std::make_unique<State>();
  std::atomic<CudaHandle> native_ = nullptr;
  Device device_;
  int rank_ = 0, size_ = 1;
};

}  // namespace distribute::collective
