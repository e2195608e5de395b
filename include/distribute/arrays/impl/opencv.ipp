#pragma once
#include <distribute/arrays/opencv.hpp>
#include <distribute/base/error.hpp>

#include <limits>
#include <utility>

namespace distribute::arrays::arrays_internal {

/// OpenCV's depths that have a dtype here. Source  opencv2/core/hal/interface.h
inline constexpr std::pair<int, DType> kDepths[] = {
    {0, DType::UInt8}, {4, DType::Int32}, {5, DType::Float32}, {7, DType::Float16}};

DISTRIBUTE_INLINE DType dtype_of_depth(int depth) {
  for (const auto& [known, dtype] : kDepths)
    if (known == depth) return dtype;
  throw InvalidArgumentError(
      str_cat("cv::Mat of depth ", depth,
              " has elements that no dtype has; convertTo(mat, CV_32F) makes float32 of them"));
}

DISTRIBUTE_INLINE int depth_of_dtype(DType dtype) {
  for (const auto& [depth, known] : kDepths)
    if (known == dtype) return depth;
  throw InvalidArgumentError(
      str_cat("cv::Mat has no elements of type ", name_of(dtype), "; cast the tensor first"));
}

DISTRIBUTE_INLINE Shape picture_shape(const Shape& shape) {
  constexpr int64_t kMostChannels = 512, kMost = std::numeric_limits<int>::max();
  Shape picture = shape;
  if (picture.rank() == 2) picture.push_back(1);
  if (picture.rank() != 3 || picture[2] < 1 || picture[2] > kMostChannels || picture[0] > kMost ||
      picture[1] > kMost)
    throw InvalidArgumentError(
        str_cat("to_mat: a tensor of shape ", to_string(shape), " is no picture of OpenCV"));
  return picture;
}

}  // namespace distribute::arrays::arrays_internal
