#include "doctor_host.hpp"

#include <distribute/base/error.hpp>
#include <distribute/base/limits.hpp>
#include <distribute/base/parallel.hpp>

#include <cstdlib>
#include <fstream>
#include <optional>

#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace distribute_tools {

using distribute::str_cat;

namespace {

constexpr const char* kHost = "host";

/// The first line of a file of the system, nothing where it is not readable.
std::optional<std::string> first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  return line;
}

/// The value behind "key:" in a file such as /proc/meminfo.
std::string value_in(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const size_t colon = line.find(':'), begin = line.find_first_not_of(" \t", colon + 1);
    if (colon != line.npos && begin != line.npos) return line.substr(begin);
  }
  return "";
}

double kilobytes_in(const std::string& path, const std::string& key) {
  return std::atof(value_in(path, key).c_str()) * 1024;
}

/// Threads against the quota, and how often it stopped the group so far.
void examine_quota(DoctorReport& report, const distribute::CoreLimits& limits) {
  if (!limits.quota || *limits.quota >= limits.allowed) return;
  const int threads = distribute::usable_threads();
  const bool too_many = threads > limits.cores();
  const auto throttling = distribute::ControlGroups().throttling();
  std::string text =
      str_cat("operations compute with ", threads, threads == 1 ? " thread" : " threads");
  if (too_many)
    text += str_cat(", which the quota stops again and again: unset OMP_NUM_THREADS, or set it to ",
                    limits.cores());
  if (throttling && throttling->periods > 0)
    text += str_cat("; the group was stopped in ", throttling->throttled, " of ",
                    throttling->periods, " periods so far");
  report.add({kHost,
              "CPU limit",
              too_many ? Mark::Warning : Mark::Ok,
              text,
              {{"threads", threads},
               {"periods", throttling ? throttling->periods : 0},
               {"throttled", throttling ? throttling->throttled : 0}}});
}

void examine_cores(DoctorReport& report, int tasks_here) {
  const distribute::CoreLimits& limits = distribute::core_limits();
  constexpr const char* instructions[] = {"no vector instructions beyond the compiler's", "AVX2",
                                          "AVX-512"};
  std::string cpu = value_in("/proc/cpuinfo", "model name");
  report.ok(kHost, "cores",
            str_cat(limits.text(), cpu.empty() ? "" : ", ", cpu, ", ",
                    instructions[distribute::simd_level()]),
            {{"online", limits.online},
             {"allowed", limits.allowed},
             {"limit", limits.quota ? nlohmann::ordered_json(*limits.quota) : nullptr},
             {"limit_file", limits.quota_file},
             {"usable", limits.usable()}});
  examine_quota(report, limits);
  const int threads = distribute::threads_for_tasks(tasks_here);  // each task's
  if (tasks_here > 1 && tasks_here * threads > limits.usable())
    report.add(
        {kHost, "tasks per core", Mark::Warning,
         str_cat(tasks_here, " tasks with ", threads, threads == 1 ? " thread" : " threads",
                 " each share ", limits.text(), ": computing limits this job, not the network")});
}

void examine_memory(DoctorReport& report) {
  const double total = kilobytes_in("/proc/meminfo", "MemTotal:");
  const double available = kilobytes_in("/proc/meminfo", "MemAvailable:");
  const auto limit = distribute::ControlGroups().memory();
  const bool limited = limit && double(limit->value) < total;
  const bool little = available < 1e9;
  report.add({kHost,
              "memory",
              little ? Mark::Warning : Mark::Ok,
              str_cat(bytes_text(available), " free of ", bytes_text(total),
                      limited ? str_cat(", the control group allows ",
                                        bytes_text(double(limit->value)), " (", limit->file, ")")
                              : "",
                      little ? ": a task that runs out of it is killed without a word" : ""),
              {{"total_bytes", total}, {"available_bytes", available}}});
  if (const auto pages = first_line("/sys/kernel/mm/transparent_hugepage/enabled")) {
    const bool never = pages->find("[never]") != pages->npos;
    report.add({kHost, "huge pages", never ? Mark::Note : Mark::Ok,
                *pages + (never ? ": madvise or always makes large tensors faster" : "")});
  }
}

void examine_frequency(DoctorReport& report) {
  const auto governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  const bool saving = governor == "powersave" &&
                      first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver") !=
                          "intel_pstate";  // whose powersave is its normal way
  report.add({kHost, "governor", saving ? Mark::Warning : Mark::Ok,
              governor ? *governor + (saving ? ": cores stay slow; performance is faster" : "")
                       : "not readable (a virtual machine or container)"});
}

void examine_files(DoctorReport& report, int tasks) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const double wanted = 256 + 16.0 * tasks;  // flows, control links, data files
  const bool few = double(limit.rlim_cur) < wanted;
  report.add({kHost,
              "open files",
              few ? Mark::Warning : Mark::Ok,
              str_cat(limit.rlim_cur, few ? str_cat(" are few for ", tasks, " tasks: ulimit -n ",
                                                    int64_t(wanted), " or more")
                                          : std::string(" allowed")),
              {{"limit", limit.rlim_cur}, {"wanted", wanted}}});
  struct statvfs shared {};
  if (::statvfs("/dev/shm", &shared) == 0) {
    const double size = double(shared.f_blocks) * double(shared.f_frsize);
    report.ok(kHost, "shared memory",
              str_cat("/dev/shm has ", bytes_text(size),
                      "; windows between ranks are anonymous and do not count against it"),
              {{"bytes", size}});
  }
}

}  // namespace

void examine_host(DoctorReport& report, int tasks, int tasks_here) {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  report.ok(kHost, "name", name);
  examine_cores(report, tasks_here);
  examine_memory(report);
  examine_frequency(report);
  examine_files(report, tasks);
}

}  // namespace distribute_tools
