#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/limits.hpp>
#include <distribute/metrics/metrics_server.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <limits>
#include <string_view>

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

namespace distribute::monitoring {

/// The shortest text that gives the same double; infinite and other values as Go writes them.
DISTRIBUTE_INLINE std::string number_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return base_internal::exact_word(value);
}

/// HELP escapes backslash and line feed, label values the quote as well.
DISTRIBUTE_INLINE std::string escaped(std::string_view text, bool quotes) {
  std::string result;
  for (const char c : text) {
    if (c == '\n') result += "\\n";
    if (c == '\\' || (c == '"' && quotes)) result += '\\';
    if (c != '\n') result += c;
  }
  return result;
}

/// {a="x",b="y"}; `limit` is the label le of a histogram, none when empty.
DISTRIBUTE_INLINE std::string label_text(const MetricFamily& family,
                                         const MetricFamily::Point& point,
                                         const std::string& limit = "") {
  std::string text;
  const auto add = [&text](const std::string& name, const std::string& value) {
    text += (text.empty() ? "{" : ",") + name + "=\"" + escaped(value, true) + '"';
  };
  for (size_t i = 0; i < point.labels.size(); ++i) add(family.options.labels[i], point.labels[i]);
  if (!limit.empty()) add("le", limit);
  return text.empty() ? text : text + "}";
}

DISTRIBUTE_INLINE void write_histogram(const MetricFamily& family, const MetricFamily::Point& point,
                                       std::string& text) {
  const Histogram& histogram = point.histogram;
  const std::string& name = family.options.name;
  int64_t count = 0;
  for (size_t i = 0; i < histogram.counts.size(); ++i) {
    count += histogram.counts[i];
    const double limit =
        i < histogram.limits.size() ? histogram.limits[i] : std::numeric_limits<double>::infinity();
    text += name + "_bucket" + label_text(family, point, number_text(limit)) + ' ' +
            std::to_string(count) + '\n';
  }
  const std::string labels = label_text(family, point);
  text += name + "_sum" + labels + ' ' + number_text(histogram.sum) + '\n';
  text += name + "_count" + labels + ' ' + std::to_string(count) + '\n';
}

DISTRIBUTE_INLINE std::string prometheus_text(const std::vector<MetricFamily>& families) {
  constexpr const char* types[] = {"counter", "gauge", "histogram"};
  std::string text;
  for (const MetricFamily& family : families) {
    if (family.points.empty()) continue;
    const std::string& name = family.options.name;
    text += "# HELP " + name + ' ' + escaped(family.options.description, false) + '\n';
    text += "# TYPE " + name + ' ' + types[int(family.kind)] + '\n';
    for (const auto& point : family.points)
      if (family.kind == MetricKind::Sampler)
        write_histogram(family, point, text);
      else
        text += name + label_text(family, point) + ' ' + number_text(point.value) + '\n';
  }
  return text;
}

DISTRIBUTE_INLINE double open_descriptors() {
  DIR* const folder = ::opendir("/proc/self/fd");
  if (!folder) return 0;
  double count = -3;  // ".", ".." and the folder itself
  while (::readdir(folder)) ++count;
  ::closedir(folder);
  return count;
}

/// Seconds since 1970 at which the machine was started.
DISTRIBUTE_INLINE double boot_time() {
  std::ifstream file("/proc/stat");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("btime ")) return std::atof(line.c_str() + 6);
  return 0;
}

/// What control groups and neighbours leave of the machine; `add` takes name, text, kind and value.
DISTRIBUTE_INLINE void add_limits(
    const std::function<void(const char*, const char*, MetricKind, double)>& add) {
  const ControlGroups groups;
  add("distribute_usable_cores", "Cores by affinity and quota.", MetricKind::Gauge,
      core_limits().usable());
  add("distribute_cores_contended", "1 while threads have to wait for cores.", MetricKind::Gauge,
      cores_are_contended());
  if (const auto throttling = groups.throttling()) {
    add("distribute_cpu_throttled_seconds_total",
        "Time that the quota of CPU time stopped threads.", MetricKind::Counter,
        throttling->seconds);
    add("distribute_cpu_throttled_periods_total", "Periods in which the quota ran out.",
        MetricKind::Counter, double(throttling->throttled));
  }
  if (const auto memory = groups.memory())
    add("distribute_memory_limit_bytes", "Limit of the control group.", MetricKind::Gauge,
        double(memory->value));
}

DISTRIBUTE_INLINE std::vector<MetricFamily> process_metrics() {
  std::vector<MetricFamily> all;
  const auto add = [&all](const char* name, const char* text, MetricKind kind, double value) {
    all.push_back({{.name = name, .description = text}, kind, {{.value = value}}});
  };
  const std::vector<double> stat = base_internal::process_stat();
  if (stat.size() > 20) {
    const double tick = double(::sysconf(_SC_CLK_TCK)), page = double(::sysconf(_SC_PAGESIZE));
    add("process_cpu_seconds_total", "User and system time spent.", MetricKind::Counter,
        (stat[10] + stat[11]) / tick);
    add("process_resident_memory_bytes", "Resident memory.", MetricKind::Gauge, stat[20] * page);
    add("process_start_time_seconds", "Start of the process since 1970.", MetricKind::Gauge,
        boot_time() + stat[18] / tick);
    add("process_threads", "Threads.", MetricKind::Gauge, stat[16]);
    add("process_virtual_memory_bytes", "Virtual memory.", MetricKind::Gauge, stat[19]);
  }
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  add("process_max_fds", "Most file descriptors.", MetricKind::Gauge, double(limit.rlim_cur));
  add("process_open_fds", "Open file descriptors.", MetricKind::Gauge, open_descriptors());
  add_limits(add);
  return all;
}

}  // namespace distribute::monitoring
