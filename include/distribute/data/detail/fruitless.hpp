#pragma once
/// Warns about loops over streams that give no elements.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>

#include <cstdint>

namespace distribute::data::data_internal {

/// Counts the elements that a transformation takes in a row without giving one. When the input has
/// no end, this may go on for ever, as it does in TensorFlow; after a million a warning says so,
/// once.
class FruitlessSteps {
 public:
  /// `what` begins the warning, such as "filter: elements were left out"; the number follows.
  explicit FruitlessSteps(const char* what) : what_(what) {}
  void add() {
    if (++count_ == kWarned)
      log_warning("data",
                  str_cat(what_, " ", kWarned,
                          " times in a row: if the input has no end, this has none either"));
  }

 private:
  static constexpr int64_t kWarned = 1'000'000;
  const char* what_;
  int64_t count_ = 0;
};

/// The beginning of the warning of interleave and flat_map.
inline constexpr const char* kEmptyParts = "interleave, flat_map: datasets without elements came";

}  // namespace distribute::data::data_internal
