#pragma once
/// The thread of a rank that announces its operations and carries out what the coordinator decides.

#include <distribute/base/config.hpp>
#include <distribute/cluster/cluster_runtime.hpp>
#include <distribute/collective/connect_workers.hpp>
#include <distribute/horovod/detail/coordinator_thread.hpp>
#include <distribute/horovod/detail/engine_options.hpp>
#include <distribute/horovod/detail/operation.hpp>
#include <distribute/horovod/detail/rank_place.hpp>
#include <distribute/net/deadline.hpp>
#include <distribute/net/frame.hpp>
#include <distribute/net/socket.hpp>

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace distribute::horovod_internal {

class ElasticJob;

/// The state of an Engine. The engine's own thread and those of its callers use it.
struct EngineThread {
  using Key = std::pair<int32_t, std::string>;
  using Clock = net::Deadline::Clock;
  struct ProcessGroup {
    std::vector<int> members;
    std::shared_ptr<collective::Communicator> communicator;  // null: this rank is no member
    std::shared_ptr<ReductionMemory> memory;
  };

  EngineThread(std::shared_ptr<ClusterRuntime> the_runtime, const EngineOptions& the_options);
  std::string describe(int rank) const;
  void connect_coordinator();
  void follow_runtime();
  void run();
  bool wait_for_news();
  bool read();
  void execute(const Response& response);
  void carry_out(const Response& response);
  void refuse(const Response& response);
  void change_sets(const Response& response);
  void flush();
  void fail(const std::exception_ptr& error);
  [[noreturn]] void throw_connection_lost();
  std::vector<std::shared_ptr<Operation>> take(const Response& response);
  void complete(const std::shared_ptr<Operation>& operation);
  void say_goodbye();
  void release();

  std::shared_ptr<ClusterRuntime> runtime;  // null in a job of one rank, or when stopped
  const EngineOptions options;
  collective::WorkerGroup group;
  const char* transport = "";
  RankPlace place;
  net::Socket control;
  net::FrameReader reader{kMostMessageBytes};  // used by the engine's thread alone
  net::WakeUp wake_up;
  std::unique_ptr<CoordinatorThread> coordinator;  // null except on rank 0
  int lost_callback = 0;
  std::mutex send_mutex;     // guards writing to `control`
  mutable std::mutex mutex;  // guards all below
  std::condition_variable changed;
  std::map<Key, std::shared_ptr<Operation>> under_way;
  std::vector<Request> unsent;
  Clock::time_point oldest_unsent{};
  std::map<std::pair<int32_t, Kind>, int64_t> calls;  // number of calls without a name
  std::map<int32_t, ProcessGroup> sets;
  std::exception_ptr error;
  bool lost = false, stopped = false;
  std::shared_ptr<ElasticJob> elastic_job;
  std::thread thread;
};

}  // namespace distribute::horovod_internal
