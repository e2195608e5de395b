#pragma once
/// What an optimizer's step is on a GPU: a row of formulas that kernels are made from.

#include <distribute/base/config.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace distribute {

/// A structure of floats in kernel text with operator()(float& weight, float* slots, float g).
struct GpuFormula {
  std::string_view rows = {}, row = {};  // its text and its name; empty: there is none
  std::array<float, 8> numbers = {};     // its members
};

/// A formula and what every optimizer does around it.
struct GpuUpdate {
  GpuFormula formula = {};
  std::vector<float> decay = {};  // by update: weights shrink by this fraction before the formula
  bool keeps_average = false;     // the last slot is a moving average of the weights
  float average_momentum = 0;
};

/// Updates `count` neighbouring elements in place: weights and each slot from the gradient. Must be
/// elementwise, so that the elements of a step may be dealt to threads in any way.
class UpdateKernel {
 public:
  template <typename Fn>
  requires std::is_invocable_v<Fn&, size_t, float*, float* const*, const float*, int64_t>
  UpdateKernel(Fn loop, GpuUpdate gpu = {}) : loop_(std::move(loop)), gpu_(std::move(gpu)) {}
  void operator()(size_t update, float* weights, float* const* slots, const float* gradient,
                  int64_t count) const {
    loop_(update, weights, slots, gradient, count);
  }
  const GpuUpdate& gpu() const { return gpu_; }

 private:
  std::function<void(size_t, float*, float* const*, const float*, int64_t)> loop_;
  GpuUpdate gpu_;
};

}  // namespace distribute
