#include "top_samples.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace distribute_tools {

MetricSample parse_metrics(const std::string& text, double seconds) {
  MetricSample sample{{}, seconds};
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t end = line.rfind(' ');
    if (line.empty() || line[0] == '#' || end == std::string::npos) continue;
    const std::string name = line.substr(0, end);
    char* rest = nullptr;
    const double value = std::strtod(line.c_str() + end + 1, &rest);
    if (*rest == '\0' && name.find("_bucket{") == std::string::npos) sample.values[name] = value;
  }
  return sample;
}

namespace {

std::optional<double> value_of(const MetricSample& sample, const std::string& name) {
  const auto found = sample.values.find(name);
  return found == sample.values.end() ? std::nullopt : std::optional(found->second);
}

/// What a label of `name` says: label_of(s, "task_info", "job").
std::string label_of(const MetricSample& sample, const std::string& name,
                     const std::string& label) {
  const std::string begin = name + "{";
  const auto found = sample.values.lower_bound(begin);
  if (found == sample.values.end() || !found->first.starts_with(begin)) return "";
  const std::string mark = label + "=\"";
  const size_t at = found->first.find(mark);
  if (at == std::string::npos) return "";
  const size_t text = at + mark.size();
  return found->first.substr(text, found->first.find('"', text) - text);
}

/// Growth in a second; none where a counter is not there, or went back because the task is new.
std::optional<double> rate(const MetricSample& before, const MetricSample& now,
                           const std::string& name) {
  const auto first = value_of(before, name), last = value_of(now, name);
  const double seconds = now.seconds - before.seconds;
  if (!last || before.values.empty() || !(seconds > 0)) return std::nullopt;
  const double growth = *last - first.value_or(0);
  return growth < 0 ? std::nullopt : std::optional(growth / seconds);
}

std::optional<double> sum(std::optional<double> a, std::optional<double> b) {
  if (!a || !b) return a ? a : b;
  return *a + *b;
}

std::string cell(std::optional<double> value, const char* format, double factor = 1) {
  if (!value) return "-";
  char text[32];
  std::snprintf(text, sizeof text, format, *value * factor);
  return text;
}

}  // namespace

TaskRow row_of(const std::string& address, const MetricSample& before, const MetricSample& now) {
  TaskRow row;
  row.task = row.address = address;
  row.reachable = !now.values.empty();
  const std::string job = label_of(now, "distribute_task_info", "job");
  if (!job.empty()) row.task = job + " " + label_of(now, "distribute_task_info", "index");
  row.step = value_of(now, "distribute_train_steps_total");
  row.images_per_second = rate(before, now, "distribute_input_examples_total");
  const auto waiting = [&](const char* what) {
    return rate(before, now, std::string("distribute_wait_seconds_total{for=\"") + what + "\"}");
  };
  row.communication_share = sum(waiting("collective"), waiting("parameter_server"));
  row.input_share = waiting("input");
  row.resident_bytes = value_of(now, "process_resident_memory_bytes");
  row.throttled_share = rate(before, now, "distribute_cpu_throttled_seconds_total");
  row.restarts = value_of(now, "distribute_task_restarts");
  return row;
}

void share_lateness(std::vector<TaskRow>& rows, const std::vector<MetricSample>& samples) {
  for (TaskRow& row : rows) {
    if (!row.task.starts_with("worker ")) continue;
    const std::string name =
        "distribute_straggler_steps_total{worker=\"" + row.task.substr(7) + "\"}";
    for (const MetricSample& sample : samples)
      if (const auto steps = value_of(sample, name)) row.late_steps = steps;
  }
}

std::string table_of(const std::vector<TaskRow>& rows) {
  const std::vector<std::string> heads{"TASK", "STEP",   "IMAGES/s", "COMM %",  "INPUT %",
                                       "LATE", "MEM MB", "THROT %",  "RESTARTS"};
  std::vector<std::vector<std::string>> lines{heads};
  for (const TaskRow& row : rows)
    lines.push_back({row.task, row.reachable ? cell(row.step, "%.0f") : "gone",
                     cell(row.images_per_second, "%.0f"),
                     cell(row.communication_share, "%.0f", 100), cell(row.input_share, "%.0f", 100),
                     cell(row.late_steps, "%.0f"), cell(row.resident_bytes, "%.0f", 1e-6),
                     cell(row.throttled_share, "%.0f", 100), cell(row.restarts, "%.0f")});
  std::string text;
  for (const auto& line : lines) {
    for (size_t column = 0; column < heads.size(); ++column) {
      size_t width = 0;
      for (const auto& other : lines) width = std::max(width, other[column].size());
      const std::string gap(width - line[column].size(), ' ');
      text += column == 0 ? line[column] + gap : "  " + gap + line[column];
    }
    text += "\n";
  }
  return text;
}

std::string json_of(const std::vector<TaskRow>& rows, double unix_seconds) {
  nlohmann::ordered_json tasks = nlohmann::ordered_json::array();
  for (const TaskRow& row : rows) {
    nlohmann::ordered_json task{
        {"task", row.task}, {"address", row.address}, {"reachable", row.reachable}};
    const std::pair<const char*, std::optional<double>> figures[] = {
        {"step", row.step},
        {"images_per_second", row.images_per_second},
        {"communication_share", row.communication_share},
        {"input_share", row.input_share},
        {"late_steps", row.late_steps},
        {"resident_bytes", row.resident_bytes},
        {"throttled_share", row.throttled_share},
        {"restarts", row.restarts}};
    for (const auto& [name, value] : figures)
      task[name] = value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
    tasks.push_back(task);
  }
  return nlohmann::ordered_json{{"time", unix_seconds}, {"tasks", tasks}}.dump();
}

}  // namespace distribute_tools
