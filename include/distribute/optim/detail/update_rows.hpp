#pragma once
/// The optimizers' formulas for one element, as GPUs run them.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/kernel_text.hpp>
#include <distribute/replica/gpu_update.hpp>

#include <cmath>
#include <cstring>
#include <type_traits>

namespace distribute::optim::optim_internal {

// clang-format off
DISTRIBUTE_KERNEL_TEXT(kUpdateRows,

struct SgdRow {
  float rate;
  void operator()(float& w, float*, float g) const { w -= g * rate; }
};
struct MomentumRow {
  float rate, factor;
  void operator()(float& w, float* slot, float g) const {
    slot[0] = slot[0] * factor - g * rate;
    w += slot[0];
  }
};
struct NesterovRow {
  float rate, factor;
  void operator()(float& w, float* slot, float g) const {
    slot[0] = slot[0] * factor - g * rate;
    w += slot[0] * factor - g * rate;
  }
};
struct AdamRow {
  float alpha, decay_1, decay_2, epsilon;
  void operator()(float& w, float* slot, float g) const {
    slot[0] += (g - slot[0]) * decay_1;
    slot[1] += (g * g - slot[1]) * decay_2;
    w -= slot[0] * alpha / (std::sqrt(slot[1]) + epsilon);
  }
};
struct AmsgradRow {
  float alpha, decay_1, decay_2, epsilon;
  void operator()(float& w, float* slot, float g) const {
    slot[0] += (g - slot[0]) * decay_1;
    slot[1] += (g * g - slot[1]) * decay_2;
    slot[2] = slot[2] > slot[1] ? slot[2] : slot[1];
    w -= slot[0] * alpha / (std::sqrt(slot[2]) + epsilon);
  }
};
// The slots after the first, with and without momentum and the mean gradient.
struct RmspropRow {
  float rate, rho, complement, momentum, epsilon, sums, mean;
  void operator()(float& w, float* slot, float g) const {
    slot[0] = rho * slot[0] + complement * (g * g);
    float denominator = slot[0] + epsilon;
    if (mean > 0) {
      float& average = slot[sums > 0 ? 2 : 1];
      average = rho * average + complement * g;
      denominator = slot[0] - average * average + epsilon;
    }
    const float step = rate * g / std::sqrt(denominator);
    if (sums > 0) slot[1] = momentum * slot[1] + step;
    w -= sums > 0 ? slot[1] : step;
  }
};
struct AdagradRow {
  float rate, epsilon;
  void operator()(float& w, float* slot, float g) const {
    slot[0] += g * g;
    w -= rate * g / std::sqrt(slot[0] + epsilon);
  }
};
)
// clang-format on

template <typename Row>
GpuFormula gpu_formula_of(const Row& row) {
  static_assert(std::is_trivially_copyable_v<Row> && sizeof(Row) <= 8 * sizeof(float));
  GpuFormula formula{
      {kUpdateRows, sizeof kUpdateRows - 1}, device_internal::unqualified_name<Row>(), {}};
  std::memcpy(formula.numbers.data(), &row, sizeof row);
  return formula;
}

}  // namespace distribute::optim::optim_internal
