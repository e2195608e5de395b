#pragma once
/// Event files for TensorBoard: scalars, histograms, pictures, texts, graphs, hyper-parameters.

#include <distribute/base/config.hpp>
#include <distribute/summary/event.hpp>
#include <distribute/tensor/tensor.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

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
  /// Does what flush() does, but does not wait for an object store.
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
/// Takes any tensor of one number.
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

namespace distribute::summary {

/// Source  tensorflow/core/framework/node_def.proto
struct GraphNode {
  std::string name;                        // slashes make groups that can be opened
  std::string op;                          // such as "Conv2D"
  std::vector<std::string> inputs = {};    // names of nodes
  std::vector<int64_t> output_shape = {};  // -1: unknown size
  bool has_output_shape = false;
};

/// An encoded GraphDef.
/// Throws  InvalidArgumentError for two nodes of one name and for inputs that are no node.
std::string encode_graph(std::span<const GraphNode> nodes);
/// The nodes of an encoded GraphDef. `where` is for messages.
/// Throws  DataLossError when the bytes are malformed.
std::vector<GraphNode> decode_graph(std::string_view graph_def, const std::string& where);

/// Writes a graph to the writer in scope; says whether it did, as scalar() does.
/// Source  tf.summary.graph
bool graph(std::span<const GraphNode> nodes, int64_t step = 0);

/// The value of a hyperparameter: a number, a switch or a text.
class HparamValue {
 public:
  HparamValue(bool value) : value_(value) {}
  template <typename Number>
  requires(std::is_arithmetic_v<Number> && !std::same_as<Number, bool>) HparamValue(Number value)
      : value_(double(value)) {}
  HparamValue(const char* value) : value_(std::string(value)) {}
  HparamValue(std::string value) : value_(std::move(value)) {}
  const std::variant<bool, double, std::string>& value() const { return value_; }

 private:
  std::variant<bool, double, std::string> value_;
};

using Hparams = std::vector<std::pair<std::string, HparamValue>>;

/// A figure of the runs that the table shows: the tag of a scalar, in a subdirectory of each run.
struct HparamsMetric {
  std::string tag;
  std::string group = {};  // such as "validation"; empty: the run's own directory
  std::string display_name = {};
};

enum class SessionStatus { Success = 1, Failure = 2, Running = 3 };  // of a run

/// Says what the run that the writer in scope belongs to was started with. Runs of the same values
/// are one group, `trial_id`; by default a checksum of the values.
/// Source  tensorboard.plugins.hparams.api.hparams
bool hparams(const Hparams& values, const std::string& trial_id = {});
/// Says how the run has ended.
bool hparams_end(SessionStatus status = SessionStatus::Success);
/// Describes the experiment, in its top directory: names of parameters and figures. A program may
/// leave it out.
/// Source  tensorboard.plugins.hparams.api.hparams_config
bool hparams_config(const Hparams& examples, const std::vector<HparamsMetric>& metrics);

/// The contents of the plugin, as bytes: times in seconds since 1970.
std::string encode_session_start(const Hparams& values, const std::string& group, double time);
std::string encode_session_end(SessionStatus status, double time);
std::string encode_experiment(const Hparams& examples, const std::vector<HparamsMetric>& metrics,
                              double time);

}  // namespace distribute::summary
