#pragma once
/// A worker's part of a save.

#include <distribute/base/config.hpp>
#include <distribute/data_service/detail/task_runner.hpp>

#include <atomic>
#include <exception>
#include <memory>
#include <thread>

namespace distribute::data::service_internal {

/// Writes the elements of an order into chunks, on a thread of its own. The dispatcher makes each
/// chunk visible, so that a worker that is thought lost publishes none. Thread-safe.
class SaveRunner {
 public:
  /// `splits` is for splits alone, `calls` for chunks.
  SaveRunner(const TaskOrder& order, std::shared_ptr<DispatcherCalls> splits,
             std::shared_ptr<DispatcherCalls> calls);
  /// Stops after the element that is being made.
  ~SaveRunner();
  SaveRunner(const SaveRunner&) = delete;

  /// Ends calls of the dispatcher, and the thread soon.
  void stop();

 private:
  void run();
  void write_chunk(ChunkReport& report);
  void fill(const std::string& path, ChunkReport& report);
  void report_failure(ChunkReport report, const std::exception& error);

  const TaskOrder order_;
  TaskRunner elements_;
  std::shared_ptr<DispatcherCalls> calls_;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace distribute::data::service_internal
