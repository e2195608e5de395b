#pragma once
/// An optimizer's step on a GPU: a formula, as text, that kernels are made from.

#include <distribute/base/config.hpp>

#include <array>
#include <string_view>
#include <vector>

namespace distribute::kernels {
struct UpdateNumbers;
}

namespace distribute {

/// An optimizer's formula: a structure of floats in kernel text with operator()(float& weight,
/// float* slots, float g).
struct GpuFormula {
  std::string_view rows = {}, row = {};  // text and name of the structure; empty without a GPU form
  std::array<float, 8> numbers = {};     // values of the structure's members
};

/// A formula together with the decay and averaging that every optimizer may add to it.
struct GpuUpdate {
  GpuFormula formula = {};
  // decay shrinks the weights before the formula; coupled_decay times the weights is added to the
  // gradient that the formula gets.
  float decay = 0, coupled_decay = 0;
  std::vector<bool> decays = {};  // for each update, whether its weights decay
  /// The numbers of one update, where updates differ: those of the formula, and the decay of the
  /// weights.
  struct Own {
    std::array<float, 8> numbers = {};
    float decay = 0;
    bool operator==(const Own&) const = default;
  };
  std::vector<Own> own = {};
  bool keeps_average = false;  // the last slot is a moving average of the weights
  float average_momentum = 0;
  /// The place on the GPU where launches of a recorded step read their numbers(); null outside of
  /// recorded steps.
  const kernels::UpdateNumbers* current = nullptr;

  /// The numbers that may differ from one step to the next.
  kernels::UpdateNumbers numbers() const;
};

}  // namespace distribute
