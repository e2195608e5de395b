#pragma once
/// cv::Mat as a tensor, and a tensor as cv::Mat. This header needs no header of OpenCV.

#include <distribute/arrays/array_view.hpp>
#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>
#include <optional>

namespace distribute::arrays {

/// cv::Mat, or a class with the same members.
template <typename Mat>
concept OpenCvMat = requires(const Mat& mat) {
  mat.data;
  mat.dims;
  mat.size[0];
  mat.step[0];
  mat.channels();
  mat.depth();
  mat.elemSize1();
};

namespace arrays_internal {
/// Returns the dtype of one of OpenCV's depths (CV_8U, ...).
/// Throws  InvalidArgumentError for a depth without one.
DType dtype_of_depth(int depth);
/// Returns the depth of a dtype. Throws  InvalidArgumentError for a dtype without one.
int depth_of_dtype(DType dtype);
/// Returns [height, width, channels] of a picture of two or three axes.
/// Throws  InvalidArgumentError for another number of axes, and for no or more than 512 channels.
Shape picture_shape(const Shape& shape);
}  // namespace arrays_internal

/// Describes the elements: [height, width, channels] for a picture, in OpenCV's order of channels
/// (blue first, as imread() gives them). Parts of a picture have gaps between their rows, so that
/// copy() takes them and view() does not.
template <OpenCvMat Mat>
ArrayView array_view(const Mat& mat) {
  ArrayView array{mat.data, arrays_internal::dtype_of_depth(mat.depth()), {}, {}};
  for (int axis = 0; axis < mat.dims; ++axis) {
    array.shape.push_back(int64_t(mat.size[axis]));
    array.strides.push_back(int64_t(mat.step[axis]) / int64_t(mat.elemSize1()));
  }
  array.shape.push_back(mat.channels());
  array.strides.push_back(1);
  return array;
}

/// Copies a picture, [height, width] or [height, width, channels], to a matrix of OpenCV.
/// Throws  InvalidArgumentError for another shape, and for a dtype that OpenCV lacks.
template <OpenCvMat Mat>
Mat to_mat(const Tensor& tensor) {
  const Shape shape = arrays_internal::picture_shape(tensor.shape());
  const int height = int(shape[0]), width = int(shape[1]), more_channels = int(shape[2]) - 1;
  const int type = arrays_internal::depth_of_dtype(tensor.dtype()) + (more_channels << 3);
  // OpenCV takes no constant memory, and clone() only reads it.
  const Mat shared(height, width, type, const_cast<void*>(array_view(tensor).data));
  return shared.clone();
}

}  // namespace distribute::arrays
