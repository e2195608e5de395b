#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/json.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/collective/timeline.hpp>
#include <distribute/io/atomic_file.hpp>

#include <algorithm>
#include <cstdlib>
#include <tuple>
#include <utility>

#include <nlohmann/json.hpp>

namespace distribute::collective {

DISTRIBUTE_INLINE Timeline::Timeline(std::string path, size_t capacity)
    : path_(std::move(path)), capacity_(std::max<size_t>(capacity, 1)) {}

DISTRIBUTE_INLINE std::shared_ptr<Timeline> Timeline::from_environment(int tasks) {
  const char* path = std::getenv("DISTRIBUTE_TIMELINE");
  if (!path || !*path) return nullptr;
  return std::make_shared<Timeline>(path, size_t(100'000 / std::max(tasks, 1)));
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

DISTRIBUTE_INLINE double microseconds(std::chrono::nanoseconds time) {
  return double(time.count()) * 1e-3;
}

DISTRIBUTE_INLINE std::string Timeline::events(int task, const std::string& task_name,
                                               std::chrono::nanoseconds offset) const {
  using Json = nlohmann::json;
  const std::lock_guard lock(mutex_);
  Json process{{"name", "process_name"}, {"ph", "M"}, {"pid", task}};
  process["args"]["name"] = task_name;
  std::string text = json_text(process);
  for (size_t row = 0; row < rows_.size(); ++row) {
    Json thread{{"name", "thread_name"}, {"ph", "M"}, {"pid", task}, {"tid", row}};
    thread["args"]["name"] = rows_[row];
    text += ",\n" + json_text(thread);
  }
  for (const Span& span : sorted()) {
    Json event{{"name", span.name},
               {"ph", "X"},
               {"pid", task},
               {"tid", span.row},
               {"ts", microseconds(span.begin.time_since_epoch() + offset)},
               {"dur", microseconds(span.end - span.begin)}};
    if (span.bytes >= 0)
      event["args"] = {{"bytes", span.bytes},
                       {"queued_us", microseconds(span.begin - span.queued)}};
    if (span.failed) event["args"]["failed"] = true;
    text += ",\n" + json_text(event);
  }
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

/// The task that TF_CONFIG gives this process, such as "evaluator-0"; empty: none.
DISTRIBUTE_INLINE std::string task_of_environment() {
  const char* config = std::getenv("TF_CONFIG");
  const nlohmann::json json = json_of(config ? config : "");
  if (!json.is_object() || !json.contains("task")) return "";
  const nlohmann::json& task = json["task"];
  if (!task.is_object() || !task.contains("type") || !task["type"].is_string()) return "";
  const nlohmann::json index = task.value("index", nlohmann::json(0));
  return str_cat(task["type"].get<std::string>(), '-',
                 index.is_string() ? index.get<std::string>() : index.dump());
}

DISTRIBUTE_INLINE std::shared_ptr<monitoring::SpanRecorder> make_process_timeline(
    const std::string& task) {
  std::string path = std::getenv("DISTRIBUTE_TIMELINE");
  const std::string name = task.empty() ? task_of_environment() : task;
  if (!name.empty()) {
    const size_t file = path.rfind('/') + 1;  // 0 where there is no folder
    const size_t dot = path.rfind('.');
    path.insert(dot == std::string::npos || dot <= file ? path.size() : dot, "." + name);
  }
  return std::make_shared<Timeline>(path);
}

}  // namespace distribute::collective
