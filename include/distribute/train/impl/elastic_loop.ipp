#pragma once
#include <distribute/base/leave_notice.hpp>
#include <distribute/cluster/detail/task_failure.hpp>
#include <distribute/strategy/detail/multi_worker_extended.hpp>
#include <distribute/strategy/strategy.hpp>
#include <distribute/train/detail/state_exchange.hpp>
#include <distribute/train/elastic_loop.hpp>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

namespace distribute::train {

struct ElasticLoop::Impl {
  using Clock = std::chrono::steady_clock;
  using Extended = strategy_internal::MultiWorkerExtended;

  Impl(Strategy& the_strategy, CheckpointParts parts, Variable the_step,
       ElasticLoopOptions the_options);

  int64_t steps() const { return step.impl().component(0).item<int64_t>(); }
  collective::Communicator& workers() const { return *extended->group().workers; }
  void settle();
  bool join();
  void take_over(const ElasticGeneration& next);
  bool was_others_fault();
  int32_t steps_to_next_check();
  void check();
  std::optional<ElasticEnd> attempt(const std::function<void()>& body);

  Extended* const extended;  // null: the members cannot change
  const Variable step;
  const ElasticLoopOptions options;
  train_internal::StateExchange state;
  const LeaveNotice notice;
  ElasticMembers members;
  ElasticState mine;  // as of the last commit
  bool leaving = false, told_to_leave = false;
  int32_t until_check = 1;  // steps, the same on all members
  int32_t since_check = 0;
  Clock::time_point last_check = Clock::now();
};

DISTRIBUTE_INLINE strategy_internal::MultiWorkerExtended* elastic_extended(Strategy& strategy) {
  auto* extended = dynamic_cast<strategy_internal::MultiWorkerExtended*>(&strategy.extended());
  return extended && extended->elastic() ? extended : nullptr;
}

DISTRIBUTE_INLINE bool is_elastic(Strategy& strategy) {
  return elastic_extended(strategy) != nullptr;
}

DISTRIBUTE_INLINE ElasticLoop::Impl::Impl(Strategy& the_strategy, CheckpointParts parts,
                                          Variable the_step, ElasticLoopOptions the_options)
    : extended(elastic_extended(the_strategy)),
      step(std::move(the_step)),
      options(std::move(the_options)),
      state(std::move(parts)),
      notice(extended ? options.leave_signals : std::vector<int>{}) {}

/// Returns after a failure to the last commit or, when this worker has applied the update since, to
/// the step after it.
DISTRIBUTE_INLINE void ElasticLoop::Impl::settle() {
  if (mine.generation == 0) return;
  if (steps() == mine.step) return state.restore();
  mine.step = steps();
}

/// Returns false when the job has finished without this worker.
DISTRIBUTE_INLINE bool ElasticLoop::Impl::join() {
  for (;;) {
    if (const auto failed = extended->elastic()->failure()) members.lost = failed->reason;
    if (mine.generation == 0) mine.step = steps();
    const auto next = extended->join_next(mine, [this] { return notice.has_come(); });
    if (!next) return false;
    try {
      take_over(*next);
      return true;
    } catch (const Error&) {
      if (!was_others_fault()) throw;
    }
  }
}

DISTRIBUTE_INLINE void ElasticLoop::Impl::take_over(const ElasticGeneration& next) {
  state.exchange(workers(), next.source, next.current);
  mine = {next.number, steps()};
  members.generation = next.number;
  members.step = mine.step;
  members.names.clear();
  for (const ClusterMember& member : next.tasks.members) members.names.push_back(member.name());
  state.keep();
  until_check = 1;
  since_check = 0;
  told_to_leave = false;
  last_check = Clock::now();
  if (options.on_change) options.on_change(members);
  members.lost.clear();
}

DISTRIBUTE_INLINE bool ElasticLoop::Impl::was_others_fault() {
  return extended->elastic()->failure() && !extended->elastic()->failed_itself();
}

/// Returns the number of steps between checks that gives about the wanted frequency; the workers
/// use the largest number that one of them proposes.
DISTRIBUTE_INLINE int32_t ElasticLoop::Impl::steps_to_next_check() {
  const std::chrono::duration<double> passed = Clock::now() - last_check;
  const double per_step = std::max(passed.count() / std::max(since_check, 1), 1e-6);
  last_check = Clock::now();
  since_check = 0;
  return int32_t(std::clamp(options.seconds_between_checks / per_step, 1.0, 1000.0));
}

/// When one worker is told to leave, others may be told a moment later: it leaves at the next
/// check.
DISTRIBUTE_INLINE void ElasticLoop::Impl::check() {
  leaving = notice.has_come();
  const bool joins = extended->elastic()->has_waiting_worker();
  int32_t words[] = {leaving, !leaving, joins, steps_to_next_check()};
  workers().all_reduce(words, 4, DType::Int32, collective::ReductionOp::Max);
  until_check = words[3];
  const bool leaves = words[0] && std::exchange(told_to_leave, words[0] != 0);
  if (!leaves && !words[2]) return;
  leaving = leaving && leaves;
  if (leaves && !words[1] && options.on_last_leave) options.on_last_leave();
  throw WorkersChangedError("workers leave or join after step " + std::to_string(mine.step));
}

/// Returns nullopt when the members have changed.
DISTRIBUTE_INLINE std::optional<ElasticEnd> ElasticLoop::Impl::attempt(
    const std::function<void()>& body) {
  try {
    body();
    extended->elastic()->finish();
    extended->work_alone();
    return ElasticEnd::Finished;
  } catch (const WorkersChangedError&) {
    if (!leaving) return std::nullopt;
    extended->elastic()->withdraw();
    extended->work_alone();
    return ElasticEnd::Left;
  } catch (const Error&) {
    if (!was_others_fault()) throw;
    settle();
    return std::nullopt;
  }
}

DISTRIBUTE_INLINE ElasticLoop::ElasticLoop(Strategy& strategy, CheckpointParts parts, Variable step,
                                           ElasticLoopOptions options)
    : impl_(std::make_unique<Impl>(strategy, std::move(parts), std::move(step),
                                   std::move(options))) {}

DISTRIBUTE_INLINE ElasticLoop::~ElasticLoop() = default;

DISTRIBUTE_INLINE ElasticEnd ElasticLoop::run(const std::function<void()>& body) {
  if (!impl_->extended) {
    body();
    return ElasticEnd::Finished;
  }
  for (;;) {
    if (!impl_->join()) return impl_->notice.has_come() ? ElasticEnd::Left : ElasticEnd::TooLate;
    if (const auto end = impl_->attempt(body)) return *end;
  }
}

DISTRIBUTE_INLINE void ElasticLoop::commit() {
  if (!impl_->extended) return;
  impl_->mine.step = impl_->steps();
  impl_->state.keep();
  if (++impl_->since_check >= impl_->until_check) impl_->check();
}

DISTRIBUTE_INLINE const ElasticMembers& ElasticLoop::members() const { return impl_->members; }

}  // namespace distribute::train
