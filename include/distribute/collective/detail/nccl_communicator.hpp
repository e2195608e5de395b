#pragma once
/// Owner of one rank of an NCCL group, and the guard that every call of it needs.

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

/// A name for a new group, made by one rank and given to all.
NcclUniqueId make_nccl_id();
/// Writes the id as text for a store; the other function reads it. Throws  InvalidArgumentError for
/// other text.
std::string to_text(const NcclUniqueId& id);
NcclUniqueId nccl_id_from(const std::string& text);

/// Calls made while it lives start together, at end(): ranks that call for several peers or
/// devices one after the other cannot wait for each other.
class [[nodiscard]] NcclGroup {
 public:
  NcclGroup();
  /// Ends the group where end() was not called, and ignores what that gives.
  ~NcclGroup();
  NcclGroup(const NcclGroup&) = delete;
  NcclGroup& operator=(const NcclGroup&) = delete;
  /// Throws  InternalError with NCCL's words.
  void end();

 private:
  bool open_ = true;
};

/// Aborts every communicator of the process; what exit() calls first.
void abort_nccl_communicators() noexcept;

/// One rank, on one GPU. Calls return before the work is done: it is queued on the stream. Moved-
/// from is empty. abort() may come from any thread, else used by one thread at a time. What is left
/// when the program ends is aborted before the libraries' own cleaning up.
class NcclCommunicator {
 public:
  /// Begins to meet the other ranks; wait_ready() ends it.
  /// Throws  InternalError with NCCL's words and their likely cause, such as two ranks on one GPU.
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

  /// Blocks  until what was begun has been handed to the device.
  /// Throws  DeadlineExceededError; UnavailableError when a peer or the network failed. `stop` is
  ///         asked from time to time and may throw.
  void wait_ready(net::Deadline deadline, const std::function<void()>& stop = {}) const;
  /// Throws  UnavailableError when the group failed; false while something is under way.
  bool is_ready() const;
  /// The graph will hold work of this rank. It is dropped first at an abort, as NCCL waits until no
  /// graph holds work of a communicator that ends.
  void record_in(const std::shared_ptr<CudaGraphLife>& graph);
  /// True when graphs that live hold work of this rank.
  bool is_recorded() const;
  /// Ends everything on the device at once; the group is then lost, for all ranks.
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
    std::mutex mutex;  // guards the graphs, and the end of the handle
    std::vector<std::weak_ptr<CudaGraphLife>> graphs;
  };
  void check(int result, const char* call) const;

  std::unique_ptr<State> state_ = std::make_unique<State>();
  std::atomic<CudaHandle> native_ = nullptr;
  Device device_;
  int rank_ = 0, size_ = 1;
};

}  // namespace distribute::collective
