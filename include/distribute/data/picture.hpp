#pragma once
/// From the bytes of a JPEG or PNG file to the numbers that a network sees: for training and
/// evaluation.

#include <distribute/base/config.hpp>
#include <distribute/data/decode_image.hpp>
#include <distribute/data/image_adjust.hpp>
#include <distribute/data/image_crop.hpp>

#include <cstdint>
#include <string_view>

namespace distribute::data {

/// What training does to a picture.
enum class Augmentation {
  None,           // as in evaluation
  DistortedCrop,  // Inception's: a random window, resized; mirrored half of the time
  PadAndCrop,     // CIFAR's: resized, shifted by up to `border` pixels; mirrored half of the time
};

/// How one picture becomes float32 [image_size, image_size, 3].
struct PictureTransform {
  int64_t image_size = 224;
  Augmentation augmentation = Augmentation::DistortedCrop;
  image::DistortedBoxOptions crop = {};
  int64_t border = 4;
  image::ColorJitter jitter = {};
  image::Normalization normalization = {};
  /// Evaluation resizes the shorter side to this and takes the middle; 0: image_size * 8 / 7, the
  /// 256 of 224.
  int64_t shorter_side = 0;
  /// JPEG pictures twice (4, 8 times) as large as needed are decoded to 1/2 (1/4, 1/8): faster, and
  /// less aliasing, but not TensorFlow's pixels.
  bool scaled_decoding = true;
  JpegOptions jpeg = {};  // ratio is chosen here; max_pixels goes for PNG, too
};

/// One picture of training. The same key gives the same numbers.
/// Throws  as decode_image.
/// Source  tensorflow/models, ResNet on ImageNet (preprocessing); He et al. 2015 (PadAndCrop)
Tensor training_picture(std::string_view encoded, const PictureTransform& transform, uint64_t key);

/// One picture of evaluation. Throws  as decode_image.
Tensor evaluation_picture(std::string_view encoded, const PictureTransform& transform);

/// The same for pictures that are decoded already, uint8 [height, width, 3].
Tensor training_picture(const Tensor& pixels, const PictureTransform& transform, uint64_t key);
Tensor evaluation_picture(const Tensor& pixels, const PictureTransform& transform);

}  // namespace distribute::data
