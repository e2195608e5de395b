#pragma once
/// A worker's part of one pass over a dataset.

#include <distribute/base/config.hpp>
#include <distribute/data_service/detail/pipelines.hpp>
#include <distribute/data_service/detail/service_task.hpp>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace distribute::data::service_internal {

/// Makes the elements of an order, and numbers them. It leaves out those that consumers have from
/// an earlier worker of the task, which has made the same ones. Thread-safe.
class TaskRunner {
 public:
  /// `calls` is for splits alone.
  TaskRunner(TaskOrder order, std::shared_ptr<DispatcherCalls> calls, int64_t cache_bytes);
  TaskRunner(const TaskRunner&) = delete;

  const TaskOrder& order() const { return order_; }
  /// Returns an ElementsAnswer as bytes, which holds the pipeline's error, too.
  /// Throws  CancelledError when the task is not this worker's any more.
  std::string elements(const ElementsRequest& request);
  /// Returns the next elements for a save, at most `most`, which holds the pipeline's error, too.
  /// Throws  what elements() throws; FailedPreconditionError when the pipeline gives fewer elements
  ///         than an earlier worker of the task has saved.
  ElementsAnswer next_elements(int64_t most);
  /// Ends calls of elements() that wait for a split.
  void stop() { calls_->stop(); }

 private:
  class Splits;
  void open();
  ElementsAnswer make(int64_t most);
  ElementsAnswer make_element(int64_t number);
  ElementsAnswer read_cache(const std::string& trainer, int64_t most);
  void add_to_cache();
  bool add_next(ElementsAnswer& answer, int64_t& bytes);

  /// Elements for trainers that read at positions of their own.
  struct Cache {
    struct Entry {
      ElementsAnswer element;  // or an error
      int64_t bytes = 0;
    };
    std::deque<Entry> entries = {};
    int64_t begin = 0, bytes = 0;                   // the number of the first entry; of all entries
    std::map<std::string, int64_t> positions = {};  // of trainers
  };

  const TaskOrder order_;
  const int64_t cache_bytes_;
  std::shared_ptr<DispatcherCalls> calls_;
  std::mutex mutex_;  // guards the members below
  NodePtr node_;
  std::unique_ptr<BatchStream> stream_;  // reads from node_, so it is destroyed first
  int64_t next_ = 0;
  bool ended_ = false;
  Cache cache_;
  std::map<int64_t, ElementsAnswer> kept_;  // by number, until the consumer that it is for asks
  std::map<uint64_t, std::pair<uint64_t, std::string>> last_;  // from consumers to number, answer
};

}  // namespace distribute::data::service_internal
