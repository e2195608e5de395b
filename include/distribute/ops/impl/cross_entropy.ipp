#pragma once
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/ops/activation.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/detail/broadcast.hpp>
#include <distribute/ops/detail/flat_loop.hpp>
#include <distribute/ops/detail/gpu_lines.hpp>
#include <distribute/ops/detail/gpu_loops.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/ops/slicing.hpp>

#include <algorithm>
#include <cmath>

namespace distribute {

namespace ops_internal {

/// Labels of either kind: `numbers` int64 [rows], or `weights` float32 [rows, classes].
struct ClassLabels {
  Tensor numbers, weights;
  float smoothing = 0;
};

/// Weights of one row's labels, smoothing included: of classes that are given as weights, and of
/// one class that is given by its number.
struct WeightedClasses {
  const float* weights;
  float keep, spread;
  DISTRIBUTE_ALWAYS_INLINE float operator()(int64_t k) const { return weights[k] * keep + spread; }
};
struct NumberedClass {
  int64_t number;
  float keep, spread;
  DISTRIBUTE_ALWAYS_INLINE float operator()(int64_t k) const {
    return (number == k ? keep : 0.0f) + spread;
  }
};

/// Calls fn(label) with the weights of a row.
template <typename Fn>
void with_labels(const ClassLabels& labels, int64_t row, int64_t classes, const Fn& fn) {
  const float keep = 1 - labels.smoothing, spread = labels.smoothing / float(classes);
  if (labels.numbers)
    fn(NumberedClass{labels.numbers.data<int64_t>()[size_t(row)], keep, spread});
  else
    fn(WeightedClasses{labels.weights.data<float>().data() + row * classes, keep, spread});
}

// These loops are separate functions, because variables that a lambda captures prevent
// vectorisation.
template <typename Label>
DISTRIBUTE_ALWAYS_INLINE inline float label_sum_loop(const Label label, int64_t classes) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t k = 0; k < classes; ++k) sum += label(k);
  return sum;
}

/// Returns the sum of t (log_sum - (x - most)) over the classes whose weight t is not 0.
template <typename Label>
DISTRIBUTE_ALWAYS_INLINE inline float label_loss_loop(const Label label, const float* x, float most,
                                                      float log_sum, int64_t classes) {
  float loss = 0;
#pragma omp simd reduction(+ : loss)
  for (int64_t k = 0; k < classes; ++k) {
    const float t = label(k), part = t * (log_sum - (x[k] - most));
    loss += t != 0 ? part : 0.0f;
  }
  return loss;
}

/// Computes dx = dy (p sum(t) - t).
template <typename Label>
DISTRIBUTE_ALWAYS_INLINE inline void label_gradient_loop(const Label label, const float* p,
                                                         float sum, float dy, float* dx,
                                                         int64_t classes) {
#pragma omp simd
  for (int64_t k = 0; k < classes; ++k) dx[k] = dy * (p[k] * sum - label(k));
}

DISTRIBUTE_ALWAYS_INLINE inline void scale_loop(float* p, float scale, int64_t classes) {
#pragma omp simd
  for (int64_t k = 0; k < classes; ++k) p[k] *= scale;
}

/// Computes the loss of one row, sum(t (log_sum - x)); `p` receives the softmax.
DISTRIBUTE_INLINE float cross_entropy_row(const ClassLabels& labels, int64_t row, const float* x,
                                          float* p, int64_t classes) {
  const ExpLine line = exp_line(x, p, classes);
  const float log_sum = std::log(line.sum), scale = 1 / line.sum;
  simd_call([=]() DISTRIBUTE_ALWAYS_INLINE { scale_loop(p, scale, classes); });
  float loss = 0;
  with_labels(labels, row, classes, [&](const auto& label) {
    simd_call([=, most = line.most, &loss]() DISTRIBUTE_ALWAYS_INLINE {
      loss = label_loss_loop(label, x, most, log_sum, classes);
    });
  });
  return loss;
}

/// Computes dx = dy (p sum(t) - t) of one row.
DISTRIBUTE_INLINE void cross_entropy_row_gradient(const ClassLabels& labels, int64_t row,
                                                  const float* p, float dy, float* dx,
                                                  int64_t classes) {
  with_labels(labels, row, classes, [&](const auto& label) {
    const bool one = bool(labels.numbers);
    simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
      const float sum = one ? 1.0f : label_sum_loop(label, classes);
      label_gradient_loop(label, p, sum, dy, dx, classes);
    });
  });
}

/// Computes dx = dy (p sum(t) - t), in one pass. `p` is the softmax; on GPUs it is the rows'
/// statistics.
DISTRIBUTE_INLINE Tensor cross_entropy_gradient(const ClassLabels& labels, const Tensor& logits,
                                                const Tensor& p, const Tensor& dy) {
  if (on_gpu(p))
    return gpu_cross_entropy_gradient(
        {labels.numbers, brought_to(labels.weights, p.device()), labels.smoothing}, logits, p, dy);
  const int64_t classes = p.shape()[-1];
  Tensor dx = Tensor::empty(p.shape(), DType::Float32, p.device());
  const float *probability = p.data<float>().data(), *factor = dy.data<float>().data();
  float* out = dx.mutable_data<float>();
  parallel_for(dy.num_elements(), std::max<int64_t>(8192 / classes, 1),
               [&](int64_t begin, int64_t end) {
                 for (int64_t row = begin; row < end; ++row)
                   cross_entropy_row_gradient(labels, row, probability + row * classes, factor[row],
                                              out + row * classes, classes);
               });
  return dx;
}

/// Gives the labels as recorded float32 weights [batch..., classes].
DISTRIBUTE_INLINE Tensor label_weights(const ClassLabels& labels, const Shape& shape) {
  Tensor weights = labels.weights;
  if (on_gpu(labels.numbers)) {
    weights = one_hot(labels.numbers.view(Shape(shape.dims().first(size_t(shape.rank() - 1)))),
                      shape[-1], 1, 0, -1, DType::Float32);
  } else if (labels.numbers) {
    weights = zeros(shape);
    const auto numbers = labels.numbers.data<int64_t>();
    for (size_t row = 0; row < numbers.size(); ++row)
      weights.mutable_data<float>()[int64_t(row) * shape[-1] + numbers[row]] = 1;
  }
  return weights * (1 - labels.smoothing) + labels.smoothing / float(shape[-1]);
}

/// Gives the gradients of weights and logits, by recorded operations if a tape is active.
DISTRIBUTE_INLINE std::vector<Tensor> cross_entropy_backward(const ClassLabels& labels,
                                                             const Tensor& logits, const Tensor& p,
                                                             const Backward& b) {
  const Tensor dy = b.gradient();
  Shape with_classes = dy.shape();
  with_classes.push_back(1);
  const Tensor column = reshaped(dy, with_classes), wide = cast(logits, DType::Float32);
  std::vector<Tensor> result(2);
  if (b.needs(0)) result[0] = negative(nn::log_softmax(wide)) * column * (1 - labels.smoothing);
  if (!b.needs(1)) return result;
  if (!is_recording(std::vector<Tensor>{dy, logits, labels.weights})) {
    result[1] = cross_entropy_gradient(labels, logits, p, dy);
    return result;
  }
  const Tensor weights = label_weights(labels, logits.shape());
  const Tensor dx = column * (nn::softmax(wide) * reduce_sum(weights, {-1}, true) - weights);
  result[1] = cast(dx, logits.dtype());
  return result;
}

/// Computes the float32 loss [batch...] of floating logits [batch..., classes], recorded.
DISTRIBUTE_INLINE Tensor cross_entropy(const char* op, const ClassLabels& given,
                                       const Tensor& given_logits) {
  const bool gpu = on_gpu(given_logits);
  const Tensor logits = gpu ? given_logits : cast(given_logits, DType::Float32);
  const ClassLabels labels =
      gpu ? ClassLabels{brought_to(given.numbers, logits.device()), given.weights, given.smoothing}
          : given;
  const int64_t classes = logits.shape()[-1];
  const Shape batch(logits.shape().dims().first(size_t(logits.shape().rank() - 1)));
  Tensor loss = Tensor::empty(batch, DType::Float32, logits.device());
  Tensor p = Tensor::empty(gpu ? Shape{batch.num_elements(), 2} : logits.shape(), DType::Float32,
                           logits.device());
  if (gpu)
    gpu_cross_entropy(
        {labels.numbers, brought_to(labels.weights, logits.device()), labels.smoothing}, logits,
        loss, p);
  const float* x = gpu ? nullptr : logits.data<float>().data();
  float* out = gpu ? nullptr : loss.mutable_data<float>();
  float* softmax = gpu ? nullptr : p.mutable_data<float>();
  if (!gpu)
    parallel_for(batch.num_elements(), std::max<int64_t>(2048 / classes, 1),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t row = begin; row < end; ++row)
                     out[row] = cross_entropy_row(labels, row, x + row * classes,
                                                  softmax + row * classes, classes);
                 });
  return record(op, {labels.weights, logits}, loss,
                [=](const Backward& b) { return cross_entropy_backward(labels, logits, p, b); });
}

DISTRIBUTE_INLINE void check_cross_entropy(const char* op, const Tensor& logits, float smoothing) {
  if (!is_floating(logits.dtype()) || logits.shape().rank() == 0 || logits.shape()[-1] == 0)
    throw InvalidArgumentError(str_cat(op, ": wants floating logits [batch..., classes], got ",
                                       to_string(logits.shape()), " ", name_of(logits.dtype())));
  if (!(smoothing >= 0 && smoothing <= 1))
    throw InvalidArgumentError(
        str_cat(op, ": label_smoothing must lie in [0, 1], got ", smoothing));
}

/// Gives int64 class numbers, each inside [0, classes). Numbers on a GPU are not checked, since
/// that would wait for it; a wrong number makes the loss NaN.
DISTRIBUTE_INLINE Tensor checked_labels(const char* op, const Tensor& labels, int64_t classes) {
  if (is_floating(labels.dtype()) || labels.dtype() == DType::Bool)
    throw InvalidArgumentError(str_cat(op, ": labels are class numbers of an integer dtype, got ",
                                       name_of(labels.dtype())));
  const Tensor numbers = converted(labels, DType::Int64);
  if (on_gpu(numbers)) return numbers;
  const auto values = numbers.data<int64_t>();
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i] < 0 || values[i] >= classes)
      throw InvalidArgumentError(str_cat(op, ": label ", values[i], " at position ", i,
                                         " is outside the valid range [0, ", classes, ")"));
  return numbers;
}

}  // namespace ops_internal

DISTRIBUTE_INLINE Tensor nn::softmax_cross_entropy_with_logits(const Tensor& labels,
                                                               const Tensor& logits,
                                                               float label_smoothing) {
  constexpr const char* kOp = "softmax_cross_entropy_with_logits";
  ops_internal::check_cross_entropy(kOp, logits, label_smoothing);
  if (labels.shape() != logits.shape() || labels.dtype() != logits.dtype())
    throw InvalidArgumentError(str_cat(kOp, ": labels ", to_string(labels.shape()), " ",
                                       name_of(labels.dtype()), " and logits ",
                                       to_string(logits.shape()), " ", name_of(logits.dtype())));
  const Tensor loss =
      ops_internal::cross_entropy(kOp, {{}, cast(labels, DType::Float32), label_smoothing}, logits);
  return cast(loss, logits.dtype());
}

DISTRIBUTE_INLINE Tensor nn::sparse_softmax_cross_entropy_with_logits(const Tensor& labels,
                                                                      const Tensor& logits,
                                                                      float label_smoothing) {
  constexpr const char* kOp = "sparse_softmax_cross_entropy_with_logits";
  ops_internal::check_cross_entropy(kOp, logits, label_smoothing);
  const auto batch = logits.shape().dims().first(size_t(logits.shape().rank() - 1));
  if (labels.shape() != Shape(batch))
    throw InvalidArgumentError(str_cat(kOp, ": labels ", to_string(labels.shape()),
                                       " do not fit logits ", to_string(logits.shape()),
                                       "; wanted ", to_string(Shape(batch))));
  const Tensor numbers = ops_internal::checked_labels(kOp, labels, logits.shape()[-1]);
  const Tensor loss = ops_internal::cross_entropy(kOp, {numbers, {}, label_smoothing}, logits);
  return cast(loss, logits.dtype());
}

DISTRIBUTE_INLINE Tensor nn::sigmoid_cross_entropy_with_logits(const Tensor& labels,
                                                               const Tensor& logits) {
  if (labels.shape() != logits.shape())
    throw InvalidArgumentError(str_cat("sigmoid_cross_entropy_with_logits: labels ",
                                       to_string(labels.shape()), " and logits ",
                                       to_string(logits.shape())));
  // softplus(x) - x y is the same, but loses what is small beside x.
  return labels * nn::softplus(-logits) + (1.0f - labels) * nn::softplus(logits);
}

}  // namespace distribute
