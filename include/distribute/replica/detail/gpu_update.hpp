#pragma once
/// What an optimizer's step is on a GPU: a row of formulas that kernels are made from.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/kernel_arguments.hpp>

#include <array>
#include <string_view>
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
  // Weights shrink by the first before the formula, whose gradient grows by the second times the
  // weights.
  float decay = 0, coupled_decay = 0;
  std::vector<bool> decays = {};  // by update: whether they do
  /// The numbers of one update, where updates differ: the formula's, and the decay of the weights.
  struct Own {
    std::array<float, 8> numbers = {};
    float decay = 0;
    bool operator==(const Own&) const = default;
  };
  std::vector<Own> own = {};
  bool keeps_average = false;  // the last slot is a moving average of the weights
  float average_momentum = 0;
  /// Where launches of a recorded step find their numbers(), on the GPU; else null.
  const kernels::UpdateNumbers* current = nullptr;

  /// What may be another at the next step.
  kernels::UpdateNumbers numbers() const;
};

inline kernels::UpdateNumbers GpuUpdate::numbers() const {
  kernels::UpdateNumbers now{{}, decay, average_momentum};
  for (size_t i = 0; i < formula.numbers.size(); ++i) now.row[i] = formula.numbers[i];
  return now;
}

}  // namespace distribute
