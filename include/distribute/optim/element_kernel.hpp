#pragma once
/// A function with which an optimizer changes each element in one step.

#include <distribute/base/config.hpp>
#include <distribute/replica/detail/gpu_update.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

namespace distribute::optim {

/// Updates `count` neighbouring elements of weights and slots in place; slots are in the order of
/// Optimizer::slots(). It must be elementwise, because threads take any parts of a variable. A
/// kernel can also hold the same formula for GPUs; without it the optimizer's variables must be on
/// the CPU. Kernels can be copied.
class ElementKernel {
 public:
  using Function = std::function<void(float* weights, float* const* slots, const float* gradient,
                                      int64_t count)>;

  template <typename F>
  requires(!std::same_as<std::remove_cvref_t<F>, ElementKernel> &&
           std::constructible_from<Function, F>) ElementKernel(F&& function, GpuFormula gpu = {})
      : function_(std::forward<F>(function)), gpu_(gpu) {}

  void operator()(float* weights, float* const* slots, const float* gradient, int64_t count) const {
    function_(weights, slots, gradient, count);
  }
  /// The same formula for GPUs.
  const GpuFormula& gpu() const { return gpu_; }

 private:
  Function function_;
  GpuFormula gpu_;
};

}  // namespace distribute::optim
