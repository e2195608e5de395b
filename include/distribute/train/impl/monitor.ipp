#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/train/monitored_callbacks.hpp>

#include <cmath>
#include <limits>
#include <utility>

namespace distribute::train {

DISTRIBUTE_INLINE Monitor::Monitor(std::string owner, std::string name, MonitorMode mode,
                                   double min_delta)
    : owner_(std::move(owner)),
      name_(std::move(name)),
      larger_(
          mode == MonitorMode::Max ||
          (mode == MonitorMode::Auto && (name_.find("acc") != std::string::npos ||
                                         name_.ends_with("auc") || name_.starts_with("fmeasure")))),
      min_delta_(std::abs(min_delta)) {}

DISTRIBUTE_INLINE std::optional<double> Monitor::value(const Logs& logs) {
  if (const double* value = logs.find(name_)) return *value;
  if (!warned_)
    log_warning("train",
                str_cat(owner_, ": '", name_, "' is not available; there are: ", logs.names()));
  warned_ = true;
  return std::nullopt;
}

DISTRIBUTE_INLINE bool Monitor::improves(double value, double than) const {
  return larger_ ? value - min_delta_ > than : value + min_delta_ < than;
}

DISTRIBUTE_INLINE double Monitor::worst() const {
  const double infinity = std::numeric_limits<double>::infinity();
  return larger_ ? -infinity : infinity;
}

}  // namespace distribute::train
