#pragma once
/// Pushes that have arrived completely and are not applied yet, and pushes of several workers that
/// become one step.

#include <distribute/base/config.hpp>
#include <distribute/parameter_server/detail/applied_updates.hpp>
#include <distribute/parameter_server/detail/push.hpp>
#include <distribute/parameter_server/detail/store.hpp>
#include <distribute/parameter_server/variable_spec.hpp>
#include <distribute/replica/detail/update_kernel.hpp>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace distribute::parameter_server {

/// Identifies a push among all of the job.
struct PushId {
  std::string task;  // "worker 2"
  uint64_t incarnation = 0;
  int64_t number = 0;  // number among the task's pushes
  auto operator<=>(const PushId&) const = default;

  void fields(net::FieldVisitor& visit) {
    visit("task", task)("incarnation", incarnation)("number", number);
  }
};

/// A push that has arrived and waits to be applied. It owns the memory of its gradients, or refers
/// to memory of a client, which does not change that memory before the push is applied.
struct StagedPush {
  PushId id = {};
  UpdateOrigin origin = {};
  UpdateKernel kernel;
  std::vector<StoredUpdate> updates = {};  // in synchronous steps by their index
  std::vector<std::shared_ptr<void>> memory = {};
  int64_t local_step = 0;  // step of the weights

  void apply(bool locking) const;
};

/// One step of synchronous training, and the pushes that form it.
struct SyncRound {
  int64_t number = 0;  // number of the round; steps may repeat when a checkpoint is restored
  int64_t step = 0;    // the counter's value after it
  std::vector<PushId> pushes = {};

  void fields(net::FieldVisitor& visit) { visit("number", number)("step", step)("pushes", pushes); }
};

/// Keeps the pushes of a server until the server of the counter has decided which of them form a
/// step; their mean is taken in the order of their ids, so that the bits do not depend on timing.
/// The decision reaches the other servers with the clients' requests. Thread-safe.
/// 1. A staged push is applied in at most one round, and then removed.
/// 2. Rounds are applied in the order of their numbers.
class SyncRounds {
 public:
  explicit SyncRounds(AppliedUpdates& applied) : applied_(applied) {}

  /// Adds a push; parts with the same id belong together.
  void stage(StagedPush push);

  struct Token {
    int64_t step = 0;
    std::vector<SyncRound> rounds = {};  // beginning with the step of the gradient

    void fields(net::FieldVisitor& visit) { visit("step", step)("rounds", rounds); }
  };
  /// On the counter's server, adds the push to the step that is being gathered, or drops it when it
  /// was computed for an earlier one; then waits for a token. A push of a function that runs again
  /// and was added before is dropped without waiting.
  /// Throws  InvalidArgumentError when tasks ask for different numbers; CancelledError;
  ///          FailedPreconditionError when the push was not staged.
  Token join(const PushId& id, const SyncOptions& options, StoredVariable& counter,
             const Store::Cancelled& cancelled);
  /// Applies, on the other servers, the rounds that are new here.
  void apply(const std::vector<SyncRound>& rounds);
  /// Ends synchronous training: no further push is added, and none waits; finished steps remain.
  void release();
  /// Returns "2 of 3 gradients of step 7 are there, from worker 0, worker 2; not there: worker 1",
  /// where `missing` gives the last words for the tasks whose gradients are there.
  using Missing = std::function<std::string(const std::set<std::string>& there)>;
  std::string progress(const Missing& missing) const;
  /// Returns whether the task waits longest for a token.
  bool waits_longest(const std::string& task) const;

 private:
  struct Group {
    int required = 0, tokens_per_round = 0;
  };
  void start(const SyncOptions& options, int64_t step);
  void finish_round(StoredVariable& counter);
  void apply_round(const SyncRound& round);
  void forget_before(int64_t step);
  void empty_before(int64_t step);
  int64_t wait_for_token(std::unique_lock<std::mutex>& lock, const PushId& id,
                         const Store::Cancelled& cancelled);

  AppliedUpdates& applied_;
  mutable std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::map<PushId, StagedPush> staged_;
  std::optional<Group> group_;
  int64_t rounds_ = 0;            // number of the last round applied here
  int64_t step_ = 0;              // of the last round here
  std::vector<PushId> accepted_;  // pushes of the round that is being gathered
  std::deque<int64_t> tokens_;
  std::deque<PushId> waiting_;  // pushes that wait for tokens, which they get in this order
  std::deque<SyncRound> history_;
  bool released_ = false;
};

}  // namespace distribute::parameter_server
