#pragma once
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/detail/ctc_inputs.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/sequence.hpp>

#include <algorithm>
#include <cmath>

namespace distribute {

namespace ops_internal {

/// The weight of a path that ends before its label does. Source  the log_0 of
/// tensorflow.python.ops.ctc_ops.ctc_state_log_probs
inline constexpr double kLogUnfinished = -706.893623549172;

/// The sums over all paths of one example. State 0 comes before the first step; from there on odd
/// states are blanks and even ones the labels: blank, first label, blank, ..., blank.
class CtcPaths {
 public:
  CtcPaths(const CtcScores& scores, int64_t example, std::span<const int64_t> labels)
      : scores_(scores),
        example_(example),
        labels_(labels),
        steps_(scores.lengths[size_t(example)]),
        states_(2 * int64_t(labels.size()) + 2),
        forward_(size_t((steps_ + 1) * states_), kLogZero) {
    forward_[0] = 0;
    for (int64_t t = 0; t < steps_; ++t) advance(t);
    log_likelihood_ = kLogZero;
    for (int64_t s = 0; s < states_; ++s)
      log_likelihood_ = log_add(log_likelihood_, forward(steps_, s) + end_weight(s));
  }

  double loss() const { return -log_likelihood_; }

  /// Writes the gradient of the loss by the logits [steps, classes], times `factor`; later steps
  /// are left alone.
  void gradient(double factor, float* out) const {
    std::vector<double> backward(static_cast<size_t>(states_)), logs, share;
    for (int64_t s = 0; s < states_; ++s) backward[size_t(s)] = end_weight(s);
    for (int64_t t = steps_ - 1; t >= 0; --t) {
      log_probabilities(scores_.step(example_, t), logs);
      share.assign(logs.size(), 0);
      for (int64_t s = 1; s < states_; ++s)
        share[size_t(symbol(s))] +=
            std::exp(forward(t + 1, s) + backward[size_t(s)] - log_likelihood_);
      for (size_t k = 0; k < logs.size(); ++k)
        out[t * scores_.classes + int64_t(k)] = float(factor * (std::exp(logs[k]) - share[k]));
      step_back(logs, backward);
    }
  }

 private:
  double forward(int64_t t, int64_t s) const { return forward_[size_t(t * states_ + s)]; }
  int64_t symbol(int64_t s) const { return s % 2 ? scores_.blank : labels_[size_t(s / 2 - 1)]; }
  double end_weight(int64_t s) const {
    const bool all_labels = s >= states_ - 2;
    return all_labels ? 0 : kLogUnfinished;
  }
  /// Whether a path may go from state s - 2 to s: the blank between two labels may be left out
  /// unless they are equal.
  bool may_skip(int64_t s) const {
    if (s == 2) return true;
    return s > 2 && s % 2 == 0 && labels_[size_t(s / 2 - 1)] != labels_[size_t(s / 2 - 2)];
  }
  void advance(int64_t t) {
    std::vector<double> logs;
    log_probabilities(scores_.step(example_, t), logs);
    for (int64_t s = 1; s < states_; ++s) {
      double sum = log_add(forward(t, s), forward(t, s - 1));
      if (may_skip(s)) sum = log_add(sum, forward(t, s - 2));
      forward_[size_t((t + 1) * states_ + s)] = sum + logs[size_t(symbol(s))];
    }
  }
  void step_back(const std::vector<double>& logs, std::vector<double>& backward) const {
    for (int64_t s = 0; s < states_; ++s) {
      const auto arrival = [&](int64_t to) {
        return backward[size_t(to)] + logs[size_t(symbol(to))];
      };
      double sum = s == 0 ? kLogZero : arrival(s);
      if (s + 1 < states_) sum = log_add(sum, arrival(s + 1));
      if (s + 2 < states_ && may_skip(s + 2)) sum = log_add(sum, arrival(s + 2));
      backward[size_t(s)] = sum;  // later states are not needed any more
    }
  }

  const CtcScores& scores_;
  int64_t example_;
  std::span<const int64_t> labels_;
  int64_t steps_, states_;
  std::vector<double> forward_;
  double log_likelihood_;
};

/// Labels of a batch and how many of each example count.
struct CtcLabels {
  Tensor numbers;  // int64 [batch, labels]
  std::vector<int64_t> lengths;

  std::span<const int64_t> of(int64_t example) const {
    return numbers.data<int64_t>().subspan(size_t(example * numbers.shape()[1]),
                                           size_t(lengths[size_t(example)]));
  }
};

DISTRIBUTE_INLINE CtcLabels ctc_labels(const Tensor& target, const Tensor& lengths,
                                       const CtcScores& scores) {
  if (target.shape().rank() != 2 || target.shape()[0] != scores.batch ||
      is_floating(target.dtype()))
    throw InvalidArgumentError(str_cat("ctc_loss: wants integer labels [", scores.batch,
                                       ", labels], got ", name_of(target.dtype()), " ",
                                       to_string(target.shape())));
  CtcLabels labels{
      cast(target, DType::Int64).to(Device{}).row_major(),
      ctc_lengths("ctc_loss", "lengths of labels", lengths, scores.batch, target.shape()[1])};
  for (int64_t i = 0; i < scores.batch; ++i) {
    const auto row = labels.of(i);
    for (size_t k = 0; k < row.size(); ++k)
      if (row[k] < 0 || row[k] >= scores.classes || row[k] == scores.blank)
        throw InvalidArgumentError(str_cat("ctc_loss: label ", row[k], " at [", i, ", ", k, "] is ",
                                           row[k] == scores.blank ? "the blank" : "no class",
                                           "; there are ", scores.classes,
                                           " classes with the blank, ", scores.blank));
  }
  return labels;
}

/// Calls fn(example) for all examples, on several threads.
template <typename Fn>
void for_each_example(const CtcScores& scores, Fn&& fn) {
  parallel_for(scores.batch, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) fn(i);
  });
}

DISTRIBUTE_INLINE Tensor ctc_gradient(const CtcScores& scores, const CtcLabels& labels,
                                      const Tensor& upstream) {
  Tensor dx = zeros(scores.logits.shape()).to(Device{});
  const Tensor factors = upstream.to(Device{}).row_major();
  float* out = dx.mutable_data<float>();
  for_each_example(scores, [&](int64_t i) {
    CtcPaths(scores, i, labels.of(i))
        .gradient(factors.data<float>()[size_t(i)], out + i * scores.steps * scores.classes);
  });
  return dx;
}

}  // namespace ops_internal

DISTRIBUTE_INLINE Tensor nn::ctc_loss(const Tensor& target, const Tensor& output,
                                      const Tensor& target_length, const Tensor& output_length,
                                      int64_t mask_index) {
  using namespace ops_internal;
  const CtcScores scores = ctc_scores("ctc_loss", stop_gradient(output), output_length, mask_index);
  const CtcLabels labels = ctc_labels(target, target_length, scores);
  Tensor loss = Tensor::empty({scores.batch}, DType::Float32, Device{});
  float* out = loss.mutable_data<float>();
  for_each_example(scores,
                   [&](int64_t i) { out[i] = float(CtcPaths(scores, i, labels.of(i)).loss()); });
  const Device device = output.device();
  const DType dtype = output.dtype();
  return record("ctc_loss", {output}, loss.to(device),
                [=](const Backward& b) -> std::vector<Tensor> {
                  return {cast(ctc_gradient(scores, labels, b.gradient()).to(device), dtype)};
                });
}

}  // namespace distribute
