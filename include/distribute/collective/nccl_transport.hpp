#pragma once
/// Collectives between GPUs over NCCL.

#include <distribute/base/config.hpp>
#include <distribute/collective/nccl_communicator.hpp>
#include <distribute/collective/transport.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace distribute {
class ClusterRuntime;
}

namespace distribute::collective {

/// Arrays are on the rank's GPU. An operation begins after what the asking thread's stream was
/// given before, runs on the communication stream, and has ended on the device when execute()
/// returns. NCCL chooses the order of sums: the same for the same group and size, but not rank
/// order. Ranks that run different operations are found by the deadline alone.
class NcclTransport final : public Transport {
 public:
  /// The communicator must be ready. `stop` is asked while an operation waits and may throw.
  explicit NcclTransport(NcclCommunicator communicator, std::function<void()> stop = {});

  const char* name() const override { return "nccl"; }
  int rank() const override { return communicator_.rank(); }
  int size() const override { return communicator_.size(); }
  void execute(const Operation& operation) override;
  void announce(const Operation& operation) override;
  void abort(StatusCode code, const std::string& message) override;

 private:
  void enqueue(const Operation& operation, CudaStreamRef stream);
  void enqueue_parts(const Operation& operation, NcclGroup& group, CudaStreamRef stream);
  void wait_for_input(const Operation& operation, CudaStreamRef stream);
  void throw_if_aborted();

  NcclCommunicator communicator_;
  const std::function<void()> stop_;
  std::mutex mutex_;                         // guards all below
  std::map<uint64_t, CudaEvent> announced_;  // by sequence: when the input is there
  StatusCode abort_code_ = StatusCode::Ok;
  std::string abort_message_;
};

/// The ranks of a group inside this process, one for each device, in their order.
/// Throws  InvalidArgumentError when two logical devices share a GPU, which NCCL refuses.
std::vector<std::unique_ptr<Transport>> make_nccl_transports(std::span<const Device> devices,
                                                             net::Deadline deadline);

/// One rank of a group of several processes; rank 0 gives its id to the others through
/// `publish(text)`, they get it from `fetch()`: a rendezvous store's set and get.
std::unique_ptr<Transport> make_nccl_transport(
    Device device, int rank, int size, const std::function<void(const std::string&)>& publish,
    const std::function<std::string()>& fetch, net::Deadline deadline);

/// The same for the tasks of a job, as many GPUs each, ranks in the tasks' order: the id goes
/// through the runtime's store. `name` tells groups of one job apart. When a task is lost,
/// operations of the others throw the runtime's error.
std::vector<std::unique_ptr<Transport>> make_nccl_transports(
    const std::shared_ptr<ClusterRuntime>& runtime, std::span<const Device> devices,
    const std::string& name, net::Deadline deadline);

/// Why the job's GPUs, of which this task has `devices`, cannot be such a group: a task without
/// NCCL, two replicas on one GPU, several hosts whose traffic is to be encrypted. Empty when they
/// can; the same on all tasks, which all call it.
std::string nccl_group_problem(ClusterRuntime& runtime, std::span<const Device> devices);

}  // namespace distribute::collective

#ifdef DISTRIBUTE_HEADER_ONLY
#include <distribute/collective/impl/nccl_transport.ipp>
#endif
