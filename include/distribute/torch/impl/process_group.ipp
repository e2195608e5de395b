#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/cluster/cluster_options.hpp>
#include <distribute/cluster/cluster_role.hpp>
#include <distribute/cluster/cluster_runtime.hpp>
#include <distribute/cluster/default_resolver.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/torch/detail/elastic_job.hpp>
#include <distribute/torch/process_group.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace distribute::torch_internal {

DISTRIBUTE_INLINE ClusterPlace find_place(const torch::InitProcessGroupOptions& options) {
  const auto implied = options.resolver ? nullptr : default_resolver().resolver;
  auto place = cluster_place(
      cluster_internal::role_to_join(options.resolver ? *options.resolver : *implied));
  if (place.task_type == TaskType::Evaluator)
    throw InvalidArgumentError(
        "init_process_group: this task is an evaluator, which is no rank; evaluate on rank 0");
  return place;
}

DISTRIBUTE_INLINE void join_elastic_job(ClusterTasks tasks, const ElasticSetup& setup,
                                        const CommunicationOptions& options) {
  const auto job = std::make_shared<ElasticJob>(std::move(tasks), setup, options);
  if (!job->next({}))
    throw AbortedError(
        "init_process_group: the other ranks had finished before this one could join");
  set_elastic_job(job);
}

/// Joins the job that the resolver tells of.
DISTRIBUTE_INLINE void join_job(const torch::InitProcessGroupOptions& options) {
  options.communication_options.check();
  const ElasticOptions limits =
      options.elastic ? *options.elastic : ElasticOptions::from_environment();
  auto place = find_place(options);
  check_elastic(limits, place);
  const std::string agreement = agreed_json({{"api", "torch"}});
  if (place.alone) {
    set_job(
        std::make_shared<Job>(std::shared_ptr<ClusterRuntime>(), options.communication_options));
  } else if (limits.min_workers > 0) {
    join_elastic_job(std::move(place.tasks), {limits, agreement}, options.communication_options);
  } else {
    const auto runtime = ClusterRuntime::join(std::move(place.tasks));
    runtime->agree("the options of the program", agreement);
    set_job(std::make_shared<Job>(runtime, options.communication_options));
  }
}

/// Calls the function by its name of the libtorch that is there.
template <typename Group>
auto start_reduce_scatter(Group& group, ::at::Tensor& output, ::at::Tensor& input,
                          const ::c10d::ReduceScatterOptions& options) {
  if constexpr (requires { group.reduce_scatter_single(output, input, options); })
    return group.reduce_scatter_single(output, input, options);
  else
    return group._reduce_scatter_base(output, input, options);
}

}  // namespace distribute::torch_internal

namespace distribute::torch {

DISTRIBUTE_INLINE void init_process_group(const InitProcessGroupOptions& options) {
  if (is_initialized())
    throw FailedPreconditionError(
        "init_process_group: this process has joined its job already; destroy_process_group() "
        "leaves it");
  torch_internal::join_job(options);
  [[maybe_unused]] static const int at_exit = std::atexit([] { destroy_process_group(); });
}

DISTRIBUTE_INLINE void destroy_process_group() {
  if (const auto job = torch_internal::job_or_null()) {
    torch_internal::set_job(nullptr);
    job->leave();
  }
  torch_internal::set_elastic_job(nullptr);
}

DISTRIBUTE_INLINE bool is_initialized() { return torch_internal::job_or_null() != nullptr; }
DISTRIBUTE_INLINE ProcessGroup get_group() { return torch_internal::job()->group(); }
DISTRIBUTE_INLINE int get_rank() { return get_group()->getRank(); }
DISTRIBUTE_INLINE int get_world_size() { return get_group()->getSize(); }
DISTRIBUTE_INLINE int get_local_rank() { return torch_internal::job()->local_rank(); }
DISTRIBUTE_INLINE std::string get_transport() { return torch_internal::job()->transport(); }
DISTRIBUTE_INLINE bool is_chief() { return get_rank() == 0; }

DISTRIBUTE_INLINE void all_reduce(Tensor tensor, ReduceOp op) {
  std::vector<Tensor> tensors{std::move(tensor)};
  get_group()->allreduce(tensors, {.reduceOp = op})->wait();
}

DISTRIBUTE_INLINE void broadcast(Tensor tensor, int src) {
  if (src < 0 || src >= get_world_size())
    throw InvalidArgumentError(
        str_cat("broadcast: there is no rank ", src, "; the job has ", get_world_size()));
  std::vector<Tensor> tensors{std::move(tensor)};
  get_group()->broadcast(tensors, {.rootRank = src})->wait();
}

DISTRIBUTE_INLINE std::vector<Tensor> all_gather(const Tensor& tensor) {
  std::vector<std::vector<Tensor>> outputs(1);
  for (int rank = 0; rank < get_world_size(); ++rank)
    outputs[0].push_back(::torch::empty_like(tensor));
  std::vector<Tensor> inputs{tensor};
  get_group()->allgather(outputs, inputs)->wait();
  return outputs[0];
}

DISTRIBUTE_INLINE Tensor reduce_scatter(const Tensor& tensor, ReduceOp op) {
  const int size = get_world_size();
  if (tensor.dim() == 0 || tensor.size(0) % size != 0)
    throw InvalidArgumentError(str_cat("reduce_scatter: the first axis of a tensor of ",
                                       tensor.dim() == 0 ? 0 : tensor.size(0),
                                       " rows is not divisible by ", size, " ranks"));
  auto shape = tensor.sizes().vec();
  shape[0] /= size;
  Tensor output = ::torch::empty(shape, tensor.options()), input = tensor;
  torch_internal::start_reduce_scatter(*get_group(), output, input, {.reduceOp = op})->wait();
  return output;
}

DISTRIBUTE_INLINE void barrier() { get_group()->barrier()->wait(); }

DISTRIBUTE_INLINE std::vector<std::string> all_gather_bytes(const std::string& bytes) {
  const auto lengths = all_gather(::torch::tensor({int64_t(bytes.size())}, ::torch::kInt64));
  int64_t longest = 1;
  for (const Tensor& length : lengths) longest = std::max(longest, length.item<int64_t>());
  Tensor mine = ::torch::zeros({longest}, ::torch::kUInt8);
  std::memcpy(mine.data_ptr(), bytes.data(), bytes.size());
  std::vector<std::string> all;
  for (const Tensor& each : all_gather(mine))
    all.emplace_back(static_cast<const char*>(each.data_ptr()),
                     size_t(lengths[all.size()].item<int64_t>()));
  return all;
}

DISTRIBUTE_INLINE std::string broadcast_bytes(const std::string& bytes, int src) {
  const Tensor length = ::torch::tensor({int64_t(bytes.size())}, ::torch::kInt64);
  broadcast(length, src);
  std::string all = get_rank() == src ? bytes : std::string(size_t(length.item<int64_t>()), '\0');
  if (!all.empty())
    broadcast(::torch::from_blob(all.data(), {int64_t(all.size())}, ::torch::kUInt8), src);
  return all;
}

DISTRIBUTE_INLINE void save_on_chief(const std::string& path,
                                     const std::function<std::string()>& bytes) {
  std::string problem;
  try {
    if (is_chief()) throw_if_error(io::write_file_atomically(path, bytes()));
  } catch (const std::exception& error) {
    problem = str_cat("save: ", path, ": ", error.what());
  }
  if (const std::string of_chief = all_gather_bytes(problem)[0]; !of_chief.empty())
    throw UnavailableError(of_chief);
}

}  // namespace distribute::torch
