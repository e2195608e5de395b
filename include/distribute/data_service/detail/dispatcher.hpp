#pragma once
/// The methods of a dispatcher, and what it decides by itself.

#include <distribute/base/config.hpp>
#include <distribute/data_service/detail/dispatcher_state.hpp>
#include <distribute/data_service/servers.hpp>
#include <distribute/rpc/job_task.hpp>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace distribute::data::service_internal {

/// Returns whether the workers' shares are fixed by DispatcherConfig::worker_addresses.
bool is_static_policy(ShardingPolicy mode);

/// Returns whether the elements go into files.
inline bool is_save(const Iteration& iteration) { return !iteration.save.path.empty(); }

/// Thread-safe. All methods may be called again with the same arguments, as callers do when the
/// dispatcher was away.
class Dispatcher {
 public:
  explicit Dispatcher(const service::DispatcherConfig& config);
  ~Dispatcher();
  Dispatcher(const Dispatcher&) = delete;

  const std::string& target() const { return target_; }
  int64_t num_workers() const;

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kLook{50};  // between looks for lost processes
  using PeerPtr = std::shared_ptr<rpc::Peer>;
  struct Reader {
    PeerPtr peer;
    int64_t index = -1;                    // of those that step together
    bool local = false;                    // as in OpenRequest
    std::map<int64_t, uint64_t> reported;  // from tasks to generations
  };
  struct Readers {
    std::map<uint64_t, Reader> by_number;
    Clock::time_point empty_since = Clock::now();
  };

  JoinAnswer join(const rpc::Call& call, const JoinRequest& request);
  OrdersAnswer orders(const rpc::Call& call, const OrdersRequest& request);
  DatasetFacts describe(const rpc::Call& call, const DescribeRequest& request);
  OpenAnswer open(const rpc::Call& call, const OpenRequest& request);
  FollowAnswer follow(const rpc::Call& call, const FollowRequest& request);
  OpenAnswer leave(const rpc::Call& call, const LeaveRequest& request);
  SplitAnswer split(const rpc::Call& call, const SplitRequest& request);
  SaveAnswer save(const rpc::Call& call, const SaveRequest& request);
  ChunkAnswer chunk(const rpc::Call& call, const ChunkReport& report);
  template <typename Answer, typename Request>
  void serve(const char* name, Answer (Dispatcher::*method)(const rpc::Call&, const Request&));

  // These are called with mutex_ held.
  void commit(const JournalEntry& entry);
  void wait_for_change(std::unique_lock<std::mutex>& lock, uint64_t seen, const rpc::Call& call);
  Iteration& find(uint64_t iteration);
  uint64_t make_iteration(const OpenRequest& request, const SaveTarget& save = {});
  void add_task(uint64_t iteration);
  void put(uint64_t iteration, int64_t task, int64_t worker);
  void lose_worker(int64_t worker);
  void drop(uint64_t iteration);
  void take_reports(uint64_t id, const std::vector<TaskReport>& reports);
  bool all_have_reported(uint64_t iteration, int64_t task);
  int64_t worker_for(const Iteration& iteration, int64_t task) const;
  void place_tasks();
  void check_can_save(const SaveRequest& request);
  void write_head(const Iteration& save);
  void adopt_chunks(uint64_t iteration);
  void publish(uint64_t iteration, const ChunkReport& report);
  void fail_save(uint64_t iteration, StatusCode code, const std::string& error);
  void finish_saves();
  bool is_over(uint64_t iteration);
  bool in_grace() const;
  int64_t num_present() const;
  void look_for_lost();
  void run();

  const service::DispatcherConfig config_;
  mutable std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  uint64_t version_ = 1;
  bool stopping_ = false;
  DispatcherState state_;
  std::optional<Journal> journal_;
  std::map<int64_t, PeerPtr> present_;  // workers; null: not yet back after a restart
  std::map<uint64_t, Readers> readers_;
  Clock::time_point grace_until_{};      // after a restart
  Clock::time_point finish_saves_at_{};  // after a try in vain

  std::string target_;
  std::shared_ptr<rpc::JobTask> task_;
  std::thread thread_;
};

}  // namespace distribute::data::service_internal
