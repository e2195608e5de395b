#pragma once
/// Sets of the numbers of elements, kept as intervals.

#include <distribute/base/config.hpp>
#include <distribute/net/message.hpp>

#include <cstdint>
#include <vector>

namespace distribute::data::service_internal {

/// The numbers of a task's elements that consumers have. Thread-compatible.
class Intervals {
 public:
  void add(int64_t number) { add(number, number + 1); }
  /// Adds the numbers in [begin, end).
  void add(int64_t begin, int64_t end);
  void add(const Intervals& other);
  bool contains(int64_t number) const;
  int64_t count() const;
  /// Begin and end of each interval, in order.
  const std::vector<int64_t>& limits() const { return limits_; }
  void fields(net::FieldVisitor& visit) { visit("limits", limits_); }

 private:
  std::vector<int64_t> limits_;
};

}  // namespace distribute::data::service_internal
