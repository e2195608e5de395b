#pragma once
/// One figure of the logs that callbacks watch, and what is better.

#include <distribute/base/config.hpp>
#include <distribute/train/logs.hpp>

#include <optional>
#include <string>

namespace distribute::train {

/// Auto: larger is better for names with "acc", ending in "auc" or beginning with "fmeasure".
enum class MonitorMode { Auto, Min, Max };

class Monitor {  // what a callback watches
 public:
  /// `owner`: the callback's name in warnings; `name`: of the figure in the logs.
  Monitor(std::string owner, std::string name, MonitorMode mode, double min_delta = 0);

  /// The figure; nothing, with a warning once, when the logs do not have it.
  std::optional<double> value(const Logs& logs);
  /// True when `value` is better than `than` by more than min_delta; never for NaN.
  bool improves(double value, double than) const;
  /// Plus or minus infinity: any finite value is better.
  double worst() const;
  const std::string& name() const { return name_; }
  bool larger_is_better() const { return larger_; }

 private:
  std::string owner_, name_;
  bool larger_, warned_ = false;
  double min_delta_;
};

}  // namespace distribute::train
