#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/data/image.hpp>
#include <distribute/ops/detail/resize_spans.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <span>
#include <vector>

namespace distribute::image {

namespace image_internal {

/// The two input rows or columns next to one of the output.
struct Neighbours {
  int64_t lower, upper;
  float weight;  // weight of `upper`
};

DISTRIBUTE_INLINE std::vector<Neighbours> neighbours(int64_t from, int64_t to,
                                                     bool mirrored = false) {
  const float scale = float(from) / float(to);
  std::vector<Neighbours> result;
  for (int64_t i = 0; i < to; ++i) {
    const float at = (float(i) + 0.5f) * scale - 0.5f, floor = std::floor(at);
    result.push_back({std::max<int64_t>(int64_t(floor), 0),
                      std::min(int64_t(std::ceil(at)), from - 1), at - floor});
  }
  if (mirrored) std::reverse(result.begin(), result.end());
  return result;
}

/// Four neighbouring values. Without this type compilers convert bytes to floats one by one.
typedef float Float4 __attribute__((vector_size(16)));
typedef uint32_t Word4 __attribute__((vector_size(16)));
typedef int32_t Int4 __attribute__((vector_size(16)));

DISTRIBUTE_ALWAYS_INLINE inline Float4 load4(const uint8_t* from) {
  uint32_t word;
  std::memcpy(&word, from, sizeof word);
  const Word4 shifts =
      std::endian::native == std::endian::little ? Word4{0, 8, 16, 24} : Word4{24, 16, 8, 0};
  const Word4 bytes = (Word4{word, word, word, word} >> shifts) & 255u;
  return __builtin_convertvector(Int4(bytes), Float4);
}
DISTRIBUTE_ALWAYS_INLINE inline Float4 load4(const float* from) {
  Float4 values;
  std::memcpy(&values, from, sizeof values);
  return values;
}

/// Computes pixels with three channels as four values; the next pixel overwrites the last value. It
/// serves columns whose four values lie within the row; `out` has room for one more value.
template <typename T>
void interpolate_colors(const T* row, std::span<const Neighbours> columns, float* out) {
  simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
    float* at = out;
    for (const Neighbours& column : columns) {
      const Float4 left = load4(row + column.lower * 3), right = load4(row + column.upper * 3);
      const Float4 mixed = left + (right - left) * column.weight;
      std::memcpy(at, &mixed, sizeof mixed);
      at += 3;
    }
  });
}

/// Computes a row of pixels at the columns of the output.
template <typename T>
void interpolate_columns(const T* row, std::span<const Neighbours> columns, int64_t channels,
                         float* out) {
  for (const Neighbours& column : columns) {
    const T* left = row + column.lower * channels;
    const T* right = row + column.upper * channels;
    for (int64_t c = 0; c < channels; ++c)
      out[c] = float(left[c]) + (float(right[c]) - float(left[c])) * column.weight;
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

/// Gives rows of the input at the output's columns. The last two are kept, as neighbouring outputs
/// share them.
template <typename T>
class ColumnRows {
 public:
  ColumnRows(const T* image, const ImageSize& from, int64_t to_width, int64_t channels,
             bool mirrored)
      : image_(image),
        stride_(from.width * channels),
        channels_(channels),
        columns_(neighbours(from.width, to_width, mirrored)) {
    for (auto& row : rows_) row.resize(size_t(to_width * channels) + 1);
    const auto at_edge = [&](const Neighbours& n) {
      return channels != 3 || n.upper == from.width - 1;
    };
    while (first_ < columns_.size() && at_edge(columns_[first_])) ++first_;
    last_ = first_;
    while (last_ < columns_.size() && !at_edge(columns_[last_])) ++last_;
  }
  const float* row(int64_t number) {
    for (int i = 0; i < 2; ++i)
      if (numbers_[i] == number) return rows_[i].data();
    const int victim = numbers_[0] < numbers_[1] ? 0 : 1;
    numbers_[victim] = number;
    float* out = rows_[victim].data();
    const T* in = image_ + number * stride_;
    const std::span<const Neighbours> all(columns_);
    interpolate_columns(in, all.first(first_), channels_, out);
    interpolate_colors(in, all.subspan(first_, last_ - first_), out + int64_t(first_) * channels_);
    interpolate_columns(in, all.subspan(last_), channels_, out + int64_t(last_) * channels_);
    return out;
  }

 private:
  const T* image_;
  int64_t stride_, channels_;
  std::vector<Neighbours> columns_;
  size_t first_ = 0, last_ = 0;  // columns between them use interpolate_colors
  std::vector<float> rows_[2];
  int64_t numbers_[2] = {-1, -1};
};

template <typename T>
void resize_bilinear(const T* image, const ImageSize& from, const ImageSize& to, int64_t channels,
                     bool mirrored, float* out) {
  ColumnRows<T> columns(image, from, to.width, channels, mirrored);
  const int64_t count = to.width * channels;
  for (const Neighbours& line : neighbours(from.height, to.height)) {
    const float* top = columns.row(line.lower);
    const float* bottom = columns.row(line.upper);
    mix_rows(top, bottom, line.weight, count, out);
    out += count;
  }
}

template <typename T>
void resize_by_spans(const T* image, const ImageSize& from, const ImageSize& to, int64_t channels,
                     const ResizeOptions& options, float* out) {
  const int64_t in_row = from.width * channels, out_row = to.width * channels;
  std::vector<float> sums;
  const auto kernel = ops_internal::ResizeKernel(options.method);  // in the same order
  auto columns = ops_internal::resize_spans(to.width, from.width, kernel, options.antialias);
  if (options.mirrored) std::reverse(columns.begin(), columns.end());
  for (const auto& rows :
       ops_internal::resize_spans(to.height, from.height, kernel, options.antialias)) {
    sums.assign(size_t(in_row), 0);
    for (size_t k = 0; k < rows.weights.size(); ++k)
      for (int64_t i = 0; i < in_row; ++i)
        sums[size_t(i)] += rows.weights[k] * float(image[(rows.first + int64_t(k)) * in_row + i]);
    std::fill_n(out, out_row, 0.0f);
    for (const auto& span : columns) {
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
        str_cat("resize: expected uint8 or float32 [height, width, channels] or [batch, height, ",
                "width, channels], got ", name_of(image.dtype()), " ", to_string(shape)));
  if (size.height < 1 || size.width < 1)
    throw InvalidArgumentError(str_cat("resize: the new size is ", size.height, " x ", size.width,
                                       ", expected 1 or more"));
}

template <typename T>
void resize_batch(const Tensor& image, const ImageSize& to, const ResizeOptions& options,
                  Tensor& result) {
  const Shape& shape = image.shape();
  const int64_t channels = shape[-1];
  const ImageSize from{shape[-3], shape[-2]};
  const int64_t in_step = from.height * from.width * channels;
  const int64_t out_step = to.height * to.width * channels;
  const T* in = image.data<T>().data();
  float* out = result.mutable_data<float>();
  for (int64_t n = image.num_elements() / in_step; n > 0; --n, in += in_step, out += out_step) {
    if (options.antialias || options.method != ResizeMethod::Bilinear)
      resize_by_spans(in, from, to, channels, options, out);
    else
      resize_bilinear(in, from, to, channels, options.mirrored, out);
  }
}

static_assert(int(ResizeMethod::MitchellCubic) == int(ops_internal::ResizeKernel::MitchellCubic));

}  // namespace image_internal

DISTRIBUTE_INLINE Tensor resize(const Tensor& image, const ImageSize& size,
                                const ResizeOptions& options) {
  image_internal::check_resize(image, size);
  const int rank = image.shape().rank();
  const Shape shape = image.shape().with(rank - 3, size.height).with(rank - 2, size.width);
  Tensor result = Tensor::empty(shape, DType::Float32, Device{});
  if (image.dtype() == DType::UInt8)
    image_internal::resize_batch<uint8_t>(image, size, options, result);
  else
    image_internal::resize_batch<float>(image, size, options, result);
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
