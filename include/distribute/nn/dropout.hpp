#pragma once
/// Layers that drop or disturb values in training only.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/pimpl.hpp>
#include <distribute/nn/module.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace distribute::nn::nn_internal {
class ReplicaCalls;
}  // namespace distribute::nn::nn_internal

namespace distribute::nn {

struct DropoutOptions {  // options of Dropout
  double rate = 0.5;
  std::vector<std::optional<int64_t>> noise_shape = {};  // shape of the mask; empty: the input's
  std::optional<uint64_t> seed = {};                     // unset: the next one of the program
  std::string name = {};
};

/// In training sets elements to 0 with probability `rate` and scales the others by 1 / (1 - rate).
/// Every call of every replica has its own mask; the same seed gives the same masks again. A mask
/// of noise_shape broadcasts to the input: {{}, 1} drops rows, an empty size is the input's.
/// Source  tf.keras.layers.Dropout
class Dropout : public Module {
 public:
  /// Throws  InvalidArgumentError for a rate outside [0, 1] and for sizes of noise_shape below 1.
  explicit Dropout(DropoutOptions options);
  explicit Dropout(double rate) : Dropout(DropoutOptions{.rate = rate}) {}
  DISTRIBUTE_INLINE ~Dropout() override;
  Dropout(Dropout&&) noexcept;
  Dropout& operator=(Dropout&&) noexcept;
  /// The probability in [0, 1] with which training drops an element.
  float rate() const { return rate_; }
  /// Returns the mask's shape that the constructor got.
  const std::vector<std::optional<int64_t>>& noise_shape() const { return noise_shape_; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "dropout"; }
  bool supports_masking() const override { return true; }
  Shape shape_of_mask(const Shape& input) const;

  float rate_;
  std::vector<std::optional<int64_t>> noise_shape_;
  uint64_t seed_;
  Pimpl<nn_internal::ReplicaCalls> calls_;
};

struct GaussianNoiseOptions {  // options of GaussianNoise
  double stddev = 0;
  std::optional<uint64_t> seed = {};  // unset: the next one of the program
  std::string name = {};
};

/// Adds random normal numbers in training, different ones at every call of every replica.
/// Throws  InvalidArgumentError for a stddev outside [0, 1].
/// Source  tf.keras.layers.GaussianNoise
class GaussianNoise : public Module {
 public:
  explicit GaussianNoise(GaussianNoiseOptions options);
  explicit GaussianNoise(double stddev) : GaussianNoise(GaussianNoiseOptions{.stddev = stddev}) {}
  DISTRIBUTE_INLINE ~GaussianNoise() override;
  GaussianNoise(GaussianNoise&&) noexcept;
  GaussianNoise& operator=(GaussianNoise&&) noexcept;
  /// The deviation of the noise.
  double stddev() const { return stddev_; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "gaussian_noise"; }
  bool supports_masking() const override { return true; }

  double stddev_;
  uint64_t seed_;
  Pimpl<nn_internal::ReplicaCalls> calls_;
};

/// Drops whole channels: all steps, or all pixels, of an example share one decision.
class SpatialDropout : public Module {
 public:
  /// The probability in [0, 1] with which training drops a channel.
  float rate() const { return dropout_.rate(); }

 protected:
  SpatialDropout(int rank, DropoutOptions options);

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  bool supports_masking() const override { return true; }

  int rank_;
  Dropout& dropout_;
};

/// Shapes  [batch, steps, channels] -> the same.
/// Source  tf.keras.layers.SpatialDropout1D
class SpatialDropout1D : public SpatialDropout {
 public:
  explicit SpatialDropout1D(DropoutOptions options) : SpatialDropout(3, std::move(options)) {}
  explicit SpatialDropout1D(double rate) : SpatialDropout1D(DropoutOptions{.rate = rate}) {}

 private:
  std::string kind() const override { return "spatial_dropout1d"; }
};

/// Shapes  [batch, height, width, channels] -> the same.
/// Source  tf.keras.layers.SpatialDropout2D
class SpatialDropout2D : public SpatialDropout {
 public:
  explicit SpatialDropout2D(DropoutOptions options) : SpatialDropout(4, std::move(options)) {}
  explicit SpatialDropout2D(double rate) : SpatialDropout2D(DropoutOptions{.rate = rate}) {}

 private:
  std::string kind() const override { return "spatial_dropout2d"; }
};

}  // namespace distribute::nn
