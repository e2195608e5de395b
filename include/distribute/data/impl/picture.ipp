#pragma once
#include <distribute/data/picture.hpp>

#include <algorithm>

namespace distribute::data {

namespace data_internal {

/// The largest division of `have` that leaves at least `wanted` pixels each way.
DISTRIBUTE_INLINE int64_t decoding_ratio(const ImageSize& have, const ImageSize& wanted,
                                         const PictureTransform& transform) {
  int64_t ratio = transform.scaled_decoding ? 8 : 1;
  while (ratio > 1 && (have.height / ratio < wanted.height || have.width / ratio < wanted.width))
    ratio /= 2;
  return ratio;
}

DISTRIBUTE_INLINE JpegOptions with_ratio(JpegOptions options, int64_t ratio) {
  options.channels = 3;
  options.ratio = ratio;
  return options;
}

DISTRIBUTE_INLINE Tensor distorted_crop(std::string_view jpeg, const PictureTransform& transform,
                                        Random& random) {
  const ImageSize target{transform.image_size, transform.image_size};
  ImageWindow box = image::sample_distorted_bounding_box(jpeg_size(jpeg), transform.crop, random);
  const int64_t ratio = decoding_ratio({box.height, box.width}, target, transform);
  box = {box.y / ratio, box.x / ratio, box.height / ratio, box.width / ratio};
  const Tensor pixels = decode_and_crop_jpeg(jpeg, box, with_ratio(transform.jpeg, ratio));
  return image::resize(pixels, target);
}

/// uint8 where it has the right size already.
DISTRIBUTE_INLINE Tensor shifted(std::string_view jpeg, const PictureTransform& transform,
                                 Random& random) {
  const ImageSize target{transform.image_size, transform.image_size};
  const int64_t ratio = decoding_ratio(jpeg_size(jpeg), target, transform);
  Tensor pixels = decode_jpeg(jpeg, with_ratio(transform.jpeg, ratio));
  const ImageSize size{pixels.shape()[0], pixels.shape()[1]};
  if (size != target) pixels = image::resize(pixels, target);
  pixels = image::pad_and_random_crop(pixels, transform.border, random);
  return size == target ? image::resize(pixels, target) : pixels;
}

}  // namespace data_internal

DISTRIBUTE_INLINE Tensor training_picture(std::string_view jpeg, const PictureTransform& transform,
                                          uint64_t key) {
  if (transform.augmentation == Augmentation::None) return evaluation_picture(jpeg, transform);
  Random random(key);
  Tensor picture = transform.augmentation == Augmentation::DistortedCrop
                       ? data_internal::distorted_crop(jpeg, transform, random)
                       : data_internal::shifted(jpeg, transform, random);
  const bool flip = random.coin();
  picture = image::random_color_jitter(std::move(picture), transform.jitter, random);
  return image::normalize(std::move(picture), transform.normalization, flip);
}

DISTRIBUTE_INLINE Tensor evaluation_picture(std::string_view jpeg,
                                            const PictureTransform& transform) {
  const int64_t side = transform.image_size;
  const int64_t shorter = transform.shorter_side ? transform.shorter_side : side * 8 / 7;
  const ImageSize size = jpeg_size(jpeg), target{side, side};
  const ImageSize resized = image::size_with_shorter_side(size, shorter);
  const int64_t ratio = data_internal::decoding_ratio(size, resized, transform);
  Tensor pixels = decode_jpeg(jpeg, data_internal::with_ratio(transform.jpeg, ratio));
  pixels = image::resize(pixels, resized);
  pixels = image::crop_to_bounding_box(pixels, image::central_window(resized, target));
  return image::normalize(std::move(pixels), transform.normalization);
}

}  // namespace distribute::data
