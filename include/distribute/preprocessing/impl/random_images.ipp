#pragma once
#include <distribute/base/error.hpp>
#include <distribute/nn/detail/replica_calls.hpp>
#include <distribute/nn/dropout.hpp>
#include <distribute/ops/arrangement.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/random.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/preprocessing/random_images.hpp>

namespace distribute::preprocessing {

namespace preprocessing_internal {

DISTRIBUTE_INLINE void check_factor(const char* layer, const FactorRange& factor, double lowest) {
  if (!(factor.low >= lowest && factor.high <= 1))
    throw InvalidArgumentError(str_cat(layer, ": a factor from ", factor.low, " to ", factor.high,
                                       " is not in [", lowest, ", 1]"));
}

/// Draws a number for each picture; `place` distinguishes the draws of one call.
DISTRIBUTE_INLINE Tensor drawn(const Tensor& images, uint64_t seed, int64_t place,
                               const FactorRange& range, double scale = 1, double offset = 0) {
  const int64_t batch = images.shape()[0];
  return random::uniform({batch}, seed,
                         {.minval = offset + scale * range.low,
                          .maxval = offset + scale * range.high,
                          .first = place * batch});
}

/// Reshapes [batch] so that it broadcasts to pictures.
DISTRIBUTE_INLINE Tensor for_pictures(const Tensor& x, const Device& device) {
  return reshape(x.to(device), {x.shape()[0], 1, 1, 1});
}

template <typename Options>
Tensor transformed_as(const Tensor& images, const Tensor& transforms, const Options& options) {
  return affine_transform(images, transforms,
                          {.interpolation = options.interpolation,
                           .fill_mode = options.fill_mode,
                           .fill_value = options.fill_value});
}

}  // namespace preprocessing_internal

DISTRIBUTE_INLINE RandomImages::RandomImages(std::string name, std::optional<uint64_t> seed)
    : Module(std::move(name)),
      seed_(seed ? *seed : random::next_seed()),
      calls_(std::make_unique<nn::nn_internal::ReplicaCalls>()) {}

DISTRIBUTE_INLINE RandomImages::~RandomImages() = default;
DISTRIBUTE_INLINE RandomImages::RandomImages(RandomImages&&) noexcept = default;
DISTRIBUTE_INLINE RandomImages& RandomImages::operator=(RandomImages&&) noexcept = default;

DISTRIBUTE_INLINE Tensor RandomImages::transform(const Tensor& images, uint64_t seed) const {
  const Shape shape = images.shape();
  if (shape.rank() != 3 && shape.rank() != 4)
    throw InvalidArgumentError(
        str_cat("layer '", name(), "' takes pictures of 3 or 4 axes, got ", to_string(shape)));
  const Tensor x = cast(images, dtype_policy().compute_dtype());
  if (shape.rank() == 4) return change(x, seed);
  return reshape(change(reshape(x, {1, shape[0], shape[1], shape[2]}), seed), shape);
}

DISTRIBUTE_INLINE Tensor RandomImages::call(const Tensor& x, nn::CallOptions options) {
  if (!options.training) return cast(x, dtype_policy().compute_dtype());
  const auto call = calls_->next(seed_);
  // Two calls never share a seed: this constant is odd, the one of replicas even.
  return transform(x, call.seed ^ (call.counter() * 0xD1B54A32D192ED03u));
}

DISTRIBUTE_INLINE RandomFlip::RandomFlip(RandomFlipOptions options)
    : RandomImages(options.name, options.seed), mode_(options.mode) {}

DISTRIBUTE_INLINE Tensor RandomFlip::change(const Tensor& images, uint64_t seed) const {
  using namespace preprocessing_internal;
  const Tensor numbers = drawn(images, seed, 0, {0, 1});
  const Tensor flips = for_pictures(less_equal(numbers, 0.5f), images.device());
  std::vector<int> axes;
  if (mode_ != FlipMode::Horizontal) axes.push_back(1);
  if (mode_ != FlipMode::Vertical) axes.push_back(2);
  return where(flips, reverse(images, axes), images);
}

DISTRIBUTE_INLINE RandomRotation::RandomRotation(RandomRotationOptions options)
    : RandomImages(options.name, options.seed), options_(std::move(options)) {
  preprocessing_internal::check_factor("RandomRotation", options_.factor, -1);
}

DISTRIBUTE_INLINE Tensor RandomRotation::change(const Tensor& images, uint64_t seed) const {
  using namespace preprocessing_internal;
  const Tensor degrees = drawn(images, seed, 0, options_.factor, 360);
  return transformed_as(images, rotation_transforms(degrees, images.shape()[1], images.shape()[2]),
                        options_);
}

DISTRIBUTE_INLINE RandomZoom::RandomZoom(RandomZoomOptions options)
    : RandomImages(options.name, options.seed), options_(std::move(options)) {
  for (const FactorRange& factor :
       {options_.height_factor, options_.width_factor.value_or(FactorRange())}) {
    preprocessing_internal::check_factor("RandomZoom", factor, -1);
    if (factor.low == -1)
      throw InvalidArgumentError("RandomZoom: a factor of -1 leaves one point of the picture");
  }
}

DISTRIBUTE_INLINE Tensor RandomZoom::change(const Tensor& images, uint64_t seed) const {
  using namespace preprocessing_internal;
  const Tensor height = drawn(images, seed, 0, options_.height_factor, 1, 1);
  const Tensor width =
      options_.width_factor ? drawn(images, seed, 1, *options_.width_factor, 1, 1) : height;
  return transformed_as(
      images, zoom_transforms(width, height, images.shape()[1], images.shape()[2]), options_);
}

DISTRIBUTE_INLINE RandomTranslation::RandomTranslation(RandomTranslationOptions options)
    : RandomImages(options.name, options.seed), options_(std::move(options)) {
  preprocessing_internal::check_factor("RandomTranslation", options_.height_factor, -1);
  preprocessing_internal::check_factor("RandomTranslation", options_.width_factor, -1);
}

DISTRIBUTE_INLINE Tensor RandomTranslation::change(const Tensor& images, uint64_t seed) const {
  using namespace preprocessing_internal;
  const double height = double(images.shape()[1]), width = double(images.shape()[2]);
  const Tensor down = drawn(images, seed, 0, options_.height_factor, height);
  const Tensor right = drawn(images, seed, 1, options_.width_factor, width);
  return transformed_as(images, translation_transforms(right, down), options_);
}

DISTRIBUTE_INLINE RandomContrast::RandomContrast(RandomContrastOptions options)
    : RandomImages(options.name, options.seed), options_(std::move(options)) {
  FactorRange& factor = options_.factor;
  if (factor.low == -factor.high) factor.low = 0;  // a single number was given
  preprocessing_internal::check_factor("RandomContrast", factor, 0);
}

DISTRIBUTE_INLINE Tensor RandomContrast::change(const Tensor& images, uint64_t seed) const {
  using namespace preprocessing_internal;
  const FactorRange contrasts(1 - options_.factor.low, 1 + options_.factor.high);
  const Tensor factor =
      cast(for_pictures(drawn(images, seed, 0, contrasts), images.device()), images.dtype());
  const Tensor mean = reduce_mean(images, {1, 2}, true);
  return clip_by_value((images - mean) * factor + mean, options_.value_range[0],
                       options_.value_range[1]);
}

}  // namespace distribute::preprocessing
