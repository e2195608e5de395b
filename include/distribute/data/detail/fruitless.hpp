#pragma once
/// A word about loops over streams that give nothing.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>

#include <cstdint>

namespace distribute::data::data_internal {

/// Counts what a transformation takes in a row without giving an element. It may go on for ever, as
/// TensorFlow's does, where the input has no end: after a million a warning says so, once.
class FruitlessSteps {
 public:
  /// `what`: such as "filter: elements were left out"; the number follows.
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

/// The warning of interleave and flat_map says this.
inline constexpr const char* kEmptyParts = "interleave, flat_map: datasets without elements came";

}  // namespace distribute::data::data_internal
