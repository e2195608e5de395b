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

struct FileWriterOptions {  // options of FileWriter
  int64_t max_queue = 10;   // number of records that wait for one flush
  /// a record that comes later than this after the oldest waiting one flushes all
  int64_t flush_millis = 2'000;
  std::string filename_suffix = ".v2";
  /// An object store cannot append, so each flush writes the whole file anew, on a thread of its
  /// own. This interval, or 50 times the duration of the last flush if that is longer, then
  /// replaces the two options above. A flush that fails for a reason that may pass (base/error.hpp)
  /// is tried again.
  int64_t store_flush_millis = 30'000;
  /// Number of records kept while a store is down; later records are lost, and close() throws an
  /// error that says so.
  int64_t max_waiting = 100'000;
  /// Seconds for which close() goes on trying.
  double store_close_seconds = 60;
};

class DefaultWriterScope;

/// A handle to one event file; copies share it. The destructor of the last copy closes the file and
/// logs a failure as a warning; close() throws it instead. Thread-safe.
/// Source  tf.summary.SummaryWriter
class FileWriter {
 public:
  /// Throws  InternalError and others with the path when writing fails. On an object store it
  ///         throws only an error of an earlier flush that cannot pass, such as a missing bucket;
  ///         the call never waits.
  void write(int64_t step, const Value& value) const;
  /// Writes an encoded GraphDef.
  void write_graph(int64_t step, std::string_view graph_def) const;
  /// Hands all records to the operating system or store, so that TensorBoard sees them.
  void flush() const;
  /// Does what flush() does, but does not wait for an object store.
  void start_flush() const;
  /// Flushes; later records are dropped.
  /// Throws  the store's last error with the steps of the records that are lost.
  void close() const;
  const std::string& path() const;
  /// Makes this the writer of scalar(), histogram() and the like while the result lives.
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

/// Each of these writes one value at a step and returns whether it did. Nothing is written without
/// a writer in scope, nor in a replica other than replica 0. `name` is the tag; slashes make
/// groups.
/// Source  tf.summary.scalar, histogram, text, image
bool scalar(const std::string& name, double value, int64_t step,
            const std::string& description = {});
/// Takes a tensor with one element.
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
/// Returns the writer in scope; null without one, and in replicas other than the one that records.
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

/// Encodes nodes as a GraphDef.
/// Throws  InvalidArgumentError for two nodes of one name and for inputs that are not nodes.
std::string encode_graph(std::span<const GraphNode> nodes);
/// Decodes the nodes of a GraphDef. `where` begins error messages.
/// Throws  DataLossError when the bytes are malformed.
std::vector<GraphNode> decode_graph(std::string_view graph_def, const std::string& where);

/// Writes a graph to the writer in scope; returns whether it did, as scalar() does.
/// Source  tf.summary.graph
bool graph(std::span<const GraphNode> nodes, int64_t step = 0);

/// The value of a hyperparameter: a number, a boolean or a text.
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

/// A result of the runs that the table shows: the tag of a scalar, in a subdirectory of each run.
struct HparamsMetric {
  std::string tag;
  std::string group = {};  // such as "validation"; empty: the run's own directory
  std::string display_name = {};
};

enum class SessionStatus { Success = 1, Failure = 2, Running = 3 };  // how a run has ended

/// Records the hyperparameters of the run that the writer in scope belongs to. Runs with equal
/// values form one group, named by `trial_id`, which by default is a checksum of the values.
/// Source  tensorboard.plugins.hparams.api.hparams
bool hparams(const Hparams& values, const std::string& trial_id = {});
/// Records how the run has ended.
bool hparams_end(SessionStatus status = SessionStatus::Success);
/// Describes the experiment, in its top directory, by the names of its parameters and results.
/// Programs may omit it.
/// Source  tensorboard.plugins.hparams.api.hparams_config
bool hparams_config(const Hparams& examples, const std::vector<HparamsMetric>& metrics);

/// Encode the contents of the plugin as bytes; times are seconds since 1970.
std::string encode_session_start(const Hparams& values, const std::string& group, double time);
std::string encode_session_end(SessionStatus status, double time);
std::string encode_experiment(const Hparams& examples, const std::vector<HparamsMetric>& metrics,
                              double time);

}  // namespace distribute::summary
