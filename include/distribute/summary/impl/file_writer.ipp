#pragma once
#include <distribute/base/detail/seconds.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/base/status.hpp>
#include <distribute/io/detail/growing_file.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/io/tfrecord.hpp>
#include <distribute/replica/replica_context.hpp>
#include <distribute/summary/detail/png.hpp>
#include <distribute/summary/detail/store_event_file.hpp>
#include <distribute/summary/file_writer.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <optional>

#include <unistd.h>

namespace distribute::summary {

struct FileWriter::State {
  State(std::string file, io::RecordWriter writer, const FileWriterOptions& wanted, bool on_store)
      : path(std::move(file)), options(wanted) {
    if (on_store)
      store = std::make_unique<summary_internal::StoreEventFile>(
          path, std::move(writer), std::chrono::milliseconds(wanted.store_flush_millis),
          wanted.max_waiting);
    else
      records.emplace(std::move(writer));
  }
  ~State() {
    if (closed || store) return;
    if (const absl::Status status = records->close(); !status.ok())
      log_warning("summary", str_cat("event file: ", std::string(status.message()),
                                     "; the records since its last flush are lost"));
  }

  const std::string path;
  const FileWriterOptions options;
  // for files that cannot be appended to; else null
  std::unique_ptr<summary_internal::StoreEventFile> store;
  std::mutex mutex;  // guards everything below
  std::optional<io::RecordWriter> records;
  bool closed = false;
  int64_t waiting = 0;  // records since the last flush
  double first_waiting = 0;
};

}  // namespace distribute::summary

namespace distribute::summary_internal {

/// Gives a name that is not in use: several writers of one process may start in the same second.
DISTRIBUTE_INLINE std::string new_path(const std::string& logdir, const std::string& suffix) {
  char host[256] = "unknown", seconds[32];
  ::gethostname(host, sizeof(host) - 1);
  std::snprintf(seconds, sizeof(seconds), "%010lld",
                static_cast<long long>(base_internal::unix_seconds()));
  io::FileSystem& files = *value_or_throw(io::file_system_for(logdir));
  throw_if_error(files.make_dirs(logdir));
  for (int i = 0;; ++i) {
    const std::string name = str_cat("events.out.tfevents.", seconds, ".",
                                     static_cast<const char*>(host), ".", ::getpid(), ".", i);
    const std::string path = io::join_path(logdir, name + suffix);
    if (!value_or_throw(files.exists(path))) return path;
  }
}

struct DefaultWriter {
  std::atomic<const summary::FileWriter*> writer{nullptr};
};

DISTRIBUTE_INLINE const summary::FileWriter* current_writer() {
  const ReplicaContext* replica = get_replica_context();
  if (replica && replica->replica_id_in_sync_group() != 0) return nullptr;
  return in_process<DefaultWriter>().writer.load();
}

DISTRIBUTE_INLINE std::vector<float> floats_of(const char* what, const Tensor& tensor) {
  if (!tensor) throw InvalidArgumentError(str_cat("summary::", what, ": the tensor is none"));
  return tensor.to_vector();
}

DISTRIBUTE_INLINE uint8_t pixel_of(float value, DType dtype) {
  const float scaled = is_floating(dtype) ? value * 255.5f : value;
  return scaled > 0 ? uint8_t(std::min(scaled, 255.0f)) : uint8_t{0};  // NaN is black
}

}  // namespace distribute::summary_internal

namespace distribute::summary {

DISTRIBUTE_INLINE FileWriter create_file_writer(const std::string& logdir,
                                                const FileWriterOptions& options) {
  if (logdir.empty()) throw InvalidArgumentError("create_file_writer: logdir is empty");
  const std::string path = summary_internal::new_path(logdir, options.filename_suffix);
  io::RecordWriter records(value_or_throw(io::create_growing_file(path)));
  throw_if_error(records.write(encode_file_version(base_internal::unix_seconds())));
  throw_if_error(records.flush());
  const bool on_store = !value_or_throw(io::file_system_for(path))->has_atomic_move();
  return FileWriter(
      std::make_shared<FileWriter::State>(path, std::move(records), options, on_store));
}

DISTRIBUTE_INLINE void FileWriter::write_record(
    int64_t step, const std::function<std::string(double now)>& encode) const {
  const double now = base_internal::unix_seconds();
  if (state_->store) return state_->store->write(step, encode(now));
  const std::lock_guard lock(state_->mutex);
  if (state_->closed) return;
  throw_if_error(state_->records->write(encode(now)));
  if (state_->waiting++ == 0) state_->first_waiting = now;
  flush_when_due(now);
}

/// Call it with the state's mutex locked.
DISTRIBUTE_INLINE void FileWriter::flush_when_due(double now) const {
  State& state = *state_;
  const double waited = now - state.first_waiting;
  if (waited * 1000 < double(state.options.flush_millis) && state.waiting < state.options.max_queue)
    return;
  state.waiting = 0;
  throw_if_error(state.records->flush());
}

DISTRIBUTE_INLINE void FileWriter::write(int64_t step, const Value& value) const {
  write_record(step, [&](double now) { return encode_event(now, step, value); });
}

DISTRIBUTE_INLINE void FileWriter::write_graph(int64_t step, std::string_view graph_def) const {
  write_record(step, [&](double now) { return encode_graph_event(now, step, graph_def); });
}

DISTRIBUTE_INLINE void FileWriter::flush() const {
  if (state_->store) return state_->store->flush();
  const std::lock_guard lock(state_->mutex);
  state_->waiting = 0;
  if (!state_->closed) throw_if_error(state_->records->flush());
}

DISTRIBUTE_INLINE void FileWriter::start_flush() const {
  state_->store ? state_->store->start_flush() : flush();
}

DISTRIBUTE_INLINE void FileWriter::close() const {
  if (state_->store) return state_->store->close(state_->options.store_close_seconds);
  const std::lock_guard lock(state_->mutex);
  if (state_->closed) return;
  state_->closed = true;
  throw_if_error(state_->records->close());
}

DISTRIBUTE_INLINE const std::string& FileWriter::path() const { return state_->path; }
DISTRIBUTE_INLINE DefaultWriterScope FileWriter::as_default() const {
  return DefaultWriterScope(*this);
}

DISTRIBUTE_INLINE DefaultWriterScope::DefaultWriterScope(const FileWriter& writer)
    : writer_(writer),
      outer_(in_process<summary_internal::DefaultWriter>().writer.exchange(&writer_)) {}
DISTRIBUTE_INLINE DefaultWriterScope::~DefaultWriterScope() {
  in_process<summary_internal::DefaultWriter>().writer = outer_;
}

DISTRIBUTE_INLINE bool scalar(const std::string& name, double value, int64_t step,
                              const std::string& description) {
  const FileWriter* writer = summary_internal::current_writer();
  if (!writer) return false;
  writer->write(step, {name, "scalars", encode_tensor(float(value)), description});
  return true;
}

DISTRIBUTE_INLINE bool scalar(const std::string& name, const Tensor& value, int64_t step,
                              const std::string& description) {
  if (!summary_internal::current_writer()) return false;
  const std::vector<float> values = summary_internal::floats_of("scalar", value);
  if (values.size() != 1)
    throw InvalidArgumentError(str_cat("summary::scalar '", name, "': wanted one number, came ",
                                       to_string(value.shape())));
  return scalar(name, double(values[0]), step, description);
}

DISTRIBUTE_INLINE bool histogram(const std::string& name, const Tensor& values, int64_t step,
                                 int64_t buckets, const std::string& description) {
  const FileWriter* writer = summary_internal::current_writer();
  if (!writer) return false;
  const std::vector<double> rows =
      histogram_buckets(summary_internal::floats_of("histogram", values), buckets);
  const std::string tensor = encode_tensor(std::span<const double>(rows), {buckets, 3});
  writer->write(step, {name, "histograms", tensor, description});
  return true;
}

DISTRIBUTE_INLINE bool text(const std::string& name, const std::string& markdown, int64_t step,
                            const std::string& description) {
  const FileWriter* writer = summary_internal::current_writer();
  if (!writer) return false;
  const std::string tensor = encode_tensor(std::span<const std::string>(&markdown, 1), {});
  writer->write(step, {name, "text", tensor, description});
  return true;
}

DISTRIBUTE_INLINE bool image(const std::string& name, const Tensor& images, int64_t step,
                             int64_t max_outputs, const std::string& description) {
  const FileWriter* writer = summary_internal::current_writer();
  if (!writer) return false;
  const std::vector<float> values = summary_internal::floats_of("image", images);
  const Shape& shape = images.shape();
  const bool possible = is_floating(images.dtype()) || images.dtype() == DType::UInt8;
  if (shape.rank() != 4 || !possible)
    throw InvalidArgumentError(str_cat("summary::image '", name, "': wanted [k, height, width, ",
                                       "channels] of uint8 or floating, came ", to_string(shape),
                                       " ", name_of(images.dtype())));
  std::vector<uint8_t> pixels;
  for (const float value : values)
    pixels.push_back(summary_internal::pixel_of(value, images.dtype()));
  const int64_t count = std::clamp(max_outputs, int64_t{0}, shape[0]);
  const size_t size = shape[0] == 0 ? 0 : pixels.size() / size_t(shape[0]);
  std::vector<std::string> parts = {std::to_string(shape[2]), std::to_string(shape[1])};
  for (size_t i = 0; i < size_t(count); ++i)
    parts.push_back(
        encode_png(std::span(pixels).subspan(i * size, size), shape[1], shape[2], shape[3]));
  writer->write(step, {name, "images", encode_tensor(parts, {int64_t(parts.size())}), description});
  return true;
}

}  // namespace distribute::summary
