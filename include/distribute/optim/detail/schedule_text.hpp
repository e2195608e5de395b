#pragma once
/// Schedules of learning rates written as JSON.

#include <distribute/base/config.hpp>
#include <distribute/optim/schedules.hpp>

#include <string>

namespace distribute::optim::optim_internal {

/// Gives {"module": ..., "class_name": ..., "config": {...}, "registered_name": null}, as Keras.
/// Throws  UnimplementedError that names `optimizer` for a function of the program's own.
std::string schedule_text(const LearningRate& rate, const std::string& optimizer);

/// Makes the schedule that schedule_text() or Keras wrote.
/// Throws  InvalidArgumentError for another text.
LearningRate schedule_of(const std::string& text);

}  // namespace distribute::optim::optim_internal
