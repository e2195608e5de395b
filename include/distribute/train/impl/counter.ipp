#pragma once
#include <distribute/train/seconds_or_steps.hpp>

#include <memory>

namespace distribute::train {

DISTRIBUTE_INLINE Variable make_counter(const std::string& name, int64_t value) {
  return Variable(std::make_shared<PlainVariable>(
      Tensor(value), VariableOptions{.name = name, .trainable = false}));
}

DISTRIBUTE_INLINE int64_t counter_value(const Variable& counter) {
  return counter.impl().read().item<int64_t>();
}

}  // namespace distribute::train
