#pragma once
/// Counts the pictures that a dataset had to leave out.

#include <distribute/base/config.hpp>
#include <distribute/base/pimpl.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace distribute::data {

/// Counts pictures that could not be decoded, and keeps the first reasons. Thread-safe.
class BadPictures {
 public:
  BadPictures();
  ~BadPictures();
  /// `reason` begins with the picture's name; the first ten are kept.
  void add(const std::string& reason);
  int64_t count() const;
  std::vector<std::string> first_reasons() const;
  /// "3 pictures could not be decoded and were left out: <reason>; ..."; "" when there are none.
  std::string summary() const;

 private:
  struct State;
  const Pimpl<State> state_;
};

}  // namespace distribute::data
