#pragma once
/// Values of the cases of weight_cases.py.

#include "cases.hpp"

#include <distribute/nn/loss.hpp>
#include <distribute/nn/metrics.hpp>

#include <string>
#include <utility>
#include <vector>

namespace comparison {

namespace nn = dist::nn;

inline Tensor f32(const dist::Shape& shape, const std::vector<float>& values) {
  return Tensor(shape, values);
}
/// first, first + 1, ...
Tensor counted(const dist::Shape& shape, float first);

inline const std::vector<float> kMatrix{1, 2, 3, 4, 5, 6}, kRow{1, 3}, kFull{1, 2, 3, 3, 1, 1};
inline const std::vector<float> kStepsA{1, 2, 0, 0, 3, 0}, kStepsB{-1, 0, 0, 4, 0, -5},
    kSteps{1, 2, 0, 3, 0, 0}, kTargets{2, 2, 5, 1, 4, 6};
inline const std::vector<float> kWide{1, 2, 0, 0, 0, 1, 0, 0, 3, 1, 0, 0};

std::vector<std::pair<const char*, nn::Reduction>> reductions();
/// Sample weights for values [2, 3].
std::vector<std::pair<const char*, Tensor>> weights();

/// Arguments of update_state.
using Values = std::vector<Tensor>;

/// The result of a metric after these updates.
template <typename Metric>
void updated(const std::string& name, const std::vector<Values>& calls) {
  run_case(name, [&] {
    Metric metric;
    for (Values values : calls) {
      constexpr bool has_targets = requires { metric.update_state(Tensor(), Tensor(), Tensor()); };
      values.resize(has_targets ? 3 : 2);
      if constexpr (has_targets)
        metric.update_state(values[0], values[1], values[2]);
      else
        metric.update_state(values[0], values[1]);
    }
    return metric.result();
  });
}

void mask_cases();
void weighted_fit_cases();

}  // namespace comparison
