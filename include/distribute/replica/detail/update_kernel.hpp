#pragma once
/// An optimizer's formula for one step in three forms: a function for the CPU, text for GPUs, and a
/// description for other processes.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/replica/detail/gpu_update.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace distribute {

/// Numbers of one step that its formula depends on, beside the optimizer's options.
struct StepNumbers {
  float rate = 0;
  int64_t done = 0;                // number of steps before this one
  std::vector<bool> decayed = {};  // for each update, whether its weights decay
  /// for each update, a factor of the learning rate; empty: 1 for all
  std::vector<float> factors = {};
  std::vector<float> ratios = {};  // for each update, a factor of its step; empty: 1 for all
};

/// What another process needs to make the same kernel with optim::make_update_kernel().
struct UpdateDescription {
  std::string optimizer;  // class and options as JSON, without the learning rate
  StepNumbers step = {};
};

/// Updates `count` neighbouring elements in place: the weights and each slot from the gradient.
/// `update` is the number of the variable in the step. A kernel must be elementwise, because the
/// elements of a step may be dealt to threads in any way. Kernels can be copied.
class UpdateKernel {
 public:
  using Function = std::function<void(size_t update, float* weights, float* const* slots,
                                      const float* gradient, int64_t count)>;

  template <typename F>
  requires(!std::same_as<std::remove_cvref_t<F>, UpdateKernel> &&
           std::constructible_from<Function, F>) UpdateKernel(F&& function, GpuUpdate gpu = {})
      : function_(std::forward<F>(function)), gpu_(std::move(gpu)) {}
  /// `description` is called only when another process has to apply the formula.
  UpdateKernel(UpdateKernel kernel, std::function<UpdateDescription()> description)
      : UpdateKernel(std::move(kernel)) {
    description_ = std::move(description);
  }

  void operator()(size_t update, float* weights, float* const* slots, const float* gradient,
                  int64_t count) const {
    function_(update, weights, slots, gradient, count);
  }
  /// The same step for variables on GPUs; its formula is empty when there is no GPU form.
  const GpuUpdate& gpu() const { return gpu_; }
  /// Makes GPUs read the step's numbers from `place` at the moment the kernel runs.
  void read_numbers_at(const kernels::UpdateNumbers* place) { gpu_.current = place; }
  /// Describes the step for a process that applies it to its own variables. Call it while the
  /// optimizer lives.
  /// Throws  UnimplementedError for a kernel that was made from a function alone.
  UpdateDescription description() const {
    if (!description_)
      throw UnimplementedError("this optimizer has no description, so no server can apply it");
    return description_();
  }

 private:
  Function function_;
  GpuUpdate gpu_;
  std::function<UpdateDescription()> description_;
};

}  // namespace distribute
