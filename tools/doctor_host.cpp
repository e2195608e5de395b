#include "doctor_host.hpp"

#include <distribute/base/error.hpp>
#include <distribute/base/parallel.hpp>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

#include <sched.h>
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

/// The folder of this process's control group (version 2), where it is mounted as usual.
std::vector<std::string> control_groups() {
  std::vector<std::string> folders;
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("0::")) {
      std::string path = line.substr(3);  // limits of the groups outside count, too
      for (; !path.empty() && path != "/"; path.resize(path.rfind('/')))
        folders.push_back("/sys/fs/cgroup" + path);
    }
  folders.push_back("/sys/fs/cgroup");
  return folders;
}

/// Cores that the control groups allow; nothing without a limit.
std::optional<double> limit_of_cores() {
  std::optional<double> limit;
  for (const std::string& folder : control_groups()) {
    std::istringstream words(first_line(folder + "/cpu.max").value_or("max"));
    std::string quota;
    double period = 0;
    words >> quota >> period;
    if (quota == "max" || period <= 0) continue;
    const double cores = std::atof(quota.c_str()) / period;
    limit = std::min(limit.value_or(cores), cores);
  }
  const auto quota = first_line("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");  // version 1
  const auto period = first_line("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  if (quota && period && std::atof(quota->c_str()) > 0)
    limit = std::min(limit.value_or(1e9), std::atof(quota->c_str()) / std::atof(period->c_str()));
  return limit;
}

std::optional<double> limit_of_memory() {
  std::optional<double> limit;
  std::vector<std::string> files;
  for (const std::string& folder : control_groups()) files.push_back(folder + "/memory.max");
  files.push_back("/sys/fs/cgroup/memory/memory.limit_in_bytes");
  for (const std::string& file : files) {
    const double bytes = std::atof(first_line(file).value_or("0").c_str());
    if (bytes > 0 && bytes < 1e15) limit = std::min(limit.value_or(bytes), bytes);
  }
  return limit;
}

int affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

void examine_cores(DoctorReport& report, int tasks_here) {
  const int online = int(::sysconf(_SC_NPROCESSORS_ONLN)), allowed = affinity();
  const auto limit = limit_of_cores();
  const double usable = usable_cores();
  constexpr const char* instructions[] = {"no vector instructions beyond the compiler's", "AVX2",
                                          "AVX-512"};
  std::string cpu = value_in("/proc/cpuinfo", "model name");
  std::string text = str_cat(allowed, " of ", online, " cores", cpu.empty() ? "" : ", ", cpu, ", ",
                             instructions[distribute::simd_level()]);
  const nlohmann::ordered_json data = {{"online", online},
                                       {"allowed", allowed},
                                       {"limit", limit ? nlohmann::ordered_json(*limit) : nullptr},
                                       {"usable", usable}};
  report.ok(kHost, "cores", text, data);
  if (limit && *limit < allowed - 0.01) {
    const int threads = distribute::intra_op_threads();
    const bool too_many = threads > std::max(1.0, *limit + 0.5);
    report.add({kHost,
                "CPU limit",
                too_many ? Mark::Warning : Mark::Ok,
                str_cat("the control group allows ", *limit, " of these cores",
                        too_many ? str_cat("; ", threads,
                                           " threads would be stopped again and "
                                           "again: set OMP_NUM_THREADS=",
                                           std::max(1, int(*limit)))
                                 : ""),
                {{"threads", threads}}});
  }
  if (tasks_here > usable)
    report.add({kHost, "tasks per core", Mark::Warning,
                str_cat(tasks_here, " tasks share ", usable, " cores of this host")});
}

void examine_memory(DoctorReport& report) {
  const double total = kilobytes_in("/proc/meminfo", "MemTotal:");
  const double available = kilobytes_in("/proc/meminfo", "MemAvailable:");
  const auto limit = limit_of_memory();
  const bool limited = limit && *limit < total;
  const bool little = available < 1e9;
  report.add({kHost,
              "memory",
              little ? Mark::Warning : Mark::Ok,
              str_cat(bytes_text(available), " free of ", bytes_text(total),
                      limited ? ", the control group allows " + bytes_text(*limit) : "",
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

double usable_cores() { return std::min(double(affinity()), limit_of_cores().value_or(1e9)); }

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
