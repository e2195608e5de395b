#pragma once
/// How often a callback saves.

#include <distribute/base/config.hpp>

#include <concepts>
#include <cstdint>

namespace distribute::train {

/// "epoch", a number of batches, or false for never.
class SaveFrequency {
 public:
  /// Throws  InvalidArgumentError for other texts and for numbers below 1.
  SaveFrequency(const char* text);
  template <std::integral Number>
  SaveFrequency(Number batches)
      : batches_(checked(int64_t(batches), std::same_as<Number, bool>)), epoch_(false) {}

  /// Whether each end of an epoch saves.
  bool every_epoch() const { return epoch_; }
  /// Batches between two saves; 0: not by batches.
  int64_t batches() const { return batches_; }
  bool never() const { return !epoch_ && batches_ == 0; }

 private:
  static int64_t checked(int64_t batches, bool is_switch);

  int64_t batches_ = 0;
  bool epoch_ = true;
};

}  // namespace distribute::train
