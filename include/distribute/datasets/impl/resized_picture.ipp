#pragma once
#include <distribute/base/error.hpp>
#include <distribute/data/image.hpp>
#include <distribute/datasets/detail/resized_picture.hpp>
#include <distribute/ops/array.hpp>

#include <algorithm>
#include <cmath>

namespace distribute::data::data_internal {

DISTRIBUTE_INLINE Tensor resized_picture(const Tensor& image, const ImageSize& size,
                                         image::ResizeMethod method) {
  const Tensor resized = image::resize(image, size, {.method = method});
  return method == image::ResizeMethod::Nearest ? cast(resized, image.dtype()) : resized;
}

DISTRIBUTE_INLINE Tensor cropped_and_resized(const Tensor& image, const ImageSize& size,
                                             image::ResizeMethod method) {
  const int64_t height = image.shape()[0], width = image.shape()[1];
  const auto part = [](int64_t side, int64_t other, int64_t wanted, int64_t other_wanted) {
    const auto most = int64_t(float(other * wanted) / float(other_wanted));
    return std::max<int64_t>(std::min(side, most), 1);
  };
  const ImageSize kept{part(height, width, size.height, size.width),
                       part(width, height, size.width, size.height)};
  return resized_picture(image::crop_to_bounding_box(image, {.y = (height - kept.height) / 2,
                                                             .x = (width - kept.width) / 2,
                                                             .height = kept.height,
                                                             .width = kept.width}),
                         size, method);
}

DISTRIBUTE_INLINE Tensor resized_and_padded(const Tensor& image, const ImageSize& size,
                                            image::ResizeMethod method) {
  const auto height = float(image.shape()[0]), width = float(image.shape()[1]);
  const float ratio = std::max(width / float(size.width), height / float(size.height));
  const float new_height = height / ratio, new_width = width / ratio;
  const ImageSize inner{int64_t(std::floor(new_height)), int64_t(std::floor(new_width))};
  if (inner.height < 1 || inner.width < 1)
    throw InvalidArgumentError(str_cat("a picture of ", image.shape()[0], " x ", image.shape()[1],
                                       " pixels has no pixel left within ", size.height, " x ",
                                       size.width, "; it is too long for pad_to_aspect_ratio"));
  const auto before = [](int64_t whole, float part) {
    return std::max<int64_t>(int64_t(std::floor((float(whole) - part) / 2)), 0);
  };
  return image::pad_to_bounding_box(
      resized_picture(image, inner, method),
      {before(size.height, new_height), before(size.width, new_width), size.height, size.width});
}

}  // namespace distribute::data::data_internal
