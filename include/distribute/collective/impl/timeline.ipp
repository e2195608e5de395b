#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/collective/timeline.hpp>
#include <distribute/io/detail/check_output.hpp>
#include <distribute/io/file_system.hpp>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string_view>
#include <tuple>
#include <utility>

namespace distribute::collective {

DISTRIBUTE_INLINE Timeline::Timeline(std::string path, size_t capacity)
    : path_(std::move(path)), capacity_(std::max<size_t>(capacity, 1)) {}

DISTRIBUTE_INLINE std::shared_ptr<Timeline> Timeline::from_environment(int tasks) {
  const std::string path = Environment().text("DISTRIBUTE_TIMELINE");
  if (path.empty()) return nullptr;
  auto made = std::make_shared<Timeline>(path, size_t(100'000 / std::max(tasks, 1)));
  if (tasks == 1) made->check_path();
  monitoring::record_source(made);
  return made;
}

DISTRIBUTE_INLINE void Timeline::check_path() const {
  io::check_output_file("DISTRIBUTE_TIMELINE", path_);
}

DISTRIBUTE_INLINE int Timeline::add_row(std::string name) {
  const std::lock_guard lock(mutex_);
  rows_.push_back(std::move(name));
  return int(rows_.size()) - 1;
}

DISTRIBUTE_INLINE void Timeline::keep(Span span) {
  const std::lock_guard lock(mutex_);
  if (spans_.size() < capacity_)
    spans_.push_back(std::move(span));
  else
    spans_[next_ % capacity_] = std::move(span);
  ++next_;
}

DISTRIBUTE_INLINE void Timeline::add(int row, std::string name, Clock::time_point begin,
                                     Clock::time_point end) {
  keep({.row = row, .name = std::move(name), .begin = begin, .end = end});
}

DISTRIBUTE_INLINE void Timeline::add(int row, const FlightRecorder::Record& record) {
  keep({.row = row,
        .name = to_string(record.signature),
        .begin = record.started,
        .end = record.ended,
        .queued = record.queued,
        .bytes = record.bytes,
        .failed = record.state == FlightRecorder::State::Failed});
}

DISTRIBUTE_INLINE std::vector<Timeline::Span> Timeline::sorted() const {
  std::vector<Span> spans = spans_;
  std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
    return std::tie(a.begin, b.end) < std::tie(b.begin, a.end);  // what contains another first
  });
  return spans;
}

DISTRIBUTE_INLINE std::string microseconds(std::chrono::nanoseconds time) {
  return log_internal::json_number(double(time.count()) * 1e-3);
}

/// Returns the event that names a process, or one of its rows.
DISTRIBUTE_INLINE std::string naming_event(const char* what, const std::string& place,
                                           const std::string& name) {
  return str_cat("{\"name\":\"", what, "\",\"ph\":\"M\",", place,
                 ",\"args\":{\"name\":", log_internal::json_string(name), "}}");
}

DISTRIBUTE_INLINE std::string Timeline::event(const Span& span, const std::string& process,
                                              std::chrono::nanoseconds offset) {
  std::string text = str_cat("{\"name\":", log_internal::json_string(span.name), ",\"ph\":\"X\",",
                             process, ",\"tid\":", span.row,
                             ",\"ts\":", microseconds(span.begin.time_since_epoch() + offset),
                             ",\"dur\":", microseconds(span.end - span.begin));
  std::string details;
  if (span.bytes >= 0)
    details = str_cat("\"bytes\":", span.bytes,
                      ",\"queued_us\":", microseconds(span.begin - span.queued));
  if (span.failed) details += details.empty() ? "\"failed\":true" : ",\"failed\":true";
  if (!details.empty()) text += ",\"args\":{" + details + "}";
  return text + "}";
}

DISTRIBUTE_INLINE std::string Timeline::events(int task, const std::string& task_name,
                                               std::chrono::nanoseconds offset) const {
  monitoring::flush_source();
  const std::lock_guard lock(mutex_);
  const std::string process = str_cat("\"pid\":", task);
  std::string text = naming_event("process_name", process, task_name);
  for (size_t row = 0; row < rows_.size(); ++row)
    text += ",\n" + naming_event("thread_name", str_cat(process, ",\"tid\":", row), rows_[row]);
  for (const Span& span : sorted()) text += ",\n" + event(span, process, offset);
  return text;
}

DISTRIBUTE_INLINE void Timeline::save(std::span<const std::string> events) const {
  std::string text = "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n";
  for (size_t i = 0; i < events.size(); ++i) text += (i ? ",\n" : "") + events[i];
  const absl::Status status = io::write_file_atomically(path_, text + "\n]}\n");
  if (status.ok()) return;
  log_warning("collective", str_cat("DISTRIBUTE_TIMELINE: ", status.message()), {{"path", path_}});
}

DISTRIBUTE_INLINE void Timeline::save_alone(const std::string& task) const {
  const std::string own = events(0, task.empty() ? "this process" : task, {});
  save(std::span(&own, 1));
}

/// Returns the letters, digits, - and _ behind `"key":` in `json`; empty if there are none.
DISTRIBUTE_INLINE std::string_view word_behind(std::string_view json, std::string_view key) {
  const size_t at = json.find(str_cat('"', key, '"'));
  if (at == std::string_view::npos) return {};
  json.remove_prefix(at + key.size() + 2);
  json.remove_prefix(std::min(json.find_first_not_of(" \t\r\n:\""), json.size()));
  const auto belongs = [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_'; };
  return json.substr(0, size_t(std::find_if_not(json.begin(), json.end(), belongs) - json.begin()));
}

/// The task that TF_CONFIG gives this process, such as "evaluator-0"; empty: none. Only for a
/// file's name, so it is looked for in the text: a parser of JSON would be 3 % of a header-only
/// trainer.
DISTRIBUTE_INLINE std::string task_of_environment() {
  const std::string config = Environment().text("TF_CONFIG");
  const std::string_view json = config;
  const size_t at = json.find('{', std::min(json.rfind("\"task\""), json.size()));
  if (at == std::string_view::npos) return "";
  const std::string_view task = json.substr(at, json.find('}', at) - at);
  const std::string_view type = word_behind(task, "type"), index = word_behind(task, "index");
  return type.empty() ? "" : str_cat(type, '-', index.empty() ? "0" : index);
}

DISTRIBUTE_INLINE std::shared_ptr<monitoring::SpanRecorder> make_process_timeline(
    const std::string& task) {
  std::string path = Environment().text("DISTRIBUTE_TIMELINE");
  const std::string name = task.empty() ? task_of_environment() : task;
  if (!name.empty()) {
    const size_t file = path.rfind('/') + 1;  // 0 where there is no folder
    const size_t dot = path.rfind('.');
    path.insert(dot == std::string::npos || dot <= file ? path.size() : dot, "." + name);
  }
  auto made = std::make_shared<Timeline>(path);
  made->check_path();
  return made;
}

}  // namespace distribute::collective
