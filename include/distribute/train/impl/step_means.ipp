#pragma once
#include <distribute/base/error.hpp>
#include <distribute/strategy/strategy.hpp>
#include <distribute/train/detail/step_means.hpp>

#include <algorithm>
#include <bit>

namespace distribute::train_internal {

/// Returns the values of one replica as one tensor, in the order of `names`.
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
  for (auto& [name, sum] : sums_) sum += step.at(name) * double(examples);
  examples_ += examples;
}

DISTRIBUTE_INLINE Logs StepMeans::means() const {
  Logs logs;
  for (const auto& [name, sum] : sums_)
    logs.set(name, examples_ ? double(float(sum / double(examples_))) : 0.0);
  return logs;
}

/// Examples, number of sums, the sums, then the names, each with its end.
DISTRIBUTE_INLINE Tensor StepMeans::state() const {
  std::vector<int64_t> numbers{examples_, int64_t(sums_.size())};
  for (const auto& [name, sum] : sums_) numbers.push_back(std::bit_cast<int64_t>(sum));
  for (const auto& [name, sum] : sums_)
    numbers.insert(numbers.end(), name.c_str(), name.c_str() + name.size() + 1);
  return Tensor(Shape{int64_t(numbers.size())}, numbers);
}

DISTRIBUTE_INLINE void StepMeans::restore(const Tensor& state) {
  const auto numbers = state.data<int64_t>();
  reset();
  if (numbers.empty()) return;
  const auto damaged = [] {
    return InvalidArgumentError("the saved figures are of another version of the program");
  };
  if (numbers.size() < 2 || numbers[1] < 0 || numbers[1] > int64_t(numbers.size()) - 2)
    throw damaged();
  const auto count = size_t(numbers[1]);
  auto next = numbers.begin() + 2 + count;
  for (size_t i = 0; i < count; ++i) {
    const auto end = std::find(next, numbers.end(), 0);
    if (end == numbers.end()) throw damaged();
    sums_.emplace_back(std::string(next, end), std::bit_cast<double>(numbers[2 + i]));
    next = end + 1;
  }
  examples_ = numbers[0];
}

}  // namespace distribute::train
