#pragma once
/// Whole numbers that are saved with a training, such as the step.

#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>

#include <cstdint>
#include <string>

namespace distribute::train {

/// An int64 variable of this process alone, whatever the strategy.
Variable make_counter(const std::string& name, int64_t value = 0);
/// The value of any int64 scalar, a counter or an optimizer's iterations.
int64_t counter_value(const Variable& counter);

}  // namespace distribute::train
