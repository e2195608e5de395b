#pragma once
/// An optimizer's formula for one step: as a function, for GPUs, and as text.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/replica/detail/gpu_update.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace distribute {

/// Updates `count` neighbouring elements in place: weights and each slot from the gradient;
/// `update` is the number of the variable in the step. Must be elementwise, so that the elements of
/// a step may be dealt to threads in any way. A value.
class UpdateKernel {
 public:
  using Function = std::function<void(size_t update, float* weights, float* const* slots,
                                      const float* gradient, int64_t count)>;

  template <typename F>
  requires(!std::same_as<std::remove_cvref_t<F>, UpdateKernel> &&
           std::constructible_from<Function, F>) UpdateKernel(F&& function, GpuUpdate gpu = {})
      : function_(std::forward<F>(function)), gpu_(std::move(gpu)) {}
  /// `description` is asked only where the formula has to travel.
  UpdateKernel(UpdateKernel kernel, std::function<std::string()> description)
      : UpdateKernel(std::move(kernel)) {
    description_ = std::move(description);
  }

  void operator()(size_t update, float* weights, float* const* slots, const float* gradient,
                  int64_t count) const {
    function_(update, weights, slots, gradient, count);
  }
  /// The same step for variables on GPUs; without a row where there is none.
  const GpuUpdate& gpu() const { return gpu_; }
  /// On GPUs the numbers come from there, whatever they are when the kernel runs.
  void read_numbers_at(const kernels::UpdateNumbers* place) { gpu_.current = place; }
  /// Text from which another process makes the same kernel: optim::make_update_kernel(). To be
  /// asked while the optimizer lives.
  /// Throws  UnimplementedError for a kernel that is a mere function.
  std::string description() const {
    if (!description_)
      throw UnimplementedError("this optimizer has no description, so no server can apply it");
    return description_();
  }

 private:
  Function function_;
  GpuUpdate gpu_;
  std::function<std::string()> description_;
};

}  // namespace distribute
