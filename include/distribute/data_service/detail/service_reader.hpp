#pragma once
/// A consumer's pass over a dataset that workers make.

#include <distribute/base/config.hpp>
#include <distribute/data/detail/stream.hpp>
#include <distribute/data_service/detail/service_messages.hpp>
#include <distribute/data_service/detail/service_task.hpp>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <variant>
#include <vector>

namespace distribute::data::service_internal {

/// Reads on one thread for each task, and follows on another where the tasks are. Thread-safe.
class ServiceReader {
 public:
  ServiceReader(std::shared_ptr<rpc::JobTask> task, const service::ReadOptions& options,
                OpenRequest request);
  /// Leaves the pass.
  ~ServiceReader();
  ServiceReader(const ServiceReader&) = delete;

  /// Puts the next element into `out`; false at the end.
  /// Blocks  until a worker has one.
  /// Throws  the pipeline's error with the worker's name; see from_dataset_id().
  bool next(Batch& out);

 private:
  using Item = std::variant<Batch, std::exception_ptr>;
  struct TaskRead {
    std::deque<Item> ready = {};  // of a consumer that steps with others
    int64_t rounds = 0;           // the number of elements that it has had
    uint64_t generation = 0;
    Intervals received = {};
    bool ended = false, stop = false;
    uint64_t requests = 0;
    std::shared_ptr<rpc::RpcChannel> channel = {};
    std::thread thread = {};
  };
  bool in_step() const { return request_.num_consumers > 0; }
  std::deque<Item>& ready();
  std::deque<Item>& ready_of(TaskRead& read) { return in_step() ? read.ready : ready_; }
  void follow();
  std::vector<TaskReport> move_to(const std::vector<TaskPlace>& places);
  void stop_reading(std::unique_lock<std::mutex>& lock, TaskRead& read);
  void pause(const TaskRead& read);
  void read(const TaskPlace& place, TaskRead& read);
  void read_once(const TaskPlace& place, TaskRead& read);
  void take(const TaskPlace& place, TaskRead& read, const ElementsAnswer& answer, int64_t reserved);
  bool is_source(const TaskPlace& place) const;
  bool has_ended() const;
  void leave(bool finished);
  void fail();

  const std::shared_ptr<rpc::JobTask> task_;
  const service::ReadOptions options_;
  const OpenRequest request_;
  const int64_t capacity_;
  DispatcherCalls calls_, last_calls_;
  uint64_t iteration_ = 0;
  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::deque<Item> ready_;
  int64_t round_ = 0;                  // of consumers that step together
  int64_t reserved_ = 0;               // places for elements that were asked for
  std::map<int64_t, TaskRead> reads_;  // by task
  std::vector<TaskPlace> places_;
  std::exception_ptr failure_;
  bool stopping_ = false, over_ = false, left_ = false;
  std::thread thread_;
};

}  // namespace distribute::data::service_internal
