#pragma once
/// Connects the workers of one generation of an elastic job after the other, and the loop of a rank
/// that trains with those that are there.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/cluster/cluster_options.hpp>
#include <distribute/cluster/detail/elastic_member.hpp>
#include <distribute/cluster/detail/task_failure.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace distribute {

class ClusterRuntime;
class LeaveNotice;

/// Settings of this worker, besides the list of all possible workers.
struct ElasticSetup {
  ElasticOptions limits;
  std::string agreement;  // JSON that must be equal on all workers
};

/// Connects to the other workers, anew in each generation. Used by one thread.
class ElasticWorkers {
 public:
  /// Opens the port without waiting for other workers. Throws  as ElasticMember.
  ElasticWorkers(ClusterTasks all_tasks, const ElasticSetup& setup);
  ~ElasticWorkers();

  using Connect = std::function<void(const std::shared_ptr<ClusterRuntime>&)>;
  /// Meets the other workers and connects to them by `connect`, again when one is lost meanwhile.
  /// The previous runtime must have been left. Returns nullopt when the job has finished without
  /// this worker, or it has given up.
  /// Blocks  and throws as ElasticMember::meet.
  std::optional<ElasticGeneration> next(const ElasticState& mine,
                                        const std::function<bool()>& given_up,
                                        const Connect& connect);

  /// Returns the task that was lost, or has failed, in this generation.
  std::optional<TaskFailure> failure() const;
  /// Returns whether this worker itself failed, by its own error.
  bool failed_itself() const;
  bool has_waiting_worker() const { return member_.has_waiting_worker(); }
  void finish() { member_.finish(); }
  void withdraw() { member_.withdraw(); }
  /// Reports this worker's error; the others count it as lost and continue.
  void report_error(StatusCode code, const std::string& message);

 private:
  std::vector<int> lost() const;

  ElasticMember member_;
  std::shared_ptr<ClusterRuntime> runtime_;  // of the current generation
};

/// Says that ranks want to join or to leave. It is thrown on all ranks alike; ElasticRank::run()
/// catches it.
/// Source  horovod.common.exceptions.HostsUpdatedInterrupt
class HostsUpdatedInterrupt : public AbortedError {
 public:
  HostsUpdatedInterrupt() : AbortedError("ranks of the job leave or join") {}
};

/// Functions that ElasticRank::run() calls.
struct ElasticTraining {
  std::function<void()> train;
  std::function<void()> sync;           // gives all ranks the state of source()
  std::function<void()> restore;        // goes back to the last commit
  std::function<void()> on_reset = {};  // after the ranks have met again; may be empty
};

/// A rank's part in a job whose ranks may change, for APIs with connections of their own: the
/// elastic runs of Horovod and of PyTorch. Used by one thread.
class ElasticRank {
 public:
  /// `api` stands in front of its lines. Throws  as ElasticWorkers.
  ElasticRank(const char* api, ClusterTasks all_tasks, const ElasticSetup& setup);
  virtual ~ElasticRank() = default;

  /// Leaves the ranks of the present generation, and connects to those of the next one with the
  /// state of the last commit. Returns false when the job has finished without this rank, or when
  /// `given_up` returns true.
  /// Blocks and throws  as ElasticWorkers::next.
  bool next(const std::function<bool()>& given_up);
  /// Calls `train` until it returns. The ranks meet again when one is lost, and go back to the last
  /// commit; they also meet when check_members() throws. The state is then that of source().
  /// Throws  errors of `train`, unless they come from the end of another rank; the other ranks
  ///         treat such an error as the end of this rank. UnavailableError when ranks change more
  ///         often than `reset_limit` (-1: no limit), and when too few are there in time.
  ElasticEnd run(const ElasticTraining& training, int reset_limit);

  /// Returns the rank whose state all ranks continue from.
  int source() const { return generation_.source; }
  void count_commit() { ++mine_.step; }  // of a state that this rank can go back to
  /// Throws  HostsUpdatedInterrupt on all ranks when one wants to join, or was told to leave.
  void check_members();

 private:
  virtual void connect(const std::shared_ptr<ClusterRuntime>& runtime) = 0;
  virtual void disconnect() = 0;  // from the ranks of the present generation
  virtual void leave() = 0;       // this rank is out of the job
  /// Returns whether any rank has passed true for `leaves` or for `joins`.
  virtual bool any_rank_says(bool leaves, bool joins) = 0;

  std::optional<ElasticEnd> attempt(const ElasticTraining& training);
  std::string reason() const;

  const char* const api_;
  ElasticWorkers workers_;
  ElasticGeneration generation_;
  ElasticState mine_;  // of the last commit
  bool leaves_ = false;
  const LeaveNotice* notice_ = nullptr;  // while run() runs
};

}  // namespace distribute
