#pragma once
/// What an optimizer's step is on a GPU: a row of formulas that kernels are made from.

#include <distribute/base/config.hpp>

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
  // By update: weights shrink by the first before the formula, whose gradient grows by the second
  // times the weights.
  std::vector<float> decay = {}, coupled_decay = {};
  bool keeps_average = false;  // the last slot is a moving average of the weights
  float average_momentum = 0;
};

}  // namespace distribute
