#pragma once
/// An optimizer's formula for one step, as a function and as text.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <string>

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
           std::constructible_from<Function, F>) UpdateKernel(F&& function)
      : function_(std::forward<F>(function)) {}
  /// `description` is asked only where the formula has to travel.
  UpdateKernel(Function function, std::function<std::string()> description)
      : function_(std::move(function)), description_(std::move(description)) {}

  void operator()(size_t update, float* weights, float* const* slots, const float* gradient,
                  int64_t count) const {
    function_(update, weights, slots, gradient, count);
  }
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
  std::function<std::string()> description_;
};

}  // namespace distribute
