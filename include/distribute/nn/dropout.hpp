#pragma once
/// The layer that drops elements while training.

#include <distribute/base/config.hpp>
#include <distribute/base/pimpl.hpp>
#include <distribute/nn/module.hpp>

#include <optional>

namespace distribute::nn::nn_internal {
class ReplicaCalls;
}

namespace distribute::nn {

struct DropoutOptions {  // options of Dropout
  double rate = 0.5;
  std::optional<uint64_t> seed = {};  // unset: the next one of the program
  std::string name = {};
};

/// In training sets elements to 0 with probability `rate` and scales the others by 1 / (1 - rate).
/// Every call of every replica has its own mask; the same seed gives the same masks again.
/// Source  tf.keras.layers.Dropout
class Dropout : public Module {
 public:
  /// Throws  InvalidArgumentError for a rate outside [0, 1].
  explicit Dropout(DropoutOptions options);
  explicit Dropout(double rate) : Dropout(DropoutOptions{.rate = rate}) {}
  DISTRIBUTE_INLINE ~Dropout() override;
  Dropout(Dropout&&) noexcept;
  Dropout& operator=(Dropout&&) noexcept;
  /// The probability in [0, 1] with which training drops an element.
  float rate() const { return rate_; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "dropout"; }

  float rate_;
  uint64_t seed_;
  Pimpl<nn_internal::ReplicaCalls> calls_;
};

}  // namespace distribute::nn
