#pragma once
#include <distribute/base/error.hpp>
#include <distribute/train/fit_options.hpp>

namespace distribute::train {

DISTRIBUTE_INLINE ValidationFrequency::ValidationFrequency(int64_t every) : every_(every) {
  if (every < 1)
    throw InvalidArgumentError(concat("validation_freq: expected at least 1, it is ", every));
}

}  // namespace distribute::train
