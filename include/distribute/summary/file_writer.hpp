#pragma once
/// Writes TensorBoard's event files: scalars, histograms, images and text under a log directory.

#include <distribute/base/config.hpp>
#include <distribute/summary/event.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace distribute::summary {

struct FileWriterOptions {       // options of FileWriter
  int64_t max_queue = 10;        // records that wait for one flush
  int64_t flush_millis = 2'000;  // the oldest waits no longer once the next one comes
  std::string filename_suffix = ".v2";
  /// On an object store, which cannot append, every flush writes the whole file anew, on a thread
  /// of its own: then this rules instead of the two above, and 50 times as long as the last flush
  /// took, if that is more. A flush that fails for a reason that may pass (base/error.hpp) is tried
  /// again.
  int64_t store_flush_millis = 30'000;
  /// Number of records kept for a store that is down; later ones are lost, which close() throws.
  int64_t max_waiting = 100'000;
  /// Seconds for which close() goes on trying.
  double store_close_seconds = 60;
};

class DefaultWriterScope;

/// A handle to one event file; copies share it, the last one closes it, where a failure is only a
/// warning: close() throws it. Thread-safe.
/// Source  tf.summary.SummaryWriter
class FileWriter {
 public:
  /// Throws  InternalError and others with the path when writing fails. On an object store only
  ///         what an earlier flush has said that would not pass, such as a missing bucket; nothing
  ///         waits.
  void write(int64_t step, const Value& value) const;
  /// An encoded GraphDef.
  void write_graph(int64_t step, std::string_view graph_def) const;
  /// Hands all records to the operating system or store, where TensorBoard sees them.
  void flush() const;
  /// As flush(), but on an object store without waiting for it.
  void start_flush() const;
  /// Flushes; later records are dropped.
  /// Throws  the store's last error with the steps of the records that are lost.
  void close() const;
  const std::string& path() const;
  /// Makes this the writer of scalar(), histogram(), ... while the result lives.
  DefaultWriterScope as_default() const;

 private:
  friend FileWriter create_file_writer(const std::string& logdir, const FileWriterOptions& options);
  struct State;
  void flush_when_due(double now) const;
  void write_record(int64_t step, const std::function<std::string(double now)>& encode) const;
  explicit FileWriter(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

/// Creates LOGDIR/events.out.tfevents.<seconds>.<host>.<pid>.<n>.v2 and the directory.
/// Throws  PermissionDeniedError and others with the path.
/// Source  tf.summary.create_file_writer
FileWriter create_file_writer(const std::string& logdir, const FileWriterOptions& options = {});

/// While it lives, the functions below write to `writer`, on every thread of the process. Scopes
/// nest; begin and end them on one thread.
/// Source  tf.summary.SummaryWriter.as_default
class [[nodiscard]] DefaultWriterScope {
 public:
  explicit DefaultWriterScope(const FileWriter& writer);
  ~DefaultWriterScope();
  DefaultWriterScope(const DefaultWriterScope&) = delete;
  DefaultWriterScope& operator=(const DefaultWriterScope&) = delete;

 private:
  FileWriter writer_;
  const FileWriter* outer_;
};

/// These write one value at a step and say whether they did: not without a writer in scope, and in
/// a replica only in replica 0. `name` is the tag; slashes make groups.
/// Source  tf.summary.scalar, histogram, text, image
bool scalar(const std::string& name, double value, int64_t step,
            const std::string& description = {});
/// Any tensor of one number.
bool scalar(const std::string& name, const Tensor& value, int64_t step,
            const std::string& description = {});
bool histogram(const std::string& name, const Tensor& values, int64_t step, int64_t buckets = 30,
               const std::string& description = {});
/// `markdown` may hold tables.
bool text(const std::string& name, const std::string& markdown, int64_t step,
          const std::string& description = {});
/// Shapes  images [k, height, width, channels], 1 to 4 channels, uint8, or floating in [0, 1]; the
///         first `max_outputs` are kept.
/// Throws  InvalidArgumentError for another shape or type.
bool image(const std::string& name, const Tensor& images, int64_t step, int64_t max_outputs = 3,
           const std::string& description = {});

}  // namespace distribute::summary

namespace distribute::summary_internal {
/// The writer in scope, unless another replica is the one that records; null for none.
const summary::FileWriter* current_writer();
}  // namespace distribute::summary_internal
