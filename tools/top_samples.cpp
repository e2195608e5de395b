#include "top_samples.hpp"

#include <distribute/train/progress.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <map>

namespace distribute_tools {

using distribute::monitoring::rate;

namespace {

std::optional<double> sum(std::optional<double> a, std::optional<double> b) {
  if (!a || !b) return a ? a : b;
  return *a + *b;
}

std::string whole_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0f", value);
  return text;
}
std::string four_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

/// A figure of a task: its name for programs, its column for people.
struct Figure {
  const char *name, *head;
  double factor;
  std::optional<double> TaskRow::*value;
  bool is_count = false;  // an integer in JSON
  bool adds_up = false;   // the tasks' figures have a sum
  std::string (*text)(double) = whole_number;
  bool has_place = true;  // false: only where a task has it

  bool shown(const std::vector<TaskRow>& rows) const {
    return has_place || std::any_of(rows.begin(), rows.end(), [this](const TaskRow& row) {
             return (row.*value).has_value();
           });
  }
  nlohmann::ordered_json json(const TaskRow& row) const {
    if (!(row.*value)) return nullptr;
    if (is_count) return int64_t(*(row.*value));
    return *(row.*value);
  }
};
constexpr Figure kFigures[] = {
    {"step", "STEP", 1, &TaskRow::step, true},
    {"loss", "LOSS", 1, &TaskRow::loss, false, false, four_digits},
    {"seconds_left", "ETA", 1, &TaskRow::seconds_left, false, false, distribute::train::clock_text},
    {"images_per_second", "IMAGES/s", 1, &TaskRow::images_per_second, false, true},
    {"communication_share", "COMM %", 100, &TaskRow::communication_share},
    {"input_share", "INPUT %", 100, &TaskRow::input_share},
    {"late_steps", "LATE", 1, &TaskRow::late_steps, true, true},
    {"resident_bytes", "MEM MB", 1e-6, &TaskRow::resident_bytes, true, true},
    {"throttled_share", "THROT %", 100, &TaskRow::throttled_share},
    {"restarts", "RESTARTS", 1, &TaskRow::restarts, true, true},
    {"served_per_second", "SERVED/s", 1, &TaskRow::served_per_second, false, true, whole_number,
     false},
    {"served_bytes_per_second", "SENT MB/s", 1e-6, &TaskRow::served_bytes_per_second, false, true,
     four_digits, false},
    {"clients", "CLIENTS", 1, &TaskRow::clients, true, true, whole_number, false},
    {"lost_workers", "LOST", 1, &TaskRow::lost_workers, true, true, whole_number, false}};

std::string cell(const Figure& figure, const TaskRow& row) {
  const std::optional<double> value = row.*figure.value;
  return value ? figure.text(*value * figure.factor) : "-";
}

std::vector<std::string> line_of(const TaskRow& row, const std::vector<Figure>& figures) {
  std::vector<std::string> line{row.task};
  for (const Figure& figure : figures) line.push_back(cell(figure, row));
  if (!row.reachable) line[1] = "gone";
  return line;
}

std::string job_of(const TaskRow& row) { return row.task.substr(0, row.task.find(' ')); }

/// One row for several tasks: "worker x 240", with the means of the figures that they have.
TaskRow mean_of(const std::string& what, const std::vector<const TaskRow*>& rows) {
  TaskRow mean;
  mean.task = what + " x " + std::to_string(rows.size());
  mean.reachable = rows[0]->reachable;
  for (const Figure& figure : kFigures) {
    double sum = 0;
    size_t known = 0;
    for (const TaskRow* row : rows) {
      if (!(row->*figure.value)) continue;
      sum += *(row->*figure.value);
      ++known;
    }
    if (known > 0) mean.*figure.value = sum / double(known);
  }
  return mean;
}

}  // namespace

TaskRow row_of(const std::string& address, const MetricSample& before, const MetricSample& now) {
  TaskRow row;
  row.task = row.address = address;
  row.reachable = !now.values.empty();
  const std::string job = now.label("distribute_task_info", "job");
  if (!job.empty()) row.task = job + " " + now.label("distribute_task_info", "index");
  row.step = now.value("distribute_train_steps_total");
  row.loss = now.value("distribute_train_loss");
  row.seconds_left = now.value("distribute_train_seconds_left");
  row.images_per_second = rate(before, now, "distribute_input_examples_total");
  const auto waiting = [&](const char* what) {
    return rate(before, now, std::string("distribute_wait_seconds_total{for=\"") + what + "\"}");
  };
  row.communication_share = sum(waiting("collective"), waiting("parameter_server"));
  row.input_share = waiting("input");
  row.resident_bytes = now.value("process_resident_memory_bytes");
  row.throttled_share = rate(before, now, "distribute_cpu_throttled_seconds_total");
  row.restarts = now.value("distribute_task_restarts");
  row.served_per_second = rate(before, now, "distribute_data_service_elements_total");
  row.served_bytes_per_second = rate(before, now, "distribute_data_service_bytes_total");
  row.clients = now.value("distribute_data_service_clients");
  row.lost_workers = now.value("distribute_data_service_lost_workers_total");
  return row;
}

void share_lateness(std::vector<TaskRow>& rows, const std::vector<MetricSample>& samples) {
  for (TaskRow& row : rows) {
    if (!row.task.starts_with("worker ")) continue;
    const std::string name =
        "distribute_straggler_steps_total{worker=\"" + row.task.substr(7) + "\"}";
    for (const MetricSample& sample : samples)
      if (const auto steps = sample.value(name)) row.late_steps = steps;
  }
}

std::vector<TaskRow> folded(const std::vector<TaskRow>& rows) {
  constexpr size_t kMostRows = 32, kNamed = 10;
  if (rows.size() <= kMostRows) return rows;
  std::vector<const TaskRow*> gone, late;
  std::map<std::string, std::vector<const TaskRow*>> others;  // by what is common to them
  for (const TaskRow& row : rows) {
    if (!row.reachable)
      gone.push_back(&row);
    else if (row.late_steps.value_or(0) > 0)
      late.push_back(&row);
    else
      others[job_of(row)].push_back(&row);
  }
  std::stable_sort(late.begin(), late.end(), [](const TaskRow* a, const TaskRow* b) {
    return *a->late_steps > *b->late_steps;
  });
  std::vector<TaskRow> result;
  for (auto* named : {&gone, &late})
    for (size_t i = 0; i < named->size(); ++i) {
      const TaskRow& row = *(*named)[i];
      if (i < kNamed)
        result.push_back(row);
      else
        others[job_of(row) + (row.reachable ? " late" : " gone")].push_back(&row);
    }
  for (const auto& [what, members] : others) result.push_back(mean_of(what, members));
  return result;
}

TaskRow sum_of(const std::vector<TaskRow>& rows) {
  TaskRow all;
  all.task = "sum";
  for (const TaskRow& row : rows)
    for (const Figure& figure : kFigures)
      if (figure.adds_up) all.*figure.value = sum(all.*figure.value, row.*figure.value);
  return all;
}

std::string table_of(const std::vector<TaskRow>& rows) {
  std::vector<std::vector<std::string>> lines{{"TASK"}};
  std::vector<Figure> figures;
  for (const Figure& figure : kFigures)
    if (figure.shown(rows)) figures.push_back(figure);
  for (const Figure& figure : figures) lines[0].push_back(figure.head);
  for (const TaskRow& row : folded(rows)) lines.push_back(line_of(row, figures));
  if (rows.size() > 1) lines.push_back(line_of(sum_of(rows), figures));
  std::string text;
  for (const auto& line : lines) {
    for (size_t column = 0; column < line.size(); ++column) {
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
    for (const Figure& figure : kFigures)
      if (figure.shown(rows)) task[figure.name] = figure.json(row);
    tasks.push_back(task);
  }
  const TaskRow all = sum_of(rows);
  nlohmann::ordered_json sums;
  for (const Figure& figure : kFigures)
    if (figure.adds_up && figure.shown(rows)) sums[figure.name] = figure.json(all);
  return nlohmann::ordered_json{{"time", unix_seconds}, {"tasks", tasks}, {"sum", sums}}.dump();
}

}  // namespace distribute_tools
