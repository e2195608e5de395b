#pragma once
/// Collectives between GPUs over NCCL.

#include <distribute/base/config.hpp>
#include <distribute/collective/detail/abort_state.hpp>
#include <distribute/collective/detail/nccl_communicator.hpp>
#include <distribute/collective/detail/transport.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace distribute::collective {

/// Runs collectives on arrays on the rank's GPU. NCCL chooses the order of sums: the same for the
/// same group and size, but not that of sum_order.hpp. Ranks that run different operations are
/// noticed only by the deadline.
/// 1. An operation begins after the work that the calling thread's stream was given before.
/// 2. It runs on the communication stream, and has ended on the device when execute() returns.
class NcclTransport final : public Transport {
 public:
  /// The communicator must be ready. `stop` is called while an operation waits and may throw.
  explicit NcclTransport(NcclCommunicator communicator, std::function<void()> stop = {});

  const char* name() const override { return "nccl"; }
  int rank() const override { return communicator_.rank(); }
  int size() const override { return communicator_.size(); }
  DISTRIBUTE_INLINE void execute(const Operation& operation) override;
  DISTRIBUTE_INLINE void announce(const Operation& operation) override;
  DISTRIBUTE_INLINE void record(const Operation& operation,
                                const std::shared_ptr<CudaGraphLife>& graph) override;
  DISTRIBUTE_INLINE void join_recorded() override;
  /// Aborts; as no thread waits for graphs, it also ends their work.
  DISTRIBUTE_INLINE void abort(StatusCode code, const std::string& message) override;

 private:
  void enqueue(const Operation& operation, CudaStreamRef stream);
  void enqueue_parts(const Operation& operation, NcclGroup& group, CudaStreamRef stream);
  void wait_for_input(const Operation& operation, CudaStreamRef stream);

  NcclCommunicator communicator_;
  const std::function<void()> stop_;
  AbortState aborted_;
  std::mutex calls_;                         // guards NCCL's calls for operations
  std::unique_ptr<CudaStream> beside_;       // of recorded operations; null before the first
  std::mutex mutex_;                         // guards the events
  std::map<uint64_t, CudaEvent> announced_;  // by sequence: completed when the input is ready
};

/// Makes the ranks of a group inside this process, one for each device, in their order.
/// Throws  InvalidArgumentError when two logical devices share a GPU, which NCCL refuses.
std::vector<std::unique_ptr<Transport>> make_nccl_transports(std::span<const Device> devices,
                                                             net::Deadline deadline);

/// Makes one rank of a group of several processes; rank 0 passes its id to the others by
/// `publish(text)`, they get it from `fetch()`: a store's set and get.
std::unique_ptr<Transport> make_nccl_transport(
    Device device, int rank, int size, const std::function<void(const std::string&)>& publish,
    const std::function<std::string()>& fetch, net::Deadline deadline);

/// Makes ranks `first`, `first + 1`, ... of a group of `size`, one for each device; `id` names the
/// group.
std::vector<std::unique_ptr<Transport>> meet_over_nccl(std::span<const Device> devices, int first,
                                                       int size, const NcclUniqueId& id,
                                                       net::Deadline deadline,
                                                       const std::function<void()>& stop = {});

/// Returns the name of a group: the rank with `makes` publishes it, the others fetch it.
NcclUniqueId share_nccl_id(bool makes, const std::function<void(const std::string&)>& publish,
                           const std::function<std::string()>& fetch);

}  // namespace distribute::collective
