#pragma once
#include <distribute/data/pictures.hpp>

namespace distribute::data {

namespace data_internal {

/// The source of a picture: encoded bytes, or pixels.
class PictureSource {
 public:
  PictureSource(std::string_view encoded, const PictureTransform& transform)
      : encoded_(encoded), transform_(transform), size_(image_size(encoded)) {}
  PictureSource(const Tensor& pixels, const PictureTransform& transform)
      : pixels_(pixels), transform_(transform), size_{pixels.shape()[0], pixels.shape()[1]} {}

  const ImageSize& size() const { return size_; }

  /// The largest division of `have` that leaves at least `wanted` pixels in both directions.
  int64_t decoding_ratio(const ImageSize& have, const ImageSize& wanted) const {
    int64_t ratio = transform_.scaled_decoding && is_jpeg() ? 8 : 1;
    while (ratio > 1 && (have.height / ratio < wanted.height || have.width / ratio < wanted.width))
      ratio /= 2;
    return ratio;
  }
  Tensor decode(int64_t ratio) const {
    if (pixels_) return pixels_;
    if (is_jpeg()) return decode_jpeg(encoded_, jpeg_options(ratio));
    return decode_png(encoded_, {.max_pixels = transform_.jpeg.max_pixels});
  }
  /// `window` counts pixels after division by `ratio`.
  Tensor decode(const ImageWindow& window, int64_t ratio) const {
    if (is_jpeg()) return decode_and_crop_jpeg(encoded_, window, jpeg_options(ratio));
    return image::crop_to_bounding_box(decode(ratio), window);
  }

 private:
  bool is_jpeg() const { return !pixels_ && image_format(encoded_) == ImageFormat::Jpeg; }
  JpegOptions jpeg_options(int64_t ratio) const {
    JpegOptions options = transform_.jpeg;
    options.channels = 3;
    options.ratio = ratio;
    return options;
  }

  std::string_view encoded_;
  Tensor pixels_;
  const PictureTransform& transform_;
  ImageSize size_;
};

DISTRIBUTE_INLINE Tensor distorted_crop(const PictureSource& source,
                                        const PictureTransform& transform, Random& random) {
  const ImageSize target{transform.image_size, transform.image_size};
  ImageWindow box = image::sample_distorted_bounding_box(source.size(), transform.crop, random);
  const int64_t ratio = source.decoding_ratio({box.height, box.width}, target);
  box = {box.y / ratio, box.x / ratio, box.height / ratio, box.width / ratio};
  return image::resize(source.decode(box, ratio), target, {.mirrored = random.coin()});
}

DISTRIBUTE_INLINE Tensor shifted(const PictureSource& source, const PictureTransform& transform,
                                 Random& random) {
  const ImageSize target{transform.image_size, transform.image_size};
  Tensor pixels = source.decode(source.decoding_ratio(source.size(), target));
  const ImageSize size{pixels.shape()[0], pixels.shape()[1]};
  if (size != target) pixels = image::resize(pixels, target);
  pixels = image::pad_and_random_crop(pixels, transform.border, random);
  return image::resize(pixels, target, {.mirrored = random.coin()});
}

DISTRIBUTE_INLINE Tensor evaluated(const PictureSource& source, const PictureTransform& transform) {
  const int64_t side = transform.image_size;
  const int64_t shorter = transform.shorter_side ? transform.shorter_side : side * 8 / 7;
  const ImageSize target{side, side};
  const ImageSize resized = image::size_with_shorter_side(source.size(), shorter);
  Tensor pixels = source.decode(source.decoding_ratio(source.size(), resized));
  pixels = image::resize(pixels, resized);
  pixels = image::crop_to_bounding_box(pixels, image::central_window(resized, target));
  return image::normalize(std::move(pixels), transform.normalization);
}

DISTRIBUTE_INLINE Tensor trained(const PictureSource& source, const PictureTransform& transform,
                                 uint64_t key) {
  if (transform.augmentation == Augmentation::None) return evaluated(source, transform);
  Random random(key);
  Tensor picture = transform.augmentation == Augmentation::DistortedCrop
                       ? distorted_crop(source, transform, random)
                       : shifted(source, transform, random);
  picture = image::random_color_jitter(std::move(picture), transform.jitter, random);
  return image::normalize(std::move(picture), transform.normalization);
}

}  // namespace data_internal

DISTRIBUTE_INLINE Tensor training_picture(std::string_view encoded,
                                          const PictureTransform& transform, uint64_t key) {
  return data_internal::trained({encoded, transform}, transform, key);
}
DISTRIBUTE_INLINE Tensor training_picture(const Tensor& pixels, const PictureTransform& transform,
                                          uint64_t key) {
  return data_internal::trained({pixels, transform}, transform, key);
}

DISTRIBUTE_INLINE Tensor evaluation_picture(std::string_view encoded,
                                            const PictureTransform& transform) {
  return data_internal::evaluated({encoded, transform}, transform);
}
DISTRIBUTE_INLINE Tensor evaluation_picture(const Tensor& pixels,
                                            const PictureTransform& transform) {
  return data_internal::evaluated({pixels, transform}, transform);
}

}  // namespace distribute::data
