#pragma once
/// Counts the pictures that a dataset had to leave out.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace distribute::data {

/// Counts pictures that could not be decoded, and keeps the first reasons. Thread-safe.
class BadPictures {
 public:
  /// `reason` begins with the picture's name; the first ten are kept.
  void add(const std::string& reason);
  int64_t count() const;
  std::vector<std::string> first_reasons() const;
  /// "3 pictures could not be decoded and were left out: <reason>; ..."; "" when there are none.
  std::string summary() const;

 private:
  mutable std::mutex mutex_;  // guards the rest
  int64_t count_ = 0;
  std::vector<std::string> reasons_;
};

}  // namespace distribute::data
