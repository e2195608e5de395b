#pragma once
#include <distribute/base/error.hpp>
#include <distribute/torch/distributed_data_parallel.hpp>

#include <torch/csrc/distributed/c10d/debug.h>
#include <torch/csrc/distributed/c10d/comm.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace distribute::torch_internal {

/// A parameter or buffer with its name in the module.
struct NamedTensor {
  std::string name;
  ::at::Tensor tensor;

  /// Returns a line such as "conv.weight [10, 1, 5, 5] Float".
  std::string text() const {
    std::ostringstream line;
    line << name << " " << tensor.sizes() << " " << ::c10::toString(tensor.scalar_type());
    return line.str();
  }
};

DISTRIBUTE_INLINE std::vector<NamedTensor> trained_parameters(const ::torch::nn::Module& module) {
  std::vector<NamedTensor> all;
  for (const auto& item : module.named_parameters())
    if (item.value().requires_grad()) all.push_back({item.key(), item.value()});
  if (all.empty())
    throw InvalidArgumentError(
        "DistributedDataParallel: the module has no parameter that requires a gradient");
  return all;
}

/// Returns the weights whose gradients have only the rows of the words that occurred.
DISTRIBUTE_INLINE std::unordered_set<const ::at::TensorImpl*> sparse_weights(
    const ::torch::nn::Module& module) {
  std::unordered_set<const ::at::TensorImpl*> all;
  const auto add = [&](const ::torch::nn::Module& part) {
    if (const auto* table = part.as<::torch::nn::EmbeddingImpl>(); table && table->options.sparse())
      all.insert(table->weight.unsafeGetTensorImpl());
    if (const auto* bag = part.as<::torch::nn::EmbeddingBagImpl>(); bag && bag->options.sparse())
      all.insert(bag->weight.unsafeGetTensorImpl());
  };
  add(module);
  for (const auto& part : module.modules(/*include_self=*/false)) add(*part);
  return all;
}

/// Parameters and buffers of the whole module, with and without gradients.
DISTRIBUTE_INLINE std::vector<NamedTensor> whole_state(const ::torch::nn::Module& module) {
  std::vector<NamedTensor> all;
  for (const auto& item : module.named_parameters()) all.push_back({item.key(), item.value()});
  for (const auto& item : module.named_buffers()) all.push_back({item.key(), item.value()});
  return all;
}

DISTRIBUTE_INLINE std::vector<::at::Tensor> tensors_of(const std::vector<NamedTensor>& named) {
  std::vector<::at::Tensor> all;
  for (const NamedTensor& each : named) all.push_back(each.tensor.detach());
  return all;
}

DISTRIBUTE_INLINE std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// Throws  FailedPreconditionError on all ranks with the first difference between rank 0 and
///         another one.
DISTRIBUTE_INLINE void check_equal_on_ranks(const std::vector<NamedTensor>& named) {
  std::string mine;
  for (const NamedTensor& each : named) mine += each.text() + "\n";
  const auto all = torch::all_gather_bytes(mine);
  for (size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] == all[0]) continue;
    const auto first = lines_of(all[0]), other = lines_of(all[rank]);
    size_t i = 0;
    while (i < first.size() && i < other.size() && first[i] == other[i]) ++i;
    const auto shown = [&](const auto& lines) { return i < lines.size() ? lines[i] : "nothing"; };
    throw FailedPreconditionError(
        str_cat("DistributedDataParallel: the modules of the ranks differ: rank 0 has ",
                shown(first), ", rank ", rank, " has ", shown(other), " (number ", i + 1,
                " of parameters and buffers); all ranks must make the same module"));
  }
}

/// Makes a reducer with the constructor of the libtorch that is there: newer ones take further
/// arguments, older ones the limits of the buckets' sizes.
template <typename Buckets, typename... Known>
std::unique_ptr<::c10d::Reducer> make_reducer(const std::vector<::at::Tensor>& parameters,
                                              const Buckets& buckets, const Known&... known) {
  using R = ::c10d::Reducer;
  using All = std::vector<::at::Tensor>;
  using Limits = std::vector<size_t>;
  using Sizes = std::vector<int64_t>;
  const auto& [indices, limits] = buckets;
  using Indices = std::vector<std::vector<size_t>>;
  if constexpr (std::is_constructible_v<R, All, Indices, Known..., bool, bool, Sizes, bool, bool>)
    return std::make_unique<R>(parameters, indices, known..., false, false, Sizes(), false, false);
  else if constexpr (std::is_constructible_v<R, All, Indices, Known..., bool, bool, Sizes>)
    return std::make_unique<R>(parameters, indices, known..., false, false, Sizes());
  else if constexpr (std::is_constructible_v<R, All, Indices, Limits, Known..., bool, bool>)
    return std::make_unique<R>(parameters, indices, limits, known..., false, false);
  else
    return std::make_unique<R>(parameters, indices, limits, known...);
}

/// While it lives, reducers are made that name parameters in errors.
class NamesInErrors {
 public:
  NamesInErrors() : before_(::c10d::debug_level()) {
    if (before_ == ::c10d::DebugLevel::Off) ::c10d::setDebugLevel(::c10d::DebugLevel::Info);
  }
  NamesInErrors(const NamesInErrors&) = delete;
  NamesInErrors& operator=(const NamesInErrors&) = delete;
  ~NamesInErrors() { ::c10d::setDebugLevel(before_); }

 private:
  const ::c10d::DebugLevel before_;
};

struct GradientReducer::Impl {
  torch::DistributedDataParallelOptions options;
  torch::ProcessGroup group = torch::get_group();
  std::vector<NamedTensor> state, parameters;
  std::vector<::at::Tensor> buffers;
  std::unordered_set<const ::at::TensorImpl*> sparse_weights;
  std::unique_ptr<::c10d::Reducer> reducer;
  bool syncs = true;       // whether backward passes reduce gradients
  bool broadcasts = true;  // whether the next forward pass may broadcast buffers
  bool joinable = false;   // inside of join()
  bool divide_by_all = true;

  void make() {
    std::vector<::at::Tensor> all;
    std::vector<bool> sparse;
    std::unordered_map<size_t, std::string> names;
    for (const NamedTensor& each : parameters) {
      names[all.size()] = each.name;
      all.push_back(each.tensor);
      sparse.push_back(sparse_weights.count(each.tensor.unsafeGetTensorImpl()) != 0);
    }
    const auto cap = int64_t(options.bucket_cap_mb * 1024 * 1024);
    const int64_t first_cap = std::min<int64_t>(cap, ::c10d::kDefaultFirstBucketBytes);
    // The last layer's gradients are ready first.
    auto buckets = ::c10d::compute_bucket_assignment_by_size(
        all,
        options.find_unused_parameters ? std::vector<size_t>{size_t(first_cap), size_t(cap)}
                                       : std::vector<size_t>{std::numeric_limits<size_t>::max()},
        sparse);
    auto& [indices, limits] = buckets;
    std::reverse(indices.begin(), indices.end());
    std::reverse(limits.begin(), limits.end());
    const NamesInErrors named;
    reducer = make_reducer(all, buckets, group, sparse, cap, options.find_unused_parameters,
                           options.gradient_as_bucket_view, names, first_cap);
  }

  void broadcast(const std::vector<::at::Tensor>& tensors, int root) const {
    constexpr size_t kBytes = 250 * 1024 * 1024;
    ::c10d::broadcast_coalesced(group, tensors, kBytes, root);
  }

  /// Sums a number over the ranks; the work ends when the tensor has the sum.
  std::pair<::c10::intrusive_ptr<::c10d::Work>, ::at::Tensor> start_sum(int64_t number) const {
    std::vector<::at::Tensor> one{::torch::tensor({number}, ::torch::kInt64)};
    return {group->allreduce(one), one[0]};
  }
  int64_t sum(int64_t number) const {
    const auto [work, tensor] = start_sum(number);
    work->wait();
    return tensor.item<int64_t>();
  }
  /// Returns the highest of the ranks' numbers.
  int highest(int number) const {
    ::at::Tensor one = ::torch::tensor({int64_t(number)}, ::torch::kInt64);
    torch::all_reduce(one, ::c10d::ReduceOp::MAX);
    return int(one.item<int64_t>());
  }

  bool broadcasts_now() const {
    return options.broadcast_buffers && broadcasts && !buffers.empty();
  }
  /// Gives all ranks the buffers of rank 0; while ranks join, of the highest that still trains.
  void broadcast_buffers(bool trains) const {
    if (!broadcasts_now()) return;
    broadcast(buffers, joinable ? highest(trains ? group->getRank() : -1) : 0);
  }

  /// Takes part in one step of the ranks that still train.
  void shadow_step() {
    reducer->rebuild_buckets();
    broadcast_buffers(false);
    broadcasts = sum(0) != 0;  // whether the others reduce gradients in this step
    if (!broadcasts) return;
    for (const auto& bucket : reducer->get_grad_buckets(true))
      reducer->run_comm_hook(const_cast<::c10d::GradBucket&>(bucket))->waitAndThrow();
    if (options.find_unused_parameters) {
      std::vector<::at::Tensor> used{reducer->get_local_used_map_on_device()};
      group->allreduce(used)->wait();
    }
    reducer->push_rebuilt_params_for_all_indices();
  }

  /// Takes part in the others' steps until all have ended; returns whether this rank was among the
  /// last.
  bool shadow_others() {
    bool last = true;
    while (sum(0) != 0) {
      last = false;
      shadow_step();
    }
    return last;
  }
};

DISTRIBUTE_INLINE GradientReducer::GradientReducer(
    const ::torch::nn::Module& module, const torch::DistributedDataParallelOptions& options)
    : impl_(std::make_unique<Impl>()) {
  if (!(options.bucket_cap_mb > 0))
    throw InvalidArgumentError(str_cat("DistributedDataParallel: bucket_cap_mb is ",
                                       options.bucket_cap_mb, "; it must be above 0"));
  if (options.static_graph)
    throw UnimplementedError(
        "DistributedDataParallel: static_graph is not supported; without it the gradients are the "
        "same, and find_unused_parameters serves steps that leave parameters out");
  impl_->options = options;
  impl_->state = whole_state(module);
  impl_->parameters = trained_parameters(module);
  for (const auto& buffer : module.buffers()) impl_->buffers.push_back(buffer);
  impl_->sparse_weights = sparse_weights(module);
  check_equal_on_ranks(impl_->state);
  impl_->broadcast(tensors_of(impl_->state), 0);
  impl_->make();
}

DISTRIBUTE_INLINE GradientReducer::~GradientReducer() = default;

DISTRIBUTE_INLINE bool GradientReducer::searches_outputs() const {
  return impl_->options.find_unused_parameters;
}
DISTRIBUTE_INLINE bool GradientReducer::syncs() const { return impl_->syncs; }
DISTRIBUTE_INLINE void GradientReducer::set_syncs(bool syncs) { impl_->syncs = syncs; }

/// Throws  FailedPreconditionError in place of libtorch's error about parameters without gradients,
///         else `error`.
[[noreturn]] DISTRIBUTE_INLINE void throw_shortened(const ::c10::Error& error) {
  const std::string text = error.what_without_backtrace(), key = "did not receive grad for rank ";
  const size_t found = text.find(key), names = text.find(": ", found);
  if (found == std::string::npos || names == std::string::npos) throw error;
  throw FailedPreconditionError(
      str_cat("DistributedDataParallel: parameters got no gradient in the last backward pass: ",
              text.substr(names + 2, text.find('\n', names) - names - 2),
              "; let each one take part in the loss, or set find_unused_parameters"));
}

DISTRIBUTE_INLINE void GradientReducer::before_forward() {
  Impl& all = *impl_;
  if (all.syncs) all.reducer->prepare_for_forward();
  if (all.joinable)
    all.reducer->set_forward_pass_work_handle(all.start_sum(1).first, all.divide_by_all);
  try {
    all.reducer->rebuild_buckets();
  } catch (const ::c10::Error& error) {
    throw_shortened(error);
  }
  all.broadcast_buffers(true);
  if (all.joinable) all.sum(all.syncs);
}

DISTRIBUTE_INLINE void GradientReducer::after_forward(const std::vector<::at::Tensor>& outputs) {
  impl_->broadcasts = impl_->syncs;
  if (impl_->syncs) impl_->reducer->prepare_for_backward(outputs);
}

DISTRIBUTE_INLINE void GradientReducer::join(const std::function<void()>& train,
                                             bool divide_by_initial_world_size) {
  Impl& all = *impl_;
  all.joinable = true;
  all.divide_by_all = divide_by_initial_world_size;
  train();
  const bool last = all.shadow_others();
  all.broadcast(tensors_of(all.state), all.highest(last ? all.group->getRank() : -1));
  all.joinable = false;
}

}  // namespace distribute::torch_internal
