#pragma once
/// Joins the processes of a job, and moves libtorch's tensors between them.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/exit_status.hpp>
#include <distribute/cluster/cluster_options.hpp>
#include <distribute/cluster/cluster_resolver.hpp>
#include <distribute/collective/communication_options.hpp>

#include <torch/torch.h>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace distribute::torch {

using Tensor = ::torch::Tensor;
using ProcessGroup = ::c10::intrusive_ptr<::c10d::ProcessGroup>;
using ReduceOp = ::c10d::ReduceOp;

struct InitProcessGroupOptions {  // options of init_process_group()
  /// Finds the tasks of the job; null selects the resolver that fits the environment. It must live
  /// until the function returns.
  const ClusterResolver* resolver = nullptr;
  CommunicationOptions communication_options = {};
  /// With min_workers ranks may join and leave, which elastic::run() handles. Unset:
  /// DISTRIBUTE_MIN_WORKERS decides, which `distribute run --min-np` sets.
  std::optional<ElasticOptions> elastic = {};
};

/// Joins the job of `distribute run`, TF_CONFIG, torchrun, mpirun, Slurm and others; without any of
/// them the job has only this process. Chief and workers of a cluster are the ranks, in this order.
/// A process that ends without destroy_process_group() calls it then.
/// Blocks  until all ranks have called it, at most DISTRIBUTE_STARTUP_TIMEOUT.
/// Throws  FailedPreconditionError for a second call; what ClusterRuntime::join throws.
/// Source  torch.distributed.init_process_group
void init_process_group(const InitProcessGroupOptions& options = {});
/// Leaves the job. A second call does nothing.
/// Blocks  until all ranks have called it, at most DISTRIBUTE_SHUTDOWN_TIMEOUT.
/// Source  torch.distributed.destroy_process_group
void destroy_process_group();
bool is_initialized();

/// The functions below throw FailedPreconditionError before init_process_group().

/// Returns the group of all ranks for functions of libtorch; its backend is called "distribute".
/// The group must not be used after destroy_process_group().
ProcessGroup get_group();
int get_rank();
int get_world_size();
/// Returns this rank's number among the ranks of its host.
int get_local_rank();
/// Returns what carries the bytes: "shm", "tcp", ...
std::string get_transport();
/// Returns whether this process writes the files of the job; it is rank 0.
bool is_chief();

/// The collectives below are called by all ranks in the same order, with tensors in host memory of
/// the same shape and type. float64 and integers of 8 and 16 bits travel whole to every rank, which
/// costs more than the other types.
/// Blocks  until this rank's part is done.
/// Throws  InvalidArgumentError for tensors and operations that are not supported;
///         FailedPreconditionError when ranks call different collectives; UnavailableError when a
///         rank is lost.
/// Source  torch.distributed

/// Reduces over all ranks in place. The operations are SUM, AVG, MIN, MAX and PRODUCT.
void all_reduce(Tensor tensor, ReduceOp op = ReduceOp::SUM);
/// Gives all ranks the tensor of rank `src`.
void broadcast(Tensor tensor, int src = 0);
/// Returns the tensors of all ranks, in rank order.
std::vector<Tensor> all_gather(const Tensor& tensor);
/// Reduces the tensor of shape [world size * n, ...]; each rank gets its n rows.
Tensor reduce_scatter(const Tensor& tensor, ReduceOp op = ReduceOp::SUM);
void barrier();
/// Returns the bytes of all ranks, which may differ in length, in rank order.
std::vector<std::string> all_gather_bytes(const std::string& bytes);
/// Returns the bytes of rank `src`.
std::string broadcast_bytes(const std::string& bytes, int src = 0);

/// Lets the chief write what `bytes` returns as the file `path`, which appears whole or not at all.
/// All ranks call it, and return when the file is there. The others write nothing.
/// Throws  on all ranks what `bytes` throws, or why the file cannot be written; `path` is then as
///         it was.
void save_on_chief(const std::string& path, const std::function<std::string()>& bytes);

/// Saves `value` as ::torch::save does, once for all ranks; see save_on_chief().
/// Source  torch.save
template <typename Value>
void save(const Value& value, const std::string& path) {
  save_on_chief(path, [&] {
    std::ostringstream stream;
    ::torch::save(value, stream);
    return std::move(stream).str();
  });
}

/// Runs `body` for main() as distribute::run_main() does, and shows errors of libtorch without the
/// calls that led to them.
template <std::invocable Body>
int run_main(Body&& body) {
  return distribute::run_main([&] {
    try {
      return body();
    } catch (const ::c10::Error& error) {
      throw InternalError(error.what_without_backtrace());
    }
  });
}

}  // namespace distribute::torch
