#pragma once
/// Layers that drop or disturb values in training only.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/pimpl.hpp>
#include <distribute/nn/module.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace distribute::nn::nn_internal {
class ReplicaCalls;

/// Random normal numbers of a layer, different ones at every call of every replica.
class LayerNoise {
 public:
  explicit LayerNoise(std::optional<uint64_t> seed);  // unset: the next one of the program
  DISTRIBUTE_INLINE ~LayerNoise();
  LayerNoise(LayerNoise&&) noexcept;
  LayerNoise& operator=(LayerNoise&&) noexcept;
  /// Returns numbers of mean 0 with x's shape, dtype and device.
  Tensor like(const Tensor& x, double stddev);

 private:
  uint64_t seed_;
  Pimpl<ReplicaCalls> calls_;
};

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
  /// Returns the probability in [0, 1] with which training drops an element.
  float rate() const { return rate_; }
  /// Returns the mask's shape that the constructor got.
  const std::vector<std::optional<int64_t>>& noise_shape() const { return noise_shape_; }
  /// Returns the seed of a call's mask, and the function that numbers the calls, for an operation
  /// that draws its mask by itself.
  std::pair<uint64_t, std::function<uint64_t()>> call_seed();

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
  /// Returns the deviation of the noise.
  double stddev() const { return stddev_; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "gaussian_noise"; }
  bool supports_masking() const override { return true; }

  double stddev_;
  nn_internal::LayerNoise noise_;
};

/// Multiplies in training by random normal numbers of mean 1 and deviation sqrt(rate / (1 - rate)),
/// different ones at every call of every replica. noise_shape is refused.
/// Throws  InvalidArgumentError for a rate outside [0, 1], and in training for 1, as Keras.
/// Source  tf.keras.layers.GaussianDropout; Srivastava et al. 2014
class GaussianDropout : public Module {
 public:
  explicit GaussianDropout(DropoutOptions options);
  explicit GaussianDropout(double rate) : GaussianDropout(DropoutOptions{.rate = rate}) {}
  /// Returns the rate from which the deviation is made.
  double rate() const { return rate_; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "gaussian_dropout"; }
  bool supports_masking() const override { return true; }

  double rate_;
  nn_internal::LayerNoise noise_;
};

/// In training replaces elements by the least value of selu() with probability `rate`, then scales
/// and shifts all, so that mean 0 and variance 1 stay.
/// Throws  InvalidArgumentError for a rate outside [0, 1], and in training for 1, as Keras.
/// Source  tf.keras.layers.AlphaDropout; Klambauer et al. 2017
class AlphaDropout : public Module {
 public:
  explicit AlphaDropout(DropoutOptions options);
  explicit AlphaDropout(double rate) : AlphaDropout(DropoutOptions{.rate = rate}) {}
  /// Returns the probability with which training replaces an element.
  double rate() const { return rate_; }
  /// Returns the mask's shape that the constructor got.
  const std::vector<std::optional<int64_t>>& noise_shape() const { return dropout_.noise_shape(); }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "alpha_dropout"; }
  bool supports_masking() const override { return true; }

  double rate_;
  Dropout& dropout_;  // of ones: draws which elements stay
};

/// Drops whole channels: all steps, or all pixels, of an example share one decision.
class SpatialDropout : public Module {
 public:
  /// Returns the probability in [0, 1] with which training drops a channel.
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

/// Shapes  [batch, depth, height, width, channels] -> the same.
/// Source  tf.keras.layers.SpatialDropout3D
class SpatialDropout3D : public SpatialDropout {
 public:
  explicit SpatialDropout3D(DropoutOptions options) : SpatialDropout(5, std::move(options)) {}
  explicit SpatialDropout3D(double rate) : SpatialDropout3D(DropoutOptions{.rate = rate}) {}

 private:
  std::string kind() const override { return "spatial_dropout3d"; }
};

}  // namespace distribute::nn
