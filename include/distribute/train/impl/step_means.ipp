#pragma once
#include <distribute/base/error.hpp>
#include <distribute/strategy/strategy.hpp>
#include <distribute/train/detail/step_means.hpp>

#include <bit>

namespace distribute::train_internal {

/// The shares of one replica as one tensor, in the order of `names`.
DISTRIBUTE_INLINE Tensor packed(const train::StepLogs& shares, const train::StepLogs& names) {
  std::vector<float> values;
  for (const auto& [name, share] : shares) {
    if (values.size() >= names.size() || names[values.size()].first != name)
      throw InvalidArgumentError("train_step: the replicas give different figures, such as '" +
                                 name + "' on one of them alone");
    if (!share || share.num_elements() != 1)
      throw InvalidArgumentError("train_step: '" + name + "' is not one number");
    values.push_back(share.to_vector()[0]);
  }
  if (values.size() != names.size())
    throw InvalidArgumentError("train_step: the replicas give different figures");
  return Tensor(Shape{int64_t(values.size())}, values);
}

}  // namespace distribute::train_internal

namespace distribute::train {

DISTRIBUTE_INLINE Logs reduce_step_logs(Strategy& strategy, const PerReplica<StepLogs>& shares) {
  return reduce_step_logs(strategy, std::vector<UnreadStep>{{shares}}).at(0);
}

DISTRIBUTE_INLINE std::vector<Logs> reduce_step_logs(Strategy& strategy,
                                                     const std::vector<UnreadStep>& steps) {
  if (steps.empty()) return {};
  std::vector<StepLogs> replicas(steps[0].shares.values().size());
  for (const UnreadStep& step : steps)
    for (size_t r = 0; r < replicas.size(); ++r) {
      const StepLogs& mine = step.shares.values()[r];
      replicas[r].insert(replicas[r].end(), mine.begin(), mine.end());
    }
  std::vector<Tensor> parts;
  for (const StepLogs& mine : replicas) parts.push_back(train_internal::packed(mine, replicas[0]));
  Tensor sums;
  if (!replicas[0].empty())
    sums = strategy.reduce(ReduceOp::Sum, PerReplica<Tensor>(std::move(parts)));
  std::vector<Logs> all(steps.size());
  size_t place = 0;
  for (size_t i = 0; i < steps.size(); ++i)
    for (const auto& [name, share] : steps[i].shares[0])
      all[i].set(name, double(sums.data<float>()[place++]));
  return all;
}

DISTRIBUTE_INLINE void StepMeans::add(const Logs& step, int64_t examples) {
  if (sums_.empty())
    for (const auto& [name, value] : step) sums_.emplace_back(name, 0.0);
  for (size_t i = 0; i < restored_.size() && i < sums_.size(); ++i) sums_[i].second = restored_[i];
  restored_.clear();
  for (auto& [name, sum] : sums_) sum += step.at(name) * double(examples);
  examples_ += examples;
}

DISTRIBUTE_INLINE Logs StepMeans::means() const {
  Logs logs;
  for (const auto& [name, sum] : sums_) logs.set(name, examples_ ? sum / double(examples_) : 0.0);
  return logs;
}

DISTRIBUTE_INLINE Tensor StepMeans::state() const {
  std::vector<int64_t> numbers{examples_};
  for (const auto& [name, sum] : sums_) numbers.push_back(std::bit_cast<int64_t>(sum));
  return Tensor(Shape{int64_t(numbers.size())}, numbers);
}

DISTRIBUTE_INLINE void StepMeans::restore(const Tensor& state) {
  const auto numbers = state.data<int64_t>();
  reset();
  if (numbers.empty()) return;
  examples_ = numbers[0];
  for (const int64_t bits : numbers.subspan(1)) restored_.push_back(std::bit_cast<double>(bits));
}

}  // namespace distribute::train
