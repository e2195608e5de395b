#pragma once
#include <distribute/base/status.hpp>
#include <distribute/base/threads.hpp>
#include <distribute/data/chunked_snapshot.hpp>
#include <distribute/data_service/detail/save_runner.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/io/tfrecord.hpp>

#include <chrono>
#include <optional>

namespace distribute::data::service_internal {

DISTRIBUTE_INLINE SaveRunner::SaveRunner(const TaskOrder& order,
                                         std::shared_ptr<DispatcherCalls> splits,
                                         std::shared_ptr<DispatcherCalls> calls)
    : order_(order), elements_(order, std::move(splits), 0), calls_(std::move(calls)) {
  thread_ = base_internal::start_thread("saving a dataset", [this] { run(); });
}

DISTRIBUTE_INLINE SaveRunner::~SaveRunner() {
  stop();
  thread_.join();
}

DISTRIBUTE_INLINE void SaveRunner::stop() {
  stopping_ = true;
  elements_.stop();
  calls_->stop();
}

/// Fills a chunk until it is large or old enough, or the elements end. There is no file if there
/// are no elements.
DISTRIBUTE_INLINE void SaveRunner::fill(const std::string& path, ChunkReport& report) {
  constexpr std::chrono::minutes kOldest{1};
  constexpr int64_t kAtOnce = 8;
  const auto until = std::chrono::steady_clock::now() + kOldest;
  std::optional<io::RecordWriter> file;
  int64_t bytes = 0;
  while (!report.ended && bytes < order_.save.chunk_bytes &&
         std::chrono::steady_clock::now() < until) {
    const ElementsAnswer made = elements_.next_elements(kAtOnce);
    if (stopping_) throw CancelledError("the save has ended");
    for (const NumberedElement& element : made.elements) {
      if (!file)
        file.emplace(value_or_throw(io::RecordWriter::create(
            path, order_.save.gzip ? io::Compression::Gzip : io::Compression::None)));
      for (const Tensor& component : element.components) {
        const std::string record = snapshot_record(component);
        throw_if_error(file->write(record));
        bytes += int64_t(record.size());
      }
      ++report.elements;
    }
    if (made.code != StatusCode::Ok) throw_error(made.code, made.error);
    report.ended = made.ended;
  }
  if (file) throw_if_error(file->close());
}

DISTRIBUTE_INLINE void SaveRunner::write_chunk(ChunkReport& report) {
  const std::string path =
      ChunkedSnapshot(order_.save.path).unpublished(order_.task, report.chunk, report.generation);
  report.elements = 0;
  try {
    fill(path, report);
  } catch (...) {
    (void)value_or_throw(io::file_system_for(path))
        ->remove_file(path);  // it may be what fills the disk
    throw;
  }
}

/// Tells the dispatcher, which refuses it when the task is another worker's or the save has ended.
DISTRIBUTE_INLINE void SaveRunner::report_failure(ChunkReport report, const std::exception& error) {
  if (stopping_) return;
  const auto* known = dynamic_cast<const Error*>(&error);
  report.code = known ? known->code() : StatusCode::Unknown;
  report.error = error.what();
  try {
    calls_->call<ChunkAnswer>("chunk", report);
  } catch (const Error&) {
  }
}

DISTRIBUTE_INLINE void SaveRunner::run() {
  ChunkReport report{order_.iteration, order_.task, order_.generation, order_.chunks};
  try {
    while (!report.ended) {
      write_chunk(report);
      if (report.elements == 0 && !report.ended) continue;
      calls_->call<ChunkAnswer>("chunk", report);
      ++report.chunk;
    }
  } catch (const std::exception& error) {  // the dispatcher knows when it is no failure of the save
    report_failure(report, error);
  }
}

}  // namespace distribute::data::service_internal
