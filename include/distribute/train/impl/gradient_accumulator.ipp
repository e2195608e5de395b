#pragma once
#include <distribute/base/error.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/train/compile.hpp>

#include <span>

namespace distribute::train {

DISTRIBUTE_INLINE GradientAccumulator::GradientAccumulator(int64_t steps, int local_replicas)
    : steps_(steps), sums_(size_t(local_replicas)), left_out_(size_t(local_replicas), false) {}

/// Discards restored sums, which the replicas have taken in the last step.
DISTRIBUTE_INLINE void GradientAccumulator::begin_step() {
  step_ -= left_out_[0];
  left_out_.assign(left_out_.size(), false);
  const bool taken_up = !sums_[0].empty() || step_ == steps_;
  if (taken_up) restored_.clear();
  step_ = step_ % steps_ + 1;
}

DISTRIBUTE_INLINE void GradientAccumulator::leave_out(int local_replica) {
  left_out_[size_t(local_replica)] = true;
}

/// Takes the replica's part of a restored state, which has as many elements as all its gradients.
DISTRIBUTE_INLINE void GradientAccumulator::take_up(int local_replica,
                                                    const std::vector<Tensor>& gradients) {
  int64_t each = 0;
  for (const Tensor& gradient : gradients) each += gradient ? gradient.num_elements() : 0;
  if (each * int64_t(sums_.size()) != int64_t(restored_.size()))
    throw FailedPreconditionError(str_cat("gradient accumulation: the checkpoint holds ",
                                          restored_.size(), " elements, wanted ", sums_.size(),
                                          " x ", each));
  const float* next = restored_.data() + each * local_replica;
  std::vector<Tensor>& sums = sums_[size_t(local_replica)];
  for (const Tensor& gradient : gradients) {
    const int64_t count = gradient ? gradient.num_elements() : 0;
    sums.push_back(gradient ? Tensor(gradient.shape(), std::span(next, size_t(count))) : Tensor());
    next += count;
  }
}

/// Copies the first gradient, as its memory may be reused by the next step.
DISTRIBUTE_INLINE void GradientAccumulator::add(int local_replica,
                                                const std::vector<Tensor>& gradients) {
  std::vector<Tensor>& sums = sums_[size_t(local_replica)];
  if (sums.empty() && !restored_.empty()) take_up(local_replica, gradients);
  sums.resize(gradients.size());
  for (size_t i = 0; i < sums.size(); ++i)
    if (gradients[i]) sums[i] = sums[i] ? sums[i] + gradients[i] : gradients[i] * 1.0f;
}

DISTRIBUTE_INLINE std::vector<Tensor> GradientAccumulator::take(int local_replica) {
  std::vector<Tensor> means = std::move(sums_[size_t(local_replica)]);
  sums_[size_t(local_replica)].clear();
  for (Tensor& mean : means)
    if (mean) mean = mean / float(steps_);
  return means;
}

DISTRIBUTE_INLINE Tensor GradientAccumulator::state() const {
  const int64_t counted = (step_ - left_out_[0]) % steps_;
  std::vector<float> all{float(counted)};
  for (const auto& sums : sums_)
    for (const Tensor& sum : sums) {
      if (!sum) continue;
      const std::vector<float> values = sum.to_vector();
      all.insert(all.end(), values.begin(), values.end());
    }
  if (sums_[0].empty() && counted != 0) all.insert(all.end(), restored_.begin(), restored_.end());
  return Tensor(Shape{int64_t(all.size())}, all);
}

DISTRIBUTE_INLINE void GradientAccumulator::restore(const Tensor& state) {
  const auto values = state.data<float>();
  if (values.empty()) throw InvalidArgumentError("gradient accumulation: an empty state");
  step_ = int64_t(values[0]);
  restored_.assign(values.begin() + 1, values.end());
  for (auto& sums : sums_) sums.clear();
  left_out_.assign(left_out_.size(), false);
}

}  // namespace distribute::train
