#pragma once
/// Named figures of a step or an epoch, in the order they were added.

#include <distribute/base/config.hpp>

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace distribute::train {

/// A cheap value. Source  the `logs` dictionary of tf.keras.callbacks.Callback
class Logs {
 public:
  using Entry = std::pair<std::string, double>;
  Logs() = default;
  Logs(std::initializer_list<Entry> entries);

  /// Adds the figure, or replaces the one of that name.
  void set(std::string_view name, double value);
  /// Null when there is none of that name.
  const double* find(std::string_view name) const;
  /// Throws  NotFoundError that lists the names there are.
  double at(std::string_view name) const;
  /// "loss, accuracy".
  std::string names() const;

  /// The figures with their names, in the order in which they came.
  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  std::vector<Entry>::const_iterator begin() const { return entries_.begin(); }
  std::vector<Entry>::const_iterator end() const { return entries_.end(); }
  bool operator==(const Logs&) const = default;

 private:
  std::vector<Entry> entries_;
};

}  // namespace distribute::train
