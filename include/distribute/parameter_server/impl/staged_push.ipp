#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/parameter_server/detail/staged_push.hpp>

#include <algorithm>
#include <chrono>

namespace distribute::parameter_server {

DISTRIBUTE_INLINE void StagedPush::apply(bool locking) const {
  for (const StoredUpdate& update : updates) apply_update(update, kernel, locking);
}

/// Combines update `u` of all pushes to one with the mean of their gradients, which `values` and
/// `rows` hold.
DISTRIBUTE_INLINE StoredUpdate mean_of(const std::vector<const StagedPush*>& pushes, size_t u,
                                       std::vector<float>& values, std::vector<int64_t>& rows) {
  StoredUpdate mean = pushes[0]->updates[u];
  const float share = 1.0f / float(pushes.size());
  const int64_t width = mean.variable->row_bytes() / int64_t(sizeof(float));
  if (mean.sparse) {
    for (const StagedPush* push : pushes) {
      const StoredUpdate& one = push->updates[u];
      rows.insert(rows.end(), one.rows.begin(), one.rows.end());
      for (int64_t i = 0; i < int64_t(one.rows.size()) * width; ++i)
        values.push_back(one.gradient[i] * share);
    }
    mean.rows = rows;
  } else {
    values.resize(size_t(mean.variable->shape().num_elements()));
    parallel_for(int64_t(values.size()), 4096, [&](int64_t begin, int64_t end) {
      std::copy(mean.gradient + begin, mean.gradient + end, values.begin() + begin);
      for (size_t p = 1; p < pushes.size(); ++p)
        for (int64_t i = begin; i < end; ++i)
          values[size_t(i)] += pushes[p]->updates[u].gradient[i];
      for (int64_t i = begin; i < end; ++i) values[size_t(i)] *= share;
    });
  }
  mean.gradient = values.data();
  return mean;
}

DISTRIBUTE_INLINE void check_alike(const StagedPush& a, const StagedPush& b) {
  bool alike = a.updates.size() == b.updates.size();
  for (size_t u = 0; alike && u < a.updates.size(); ++u)
    alike = a.updates[u].variable == b.updates[u].variable &&
            a.updates[u].sparse == b.updates[u].sparse;
  if (!alike)
    throw FailedPreconditionError(str_cat("synchronous step: ", a.id.task, " and ", b.id.task,
                                          " have pushed gradients of different variables"));
}

DISTRIBUTE_INLINE void SyncRounds::stage(StagedPush push) {
  const std::lock_guard lock(mutex_);
  const PushId id = push.id;
  const auto found = staged_.find(id);
  StagedPush& whole = found == staged_.end() ? push : found->second;
  if (found != staged_.end()) {
    whole.updates.insert(whole.updates.end(), push.updates.begin(), push.updates.end());
    whole.memory.insert(whole.memory.end(), push.memory.begin(), push.memory.end());
  }
  std::sort(whole.updates.begin(), whole.updates.end(),
            [](const auto& a, const auto& b) { return a.index < b.index; });
  if (found == staged_.end()) staged_.emplace(id, std::move(push));
}

DISTRIBUTE_INLINE void SyncRounds::apply_round(const SyncRound& round) {
  std::vector<const StagedPush*> pushes;
  for (const PushId& id : round.pushes)
    if (const auto found = staged_.find(id); found != staged_.end())
      pushes.push_back(&found->second);
  rounds_ = round.number;
  step_ = round.step;
  if (!pushes.empty()) {
    for (const StagedPush* push : pushes) check_alike(*pushes[0], *push);
    for (size_t u = 0; u < pushes[0]->updates.size(); ++u) {
      std::vector<float> values;
      std::vector<int64_t> rows;
      apply_update(mean_of(pushes, u, values, rows), pushes[0]->kernel, true);
    }
  }
  for (const PushId& id : round.pushes) staged_.erase(id);
}

/// Drops pushes that no later round can contain: late gradients, and those of tasks that failed
/// before they told the counter's server.
DISTRIBUTE_INLINE void SyncRounds::forget_before(int64_t step) {
  std::erase_if(staged_, [&](const auto& entry) { return entry.second.local_step < step; });
}

/// Frees the gradients of late pushes on the counter's server. Their ids remain, since the tasks
/// that staged them have yet to ask for their tokens.
DISTRIBUTE_INLINE void SyncRounds::empty_before(int64_t step) {
  for (auto& [id, push] : staged_)
    if (push.local_step < step) push.updates.clear(), push.memory.clear();
}

DISTRIBUTE_INLINE void SyncRounds::apply(const std::vector<SyncRound>& rounds) {
  const std::lock_guard lock(mutex_);
  for (const SyncRound& round : rounds) {
    if (round.number <= rounds_) continue;
    apply_round(round);
    forget_before(step_);
  }
}

DISTRIBUTE_INLINE void SyncRounds::start(const SyncOptions& options, int64_t step) {
  const int required = options.replicas_to_aggregate;
  const int total = options.total_num_replicas ? options.total_num_replicas : required;
  const int tokens = options.num_init_tokens < 0 ? required : options.num_init_tokens;
  if (required < 1 || total < 1 || tokens < required - total)
    throw InvalidArgumentError(str_cat("synchronous training: replicas_to_aggregate ", required,
                                       ", total_num_replicas ", total, ", num_tokens ", tokens,
                                       "; wanted positive numbers and num_tokens >= ",
                                       "replicas_to_aggregate - total_num_replicas"));
  const Group group{required, std::max(required, total)};
  if (!group_) {
    group_ = group;
    step_ = step;
    tokens_.assign(size_t(tokens), step);
  } else if (step != step_ && accepted_.empty()) {  // the counter was assigned: a restart
    step_ = step;
    tokens_.assign(size_t(tokens), step);
  }
  if (group_->required != required || group_->tokens_per_round != group.tokens_per_round) {
    throw InvalidArgumentError(str_cat("synchronous training: this task aggregates ", required,
                                       " gradients, others ", group_->required));
  }
}

DISTRIBUTE_INLINE void SyncRounds::finish_round(StoredVariable& counter) {
  std::sort(accepted_.begin(), accepted_.end());
  const int64_t one = 1;
  int64_t step = 0;
  counter.add(reinterpret_cast<const std::byte*>(&one), reinterpret_cast<std::byte*>(&step));
  SyncRound round{rounds_ + 1, step, std::move(accepted_)};
  accepted_.clear();
  apply_round(round);
  empty_before(step_);
  history_.push_back(std::move(round));
  if (history_.size() > 1000) history_.pop_front();
  tokens_.insert(tokens_.end(), size_t(group_->tokens_per_round), step);
  changed_.notify_all();
}

DISTRIBUTE_INLINE SyncRounds::Token SyncRounds::join(const PushId& id, const SyncOptions& options,
                                                     StoredVariable& counter,
                                                     const Store::Cancelled& cancelled) {
  std::unique_lock lock(mutex_);
  int64_t step = 0;
  counter.read(0, std::as_writable_bytes(std::span(&step, 1)));
  start(options, step);
  const auto staged = staged_.find(id);
  if (staged == staged_.end())
    throw FailedPreconditionError(str_cat("the push ", id.number, " of ", id.task, " is not here"));
  const UpdateOrigin origin = staged->second.origin;
  const bool repeated = applied_.contains(origin, &counter);
  if (!repeated && !released_ && options.local_step >= step_) {
    applied_.add(origin, &counter);
    accepted_.push_back(id);
    if (int(accepted_.size()) >= group_->required) finish_round(counter);
  } else {
    staged_.erase(staged);
  }
  Token token{repeated ? step_ : wait_for_token(lock, id, cancelled), {}};
  for (const SyncRound& round : history_)
    if (round.step >= options.local_step) token.rounds.push_back(round);
  return token;
}

/// Tokens are given in order of arrival: otherwise a fast worker could take the token of one that
/// wakes up late, and count twice in the next step.
DISTRIBUTE_INLINE int64_t SyncRounds::wait_for_token(std::unique_lock<std::mutex>& lock,
                                                     const PushId& id,
                                                     const Store::Cancelled& cancelled) {
  waiting_.push_back(id);
  while (!released_ && (tokens_.empty() || waiting_.front() != id)) {
    changed_.wait_for(lock, std::chrono::milliseconds(50));
    if (released_ || !cancelled()) continue;
    std::erase(waiting_, id);
    changed_.notify_all();
    throw CancelledError("the caller no longer waits for the token");
  }
  if (released_) return std::erase(waiting_, id), step_;
  const int64_t token = tokens_.front();
  tokens_.pop_front();
  waiting_.pop_front();
  changed_.notify_all();
  return token;
}

DISTRIBUTE_INLINE void SyncRounds::release() {
  const std::lock_guard lock(mutex_);
  released_ = true;
  changed_.notify_all();
}

DISTRIBUTE_INLINE std::string SyncRounds::progress(const Missing& missing) const {
  const std::lock_guard lock(mutex_);
  std::string from;
  std::set<std::string> there;
  for (const PushId& id : accepted_) {
    from += (from.empty() ? ", from " : ", ") + id.task;
    there.insert(id.task);
  }
  const std::string others = missing(there);
  return str_cat(accepted_.size(), " of ", group_ ? group_->required : 0, " gradients of step ",
                 step_ + 1, " are there", from, others.empty() ? "" : "; not there: ", others);
}

DISTRIBUTE_INLINE bool SyncRounds::waits_longest(const std::string& task) const {
  const std::lock_guard lock(mutex_);
  return !waiting_.empty() && waiting_.front().task == task;
}

}  // namespace distribute::parameter_server
