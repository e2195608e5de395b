#pragma once
#include <distribute/base/error.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/detail/ctc_inputs.hpp>

#include <algorithm>
#include <cmath>

namespace distribute::ops_internal {

DISTRIBUTE_INLINE double log_add(double a, double b) {
  const double most = std::max(a, b);
  return most == kLogZero ? kLogZero : most + std::log1p(std::exp(std::min(a, b) - most));
}

DISTRIBUTE_INLINE void log_probabilities(std::span<const float> x, std::vector<double>& out) {
  const double most = *std::max_element(x.begin(), x.end());
  double sum = 0;
  for (const float value : x) sum += std::exp(value - most);
  const double log_sum = most + std::log(sum);
  out.resize(x.size());
  for (size_t k = 0; k < x.size(); ++k) out[k] = x[k] - log_sum;
}

DISTRIBUTE_INLINE std::vector<int64_t> ctc_lengths(const char* op, const char* name,
                                                   const Tensor& lengths, int64_t batch,
                                                   int64_t most) {
  if (lengths.shape() != Shape{batch} || is_floating(lengths.dtype()))
    throw InvalidArgumentError(str_cat(op, ": ", name, " are integers ", to_string(Shape{batch}),
                                       ", one of each example; got ", name_of(lengths.dtype()), " ",
                                       to_string(lengths.shape())));
  const Tensor wide = cast(lengths, DType::Int64);
  const auto values = wide.data<int64_t>();
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i] < 0 || values[i] > most)
      throw InvalidArgumentError(
          str_cat(op, ": ", name, "[", i, "] is ", values[i], ", outside of [0, ", most, "]"));
  return {values.begin(), values.end()};
}

DISTRIBUTE_INLINE CtcScores ctc_scores(const char* op, const Tensor& logits, const Tensor& lengths,
                                       int64_t mask_index) {
  const Shape& shape = logits.shape();
  if (shape.rank() != 3 || !is_floating(logits.dtype()) || shape[2] < 1)
    throw InvalidArgumentError(str_cat(op, ": wants floating logits [batch, steps, classes], got ",
                                       name_of(logits.dtype()), " ", to_string(shape)));
  const int64_t classes = shape[2], blank = mask_index < 0 ? mask_index + classes : mask_index;
  if (blank < 0 || blank >= classes)
    throw InvalidArgumentError(
        str_cat(op, ": mask_index ", mask_index, " is none of the ", classes, " classes"));
  return {cast(logits, DType::Float32).to(Device{}).row_major(),
          ctc_lengths(op, "lengths of sequences", lengths, shape[0], shape[1]),
          shape[0],
          shape[1],
          classes,
          blank};
}

}  // namespace distribute::ops_internal
