#pragma once
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/ops/activation.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/detail/broadcast.hpp>
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

/// The weights of one row's labels, smoothing included.
struct LabelRow {
  int64_t number = -1;
  const float* weights = nullptr;
  float keep, spread;

  LabelRow(const ClassLabels& labels, int64_t row, int64_t classes)
      : keep(1 - labels.smoothing), spread(labels.smoothing / float(classes)) {
    if (labels.numbers)
      number = labels.numbers.data<int64_t>()[size_t(row)];
    else
      weights = labels.weights.data<float>().data() + row * classes;
  }
  float operator[](int64_t k) const {
    return (weights ? weights[k] : float(number == k)) * keep + spread;
  }
};

/// Computes the loss of one row, sum(t (log_sum - x)); `p` receives the softmax.
DISTRIBUTE_INLINE float cross_entropy_row(const ClassLabels& labels, int64_t row, const float* x,
                                          float* p, int64_t classes) {
  float sum = 0, loss = 0;
  const float most = *std::max_element(x, x + classes);
  for (int64_t k = 0; k < classes; ++k) sum += p[k] = std::exp(x[k] - most);
  const float log_sum = std::log(sum), scale = 1 / sum;
  for (int64_t k = 0; k < classes; ++k) p[k] *= scale;
  const LabelRow label(labels, row, classes);
  for (int64_t k = 0; k < classes; ++k)
    if (label[k] != 0) loss += label[k] * (log_sum - (x[k] - most));
  return loss;
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
                 for (int64_t row = begin; row < end; ++row) {
                   const LabelRow label(labels, row, classes);
                   float total = labels.numbers ? 1.0f : 0.0f;
                   for (int64_t k = 0; labels.weights && k < classes; ++k) total += label[k];
                   for (int64_t i = row * classes, k = 0; k < classes; ++i, ++k)
                     out[i] = factor[row] * (probability[i] * total - label[k]);
                 }
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
  return nn::softplus(logits) - logits * labels;
}

}  // namespace distribute
