#pragma once
/// A push that has arrived whole on its server and is not applied yet; and those of several workers
/// that become one step.

#include <distribute/base/config.hpp>
#include <distribute/parameter_server/detail/applied_updates.hpp>
#include <distribute/parameter_server/detail/push.hpp>
#include <distribute/parameter_server/detail/store.hpp>
#include <distribute/parameter_server/variable_spec.hpp>
#include <distribute/replica/detail/update_kernel.hpp>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace distribute::parameter_server {

/// Tells a push from all others of the job.
struct PushId {
  std::string task;  // "worker 2"
  uint64_t incarnation = 0;
  int64_t number = 0;  // of the task's pushes
  auto operator<=>(const PushId&) const = default;

  void fields(net::FieldVisitor& visit) {
    visit("task", task)("incarnation", incarnation)("number", number);
  }
};

/// The memory that its gradients lie in is its own, or a client's that leaves it alone until the
/// push is applied.
struct StagedPush {
  PushId id = {};
  UpdateOrigin origin = {};
  UpdateKernel kernel;
  std::vector<StoredUpdate> updates = {};  // in synchronous steps by their index
  std::vector<std::shared_ptr<void>> memory = {};
  int64_t local_step = 0;  // the step that the weights had

  void apply(bool locking) const;
};

/// One step of synchronous training: which pushes it is made of.
struct SyncRound {
  int64_t number = 0;  // counts the rounds; steps may begin again when a checkpoint is restored
  int64_t step = 0;    // the counter's value after it
  std::vector<PushId> pushes = {};

  void fields(net::FieldVisitor& visit) { visit("number", number)("step", step)("pushes", pushes); }
};

/// Gathers the pushes of a server until the server of the counter has decided which of them make a
/// step; their mean is taken in the order of their ids, so that the bits do not depend on timing.
/// The decision reaches the other servers through the clients, whose requests bring it along.
/// Thread-safe.
class SyncRounds {
 public:
  explicit SyncRounds(AppliedUpdates& applied) : applied_(applied) {}

  /// Parts of a push that come under the same id belong together.
  void stage(StagedPush push);

  struct Token {
    int64_t step = 0;
    std::vector<SyncRound> rounds = {};  // from the step of the gradient on

    void fields(net::FieldVisitor& visit) { visit("step", step)("rounds", rounds); }
  };
  /// On the counter's server: the push takes part in the step that is being gathered, or is dropped
  /// when it was computed for an earlier one; then waits for a token. Of a function that runs again
  /// it is dropped, and there is nothing to wait for, once it has taken part.
  /// Throws  InvalidArgumentError when tasks ask for different numbers; CancelledError;
  ///         FailedPreconditionError when the push was not staged.
  Token join(const PushId& id, const SyncOptions& options, StoredVariable& counter,
             const Store::Cancelled& cancelled);
  /// On the other servers: applies the rounds that are new here.
  void apply(const std::vector<SyncRound>& rounds);
  /// From now on no push takes part any more, and none waits: the steps that were made stand.
  void release();
  /// "2 of 3 gradients of step 7 are there, from worker 0, worker 2".
  std::string progress() const;

 private:
  struct Group {
    int required = 0, tokens_per_round = 0;
  };
  void start(const SyncOptions& options, int64_t step);
  void finish_round(StoredVariable& counter);
  void apply_round(const SyncRound& round);
  void forget_before(int64_t step);
  int64_t wait_for_token(std::unique_lock<std::mutex>& lock, const PushId& id,
                         const Store::Cancelled& cancelled);

  AppliedUpdates& applied_;
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::map<PushId, StagedPush> staged_;
  std::optional<Group> group_;
  int64_t rounds_ = 0;            // applied here: the last one's number
  int64_t step_ = 0;              // of the last round here
  std::vector<PushId> accepted_;  // of the round that is being gathered
  std::deque<int64_t> tokens_;
  std::deque<PushId> waiting_;  // for tokens, which they get in this order
  std::deque<SyncRound> history_;
  bool released_ = false;
};

}  // namespace distribute::parameter_server
