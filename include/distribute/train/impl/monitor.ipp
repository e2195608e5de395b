#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/train/model.hpp>
#include <distribute/train/monitored_callbacks.hpp>

#include <cmath>
#include <utility>

namespace distribute::train {

DISTRIBUTE_INLINE Monitor::Monitor(std::string owner, std::string name, MonitorMode mode,
                                   double min_delta)
    : owner_(std::move(owner)),
      name_(std::move(name)),
      mode_(mode),
      larger_(mode == MonitorMode::Max),
      min_delta_(std::abs(min_delta)) {
  if (std::isnan(min_delta)) throw InvalidArgumentError(owner_ + ": min_delta is NaN");
}

DISTRIBUTE_INLINE void Monitor::begin(const Model& model) {
  if (mode_ != MonitorMode::Auto) return;
  using nn::metrics::Direction;
  const Direction direction = model.direction_of(name_);
  if (direction == Direction::Unknown)
    throw InvalidArgumentError(
        str_cat(owner_, ": it is not known whether larger or smaller values of '", name_,
                "' are better: the model has no metric of that name that says it. Give it mode Max "
                "or Min"));
  larger_ = direction == Direction::Up;
}

DISTRIBUTE_INLINE std::optional<double> Monitor::value(const Logs& logs) {
  if (const double* value = logs.find(name_)) return *value;
  if (!warned_)
    log_warning("train",
                str_cat(owner_, ": '", name_, "' is not available; there are: ", logs.names()));
  warned_ = true;
  return std::nullopt;
}

DISTRIBUTE_INLINE bool Monitor::improves(double value, std::optional<double> than) const {
  if (!than) return true;
  if (std::isnan(*than)) return !std::isnan(value);
  return larger_ ? value - min_delta_ > *than : value + min_delta_ < *than;
}

}  // namespace distribute::train
