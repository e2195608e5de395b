#pragma once
#include <distribute/base/error.hpp>
#include <distribute/horovod/basics.hpp>
#include <distribute/horovod/callbacks.hpp>
#include <distribute/horovod/collectives.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace distribute::hvd {

DISTRIBUTE_INLINE train::MinimizeFunction minimizer(DistributedOptimizer& optimizer) {
  return [&optimizer](const Tensor& loss, const std::vector<Variable>& variables,
                      GradientTape& tape) { optimizer.minimize(loss, variables, tape); };
}

DISTRIBUTE_INLINE void BroadcastGlobalVariablesCallback::broadcast() {
  optim::Optimizer& optimizer = model().optimizer();
  optimizer.build(model().module().trainable_variables());
  broadcast_variables(variables_of(model().module()), root_rank_);
  broadcast_variables(variables_of(optimizer), root_rank_);
  done_ = true;
}

/// All ranks take part or none: a rank that has its weights already would otherwise wait for the
/// others.
DISTRIBUTE_INLINE void BroadcastGlobalVariablesCallback::on_train_begin(train::Logs&) {
  done_ = false;
  const float there = variables_of(model().module()).empty() ? 0 : 1;
  if (allreduce(Tensor(there), {.op = Min, .name = "callbacks.variables"}).item<float>() == 1)
    broadcast();
}

DISTRIBUTE_INLINE void BroadcastGlobalVariablesCallback::on_train_batch_end(int64_t, train::Logs&) {
  if (!done_) broadcast();
}

DISTRIBUTE_INLINE void MetricAverageCallback::on_epoch_end(int64_t, train::Logs& logs) {
  std::vector<train::Logs::Entry> entries(logs.begin(), logs.end());
  std::sort(entries.begin(), entries.end());
  for (const auto& [name, value] : entries) {
    const Tensor mean = allreduce(Tensor(float(value)), {.op = Average, .name = "metric." + name});
    logs.set(name, double(mean.item<float>()));
  }
}

DISTRIBUTE_INLINE LearningRateScheduleCallback::LearningRateScheduleCallback(
    std::function<double(double)> multiplier, const Options& options)
    : multiplier_(std::move(multiplier)), options_(options) {
  if (!(options.initial_lr > 0))
    throw InvalidArgumentError(str_cat(
        "LearningRateScheduleCallback: initial_lr must be positive, not ", options.initial_lr));
}

DISTRIBUTE_INLINE void LearningRateScheduleCallback::on_train_begin(train::Logs&) {
  model().optimizer().require_settable_rate("LearningRateScheduleCallback");
  if (options_.staircase || options_.steps_per_epoch) return;
  options_.steps_per_epoch = params().steps;
  if (!options_.steps_per_epoch)
    throw InvalidArgumentError(
        "LearningRateScheduleCallback: the number of steps of an epoch is not known: give "
        "steps_per_epoch");
}

DISTRIBUTE_INLINE void LearningRateScheduleCallback::on_epoch_begin(int64_t epoch, train::Logs&) {
  epoch_ = epoch;
}

DISTRIBUTE_INLINE void LearningRateScheduleCallback::on_train_batch_begin(int64_t batch,
                                                                          train::Logs&) {
  if (epoch_ < options_.start_epoch || (options_.end_epoch && epoch_ >= *options_.end_epoch))
    return;
  if (!options_.staircase)
    set_rate(double(epoch_) + double(batch) / steps_per_epoch());
  else if (batch == 0)
    set_rate(double(epoch_));
}

DISTRIBUTE_INLINE void LearningRateScheduleCallback::set_rate(double epoch) {
  const double rate = options_.initial_lr * multiplier(epoch);
  if (!std::isfinite(rate))
    throw InvalidArgumentError(
        str_cat("LearningRateScheduleCallback: the multiplier gives ", rate, " in epoch ", epoch));
  model().optimizer().set_learning_rate(rate);
}

DISTRIBUTE_INLINE void LearningRateScheduleCallback::on_epoch_end(int64_t, train::Logs& logs) {
  logs.set("lr", double(model().optimizer().learning_rate()));
}

DISTRIBUTE_INLINE LearningRateWarmupCallback::LearningRateWarmupCallback(
    const LearningRateWarmupOptions& options)
    : LearningRateScheduleCallback(1, {.initial_lr = options.initial_lr,
                                       .end_epoch = options.warmup_epochs,
                                       .staircase = false,
                                       .steps_per_epoch = options.steps_per_epoch}),
      options_(options) {
  if (options.warmup_epochs < 1)
    throw InvalidArgumentError(str_cat("LearningRateWarmupCallback: warmup_epochs must be at ",
                                       "least 1, not ", options.warmup_epochs));
}

/// The current step counts as done, so that the last step of an epoch gives a round number.
DISTRIBUTE_INLINE double LearningRateWarmupCallback::multiplier(double epoch) const {
  const double ranks = size(), done = epoch + 1 / steps_per_epoch();
  return (done * (ranks - 1) / double(options_.warmup_epochs) + 1) / ranks;
}

DISTRIBUTE_INLINE void LearningRateWarmupCallback::on_epoch_end(int64_t epoch, train::Logs& logs) {
  LearningRateScheduleCallback::on_epoch_end(epoch, logs);
  if (options_.verbose && epoch + 1 == options_.warmup_epochs && rank() == 0)
    std::printf("Epoch %lld: finished gradual learning rate warmup to %g.\n", (long long)epoch + 1,
                logs.at("lr"));
}

}  // namespace distribute::hvd
