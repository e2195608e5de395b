#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/data/image_resize.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace distribute::image {

namespace image_internal {

/// One output row or column lies between two of the input.
struct Neighbours {
  int64_t lower, upper;
  float weight;  // of `upper`
};

DISTRIBUTE_INLINE std::vector<Neighbours> neighbours(int64_t from, int64_t to) {
  const float scale = float(from) / float(to);
  std::vector<Neighbours> result;
  for (int64_t i = 0; i < to; ++i) {
    const float at = (float(i) + 0.5f) * scale - 0.5f, floor = std::floor(at);
    result.push_back({std::max<int64_t>(int64_t(floor), 0),
                      std::min(int64_t(std::ceil(at)), from - 1), at - floor});
  }
  return result;
}

/// A row of pixels at the columns of the output.
template <typename T>
void interpolate_columns(const T* row, const std::vector<Neighbours>& columns, int64_t channels,
                         float* out) {
  for (const Neighbours& column : columns) {
    const T* left = row + column.lower * channels;
    const T* right = row + column.upper * channels;
    const float weight = column.weight;
    if (channels == 3) {  // almost always: three independent chains
      const float l0 = left[0], l1 = left[1], l2 = left[2];
      out[0] = l0 + (float(right[0]) - l0) * weight;
      out[1] = l1 + (float(right[1]) - l1) * weight;
      out[2] = l2 + (float(right[2]) - l2) * weight;
    } else {
      for (int64_t c = 0; c < channels; ++c)
        out[c] = float(left[c]) + (float(right[c]) - float(left[c])) * weight;
    }
    out += channels;
  }
}

inline void mix_rows(const float* top, const float* bottom, float weight, int64_t count,
                     float* out) {
  simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) out[i] = top[i] + (bottom[i] - top[i]) * weight;
  });
}

/// Rows of the input at the output's columns; the last two are kept, as outputs share them.
template <typename T>
class ColumnRows {
 public:
  ColumnRows(const T* image, const ImageSize& from, int64_t to_width, int64_t channels)
      : image_(image),
        stride_(from.width * channels),
        channels_(channels),
        columns_(neighbours(from.width, to_width)) {
    for (auto& row : rows_) row.resize(size_t(to_width * channels));
  }
  const float* row(int64_t number) {
    for (int i = 0; i < 2; ++i)
      if (numbers_[i] == number) return rows_[i].data();
    const int victim = numbers_[0] < numbers_[1] ? 0 : 1;
    numbers_[victim] = number;
    interpolate_columns(image_ + number * stride_, columns_, channels_, rows_[victim].data());
    return rows_[victim].data();
  }

 private:
  const T* image_;
  int64_t stride_, channels_;
  std::vector<Neighbours> columns_;
  std::vector<float> rows_[2];
  int64_t numbers_[2] = {-1, -1};
};

template <typename T>
void resize_bilinear(const T* image, const ImageSize& from, const ImageSize& to, int64_t channels,
                     float* out) {
  ColumnRows<T> columns(image, from, to.width, channels);
  const int64_t count = to.width * channels;
  for (const Neighbours& line : neighbours(from.height, to.height)) {
    const float* top = columns.row(line.lower);
    const float* bottom = columns.row(line.upper);
    mix_rows(top, bottom, line.weight, count, out);
    out += count;
  }
}

/// The inputs that one output is the weighted sum of: a triangle as wide as the step, normalized.
struct Span {
  int64_t first;
  std::vector<float> weights;
};

DISTRIBUTE_INLINE std::vector<Span> triangle_spans(int64_t from, int64_t to) {
  const float step = float(from) / float(to), width = std::max(step, 1.0f);
  std::vector<Span> spans;
  for (int64_t i = 0; i < to; ++i) {
    const float centre = (float(i) + 0.5f) * step;
    const int64_t first = std::max<int64_t>(int64_t(std::ceil(centre - width - 0.5f)), 0);
    const int64_t last = std::min(int64_t(std::floor(centre + width - 0.5f)), from - 1);
    Span span{first, {}};
    float sum = 0;
    for (int64_t k = first; k <= last; ++k) {
      const float distance = std::abs((float(k) + 0.5f - centre) / width);
      span.weights.push_back(std::max(1 - distance, 0.0f));
      sum += span.weights.back();
    }
    for (float& weight : span.weights) weight /= sum;
    spans.push_back(std::move(span));
  }
  return spans;
}

template <typename T>
void resize_antialiased(const T* image, const ImageSize& from, const ImageSize& to,
                        int64_t channels, float* out) {
  const int64_t in_row = from.width * channels, out_row = to.width * channels;
  std::vector<float> sums;
  const auto columns = triangle_spans(from.width, to.width);
  for (const Span& rows : triangle_spans(from.height, to.height)) {
    sums.assign(size_t(in_row), 0);
    for (size_t k = 0; k < rows.weights.size(); ++k)
      for (int64_t i = 0; i < in_row; ++i)
        sums[size_t(i)] += rows.weights[k] * float(image[(rows.first + int64_t(k)) * in_row + i]);
    std::fill_n(out, out_row, 0.0f);
    for (const Span& span : columns) {
      for (size_t k = 0; k < span.weights.size(); ++k)
        for (int64_t c = 0; c < channels; ++c)
          out[c] += span.weights[k] * sums[size_t((span.first + int64_t(k)) * channels + c)];
      out += channels;
    }
  }
}

DISTRIBUTE_INLINE void check_resize(const Tensor& image, const ImageSize& size) {
  const Shape& shape = image.shape();
  const bool fits = (shape.rank() == 3 || shape.rank() == 4) && shape.num_elements() > 0 &&
                    (image.dtype() == DType::UInt8 || image.dtype() == DType::Float32);
  if (!fits)
    throw InvalidArgumentError(
        concat("resize: expected uint8 or float32 [height, width, channels] or [batch, height, ",
               "width, channels], got ", name_of(image.dtype()), " ", to_string(shape)));
  if (size.height < 1 || size.width < 1)
    throw InvalidArgumentError(
        concat("resize: the new size is ", size.height, " x ", size.width, ", expected 1 or more"));
}

template <typename T>
void resize_batch(const Tensor& image, const ImageSize& to, bool antialias, Tensor& result) {
  const Shape& shape = image.shape();
  const int64_t channels = shape[-1];
  const ImageSize from{shape[-3], shape[-2]};
  const int64_t in_step = from.height * from.width * channels;
  const int64_t out_step = to.height * to.width * channels;
  const T* in = image.data<T>().data();
  float* out = result.mutable_data<float>();
  for (int64_t n = image.num_elements() / in_step; n > 0; --n, in += in_step, out += out_step) {
    if (antialias)
      resize_antialiased(in, from, to, channels, out);
    else
      resize_bilinear(in, from, to, channels, out);
  }
}

}  // namespace image_internal

DISTRIBUTE_INLINE Tensor resize(const Tensor& image, const ImageSize& size,
                                const ResizeOptions& options) {
  image_internal::check_resize(image, size);
  const int rank = image.shape().rank();
  const Shape shape = image.shape().with(rank - 3, size.height).with(rank - 2, size.width);
  Tensor result = Tensor::empty(shape, DType::Float32, Device{});
  if (image.dtype() == DType::UInt8)
    image_internal::resize_batch<uint8_t>(image, size, options.antialias, result);
  else
    image_internal::resize_batch<float>(image, size, options.antialias, result);
  return result;
}

DISTRIBUTE_INLINE ImageSize size_with_shorter_side(const ImageSize& size, int64_t side) {
  const float scale = float(side) / float(std::min(size.height, size.width));
  const auto scaled = [&](int64_t length) {
    return std::max<int64_t>(int64_t(float(length) * scale), side);
  };
  return {scaled(size.height), scaled(size.width)};
}

}  // namespace distribute::image
