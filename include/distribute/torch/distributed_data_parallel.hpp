#pragma once
/// Trains one libtorch module on all ranks of a job.

#include <distribute/base/config.hpp>
#include <distribute/torch/detail/outputs.hpp>
#include <distribute/torch/process_group.hpp>

#include <torch/torch.h>

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace distribute::torch {

struct DistributedDataParallelOptions {  // options of DistributedDataParallel
  /// Searches the graph of each output for parameters that will get no gradient. Without it every
  /// parameter must take part in each step's loss.
  bool find_unused_parameters = false;
  /// Gives all ranks the buffers of rank 0, such as batch norm's statistics, before each forward
  /// pass.
  bool broadcast_buffers = true;
  /// Lets the gradients of the parameters be views of the buckets, which saves a copy and memory.
  bool gradient_as_bucket_view = false;
  /// Is refused with UnimplementedError: PyTorch delays the first reduction of such graphs.
  bool static_graph = false;
  /// Size in MiB after which a bucket of gradients is closed and sent.
  double bucket_cap_mb = 25;
};

}  // namespace distribute::torch

namespace distribute::torch_internal {

/// Reduces the gradients of a module while they are computed. It is c10d::Reducer with what
/// PyTorch's Python code adds to it.
class GradientReducer {
 public:
  GradientReducer(const ::torch::nn::Module& module,
                  const torch::DistributedDataParallelOptions& options);
  GradientReducer(const GradientReducer&) = delete;
  GradientReducer& operator=(const GradientReducer&) = delete;
  ~GradientReducer();

  bool searches_outputs() const;
  void before_forward();
  void after_forward(const std::vector<::at::Tensor>& outputs);
  /// Returns whether backward passes reduce gradients.
  bool syncs() const;
  void set_syncs(bool syncs);
  /// Runs `train`, then takes part in the other ranks' steps until these have ended, too.
  void join(const std::function<void()>& train, bool divide_by_initial_world_size);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace distribute::torch_internal

namespace distribute::torch {

/// A module whose gradients are averaged over all ranks while the backward pass computes them. The
/// parameters and buffers of all ranks start with the values of rank 0. A loss that is a mean over
/// each rank's examples gives the gradients of the mean over all, if ranks have the same number.
///   DistributedDataParallel ddp(module);
///   auto loss = nll_loss(ddp(images), labels);
///   loss.backward();
/// `Holder` is a module of TORCH_MODULE or a shared_ptr of a module. One thread.
/// Throws  FailedPreconditionError before init_process_group(), and on all ranks when their
///         parameters or buffers differ in name, shape or type, with the first difference;
///         InvalidArgumentError without a parameter that requires a gradient. Later a lost or
///         failed rank causes an UnavailableError in backward().
/// Source  torch.nn.parallel.DistributedDataParallel
template <typename Holder>
class DistributedDataParallel : public ::torch::nn::Module {
 public:
  explicit DistributedDataParallel(Holder module,
                                   const DistributedDataParallelOptions& options = {})
      : ::torch::nn::Module("DistributedDataParallel"),
        module_(std::move(module)),
        reducer_(*module_, options) {
    register_module("module", torch_internal::shared_module(module_));
  }

  /// Calls the module's forward(), and prepares the backward pass for its result.
  template <typename... Inputs>
  auto forward(Inputs&&... inputs) {
    if (::torch::GradMode::is_enabled()) reducer_.before_forward();
    auto result = module_->forward(std::forward<Inputs>(inputs)...);
    if (::torch::GradMode::is_enabled())
      reducer_.after_forward(torch_internal::tensors_in(result, reducer_.searches_outputs()));
    return result;
  }
  template <typename... Inputs>
  auto operator()(Inputs&&... inputs) {
    return forward(std::forward<Inputs>(inputs)...);
  }
  /// Returns the module that was given.
  const Holder& module() const { return module_; }

  /// While the returned object lives, backward passes add to the gradients of this rank alone. The
  /// next pass after its end reduces their sum.
  /// Source  DistributedDataParallel.no_sync
  class [[nodiscard]] NoSync {
   public:
    explicit NoSync(DistributedDataParallel& ddp) : ddp_(ddp), before_(ddp.reducer_.syncs()) {
      ddp_.reducer_.set_syncs(false);
    }
    ~NoSync() { ddp_.reducer_.set_syncs(before_); }
    NoSync(const NoSync&) = delete;
    NoSync& operator=(const NoSync&) = delete;

   private:
    DistributedDataParallel& ddp_;
    const bool before_;
  };
  /// Returns the object that holds reductions back.
  NoSync no_sync() { return NoSync(*this); }

  /// Calls `train`, whose number of steps may differ between ranks: a rank whose `train` has
  /// returned adds zeros to the others' gradients until these are done. All ranks then get the
  /// parameters of the last one. Sums are divided by the number of ranks of the job, or by those
  /// that still train.
  /// Blocks  until `train` of all ranks has returned.
  /// Source  DistributedDataParallel.join
  void join(const std::function<void()>& train, bool divide_by_initial_world_size = true) {
    reducer_.join(train, divide_by_initial_world_size);
  }

 private:
  Holder module_;
  torch_internal::GradientReducer reducer_;
};

}  // namespace distribute::torch
