#include "cluster_flags.hpp"
#include "commands.hpp"

#include "doctor_host.hpp"
#include "doctor_report.hpp"

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/json.hpp>
#include <distribute/base/status.hpp>
#include <distribute/cluster/cluster_role.hpp>
#include <distribute/cluster/cluster_runtime.hpp>
#include <distribute/cluster/default_resolver.hpp>
#include <distribute/cluster/detail/network_lines.hpp>
#include <distribute/cluster/detail/task_ways.hpp>
#include <distribute/net/address.hpp>
#include <distribute/net/job_token.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

namespace distribute_tools {

using namespace distribute;

namespace {

/// Gradients of ResNet-50: 25.6 million numbers of 4 bytes.
constexpr double kResnetBytes = 25'557'032 * 4.0;

struct DoctorOptions : ClusterFlags {
  double timeout = 30;
  bool require_gpu = false, json = false;
};

/// Looks at host, libraries, GPUs and the cluster of the environment, and where there are several
/// tasks, at the network between them: it must then run as every task. Prints what it found.
class Doctor {
 public:
  explicit Doctor(const DoctorOptions& options)
      : options_(options), deadline_(net::Deadline::after_seconds(options.timeout)) {}
  int run();

 private:
  void examine_cluster();
  void list_tasks(const ClusterRole& role, std::optional<int> world_size);
  void examine_addresses();
  void examine_names();
  void examine_token();
  void examine_network();
  void report_ways(const std::vector<TaskWay>& ways);
  void join(const std::vector<TaskWay>& ways);
  bool report_versions(const nlohmann::json& tasks);
  void measure(ClusterRuntime& runtime, const nlohmann::json& tasks);
  nlohmann::json gather(ClusterRuntime& runtime, const char* name, const nlohmann::json& mine);
  void report_line(const NetworkLine& line);
  void report_clock(const std::vector<NetworkLine>& lines);
  void conclude(const std::vector<NetworkLine>& lines);
  void gather_failures(ClusterRuntime& runtime);
  void fail(const char* section, const char* name, const std::string& text) {
    report_.add({section, name, Mark::Failure, text});
  }
  std::string name(int rank) const { return tasks_.members[size_t(rank)].name(); }

  const DoctorOptions& options_;
  const net::Deadline deadline_;
  DoctorReport report_;
  ClusterTasks tasks_;
  bool in_job_ = false;  // this process is one of several tasks
  int workers_ = 0, servers_ = 0;
  std::vector<int> hosts_;
  ClusterOptions cluster_;
};

void Doctor::list_tasks(const ClusterRole& role, std::optional<int> world_size) {
  if (!role.task_type || !role.task_id) return;
  for (const char* job : {"chief", "master", "worker", "ps", "evaluator"})
    if (role.cluster.has_job(job))
      for (const int index : role.cluster.task_indices(job)) {
        if (role.task_type->name() == job && role.task_id == index) {
          tasks_.rank = tasks_.size();
          in_job_ = true;
        }
        tasks_.members.push_back({job, index, role.cluster.task_address(job, index)});
      }
  for (int index = 1; world_size && index < *world_size; ++index) {
    if (role.task_id == index) tasks_.rank = tasks_.size(), in_job_ = true;
    tasks_.members.push_back({"worker", index, ""});
  }
  for (const ClusterMember& member : tasks_.members)
    (member.type == "ps" ? servers_ : workers_) += member.type != "evaluator";
  in_job_ = in_job_ && tasks_.size() > 1;
}

void Doctor::examine_cluster() {
  try {
    const ImpliedResolver implied = default_resolver({}, options_);
    const ClusterRole role = cluster_role(*implied.resolver);
    report_.ok("cluster", "seen", implied.reason);
    if (!role.cluster)
      return report_.ok("cluster", "tasks", "none: a single process trains by itself");
    list_tasks(role, implied.resolver->world_size());
    const bool evaluator = role.task_type == TaskType::Evaluator;
    if (!role.task_type || !role.task_id)
      return fail("cluster", "this task",
                  "the cluster is known, but not which task this process is: give task type and "
                  "index");
    const std::string self = str_cat(role.task_type->name(), " ", *role.task_id);
    if (role.is_chief || evaluator)
      report_.ok("cluster", "this task",
                 str_cat(self, " of ", tasks_.size(), " tasks",
                         role.is_chief.value_or(false) ? ", the chief" : ""));
    else
      fail("cluster", "this task", role.problem);
  } catch (const Error& error) {
    in_job_ = false;
    fail("cluster", "description", error.what());
  }
}

void Doctor::examine_addresses() {
  bool loopback = false, other = false;
  std::string inside;
  for (const ClusterMember& member : tasks_.members) {
    if (member.address.empty()) continue;
    const auto address = net::parse_address(member.address);
    if (!address.ok()) continue;  // check_tasks says it
    (address->is_loopback() ? loopback : other) = true;
    if (address->is_loopback()) inside = member.text();
    if (address->port == 0) fail("cluster", "addresses", member.text() + " has no port");
  }
  try {
    check_tasks(tasks_);
    if (loopback && other)
      report_.add({"cluster", "addresses", Mark::Warning,
                   str_cat(inside,
                           " has a loopback address, which other hosts cannot reach: write "
                           "the name by which they know its host, in all tasks alike")});
    else
      report_.ok("cluster", "addresses", loopback ? "all on this machine" : "well-formed");
  } catch (const Error& error) {
    fail("cluster", "addresses", error.what());
    in_job_ = false;
  }
}

/// Debian's /etc/hosts calls a host's own name 127.0.1.1.
void Doctor::examine_names() {
  constexpr double kPatienceSeconds = 2;
  const auto own = net::parse_address(tasks_.self().address);
  for (const ClusterMember& member : tasks_.members) {
    const auto address = net::parse_address(member.address);
    if (!address.ok() || address->is_loopback()) continue;
    const auto found = net::resolve(*address, net::Deadline::after_seconds(kPatienceSeconds));
    if (!found.ok()) continue;  // the way to the task says it
    const auto inside = [](const net::Address& numeric) { return numeric.is_loopback(); };
    if (!std::all_of(found->begin(), found->end(), inside)) continue;
    const bool here = own.ok() && own->host == address->host;
    report_.add(
        {"cluster", "addresses", here ? Mark::Note : Mark::Warning,
         str_cat(member.text(), ": this host's /etc/hosts says ", found->front().host,
                 here ? ", so the task listens on all addresses of the host"
                      : ", which is this host itself: correct it unless the task runs here")});
  }
}

void Doctor::examine_token() {
  cluster_ = ClusterOptions::from_environment();
  const bool has_token = !cluster_.job_token.empty();
  for (const ClusterMember& member : tasks_.members) {
    const auto address = net::parse_address(member.address);
    if (!address.ok()) continue;
    const absl::Status status = net::check_exposure(*address, has_token, cluster_.insecure);
    if (!status.ok()) {
      in_job_ = false;
      return fail("cluster", "job token", std::string(status.message()));
    }
  }
  report_.add({"cluster", "job token", has_token ? Mark::Ok : Mark::Note,
               has_token           ? "set"
               : cluster_.insecure ? "none: every program on the network may join the job"
                                   : "none: fine on this machine alone"});
}

void Doctor::report_ways(const std::vector<TaskWay>& ways) {
  for (int rank = 0; rank < tasks_.size(); ++rank) {
    const TaskWay& way = ways[size_t(rank)];
    const std::string to = tasks_.members[size_t(rank)].text();
    if (!way.reached())
      fail("reachability", way.step.c_str(), str_cat("to ", to, ": ", way.problem));
    else if (way.name_seconds > 0.5)
      report_.add({"reachability", "name", Mark::Warning,
                   str_cat("to ", to, ": the resolver took ", seconds_text(way.name_seconds))});
  }
  const auto reached =
      std::count_if(ways.begin(), ways.end(), [](const TaskWay& w) { return w.reached(); });
  report_.ok(
      "reachability", "tasks",
      str_cat(reached - 1, " of ", tasks_.size() - 1, " other tasks answer and know the token"));
}

void Doctor::examine_network() {
  std::vector<TaskWay> ways;
  try {
    ways = find_task_ways(tasks_, cluster_, deadline_);
  } catch (const Error& error) {
    return fail("reachability", "listen", error.what());
  }
  report_ways(ways);
  const bool leader_is_there = tasks_.rank == 0 || ways[0].reached();
  if (leader_is_there) join(ways);
}

/// After the ways were found all ports are open, or no task waits for them any more: who misses a
/// task comes at the deadline, and the leader may have started its clock before.
void Doctor::join(const std::vector<TaskWay>& ways) {
  constexpr double kLateSeconds = 3;
  cluster_.startup_timeout = deadline_.left().count() * 1e-9 + kLateSeconds;
  cluster_.operation_timeout = 60;
  cluster_.log = [](const std::string&) {};
  std::vector<int> unreached;
  for (int rank = 0; rank < tasks_.size(); ++rank)
    if (!ways[size_t(rank)].reached()) unreached.push_back(rank);
  try {
    const auto runtime = ClusterRuntime::join(tasks_, cluster_);
    hosts_ = runtime->hosts();
    const auto tasks =
        gather(*runtime, "doctor introduction", {{"version", kVersion}, {"unreached", unreached}});
    if (report_versions(tasks)) measure(*runtime, tasks);
    runtime->leave();
  } catch (const Error& error) {
    const Mark mark = report_.healthy() ? Mark::Failure : Mark::Note;  // a consequence
    report_.add({"network", "not measured", mark, error.what()});
  }
}

/// What the doctors of all tasks say, by rank.
nlohmann::json Doctor::gather(ClusterRuntime& runtime, const char* name,
                              const nlohmann::json& mine) {
  nlohmann::json all;
  for (const std::string& text : runtime.all_gather(name, json_text(mine)))
    all.push_back(json_of(text));
  return all;
}

/// Whether they are the same; doctors of other versions may measure in other ways.
bool Doctor::report_versions(const nlohmann::json& tasks) {
  bool same = true;
  for (int rank = 1; rank < tasks_.size(); ++rank) {
    const std::string first = tasks[0]["version"], other = tasks[size_t(rank)]["version"];
    if (first == other) continue;
    same = false;
    fail("cluster", "versions",
         str_cat(name(0), " runs distribute ", first, " and ", name(rank), " ", other,
                 ": run the same build in all tasks"));
  }
  return same;
}

void Doctor::measure(ClusterRuntime& runtime, const nlohmann::json& tasks) {
  std::vector<std::vector<int>> unreached;
  for (const auto& task : tasks) unreached.push_back(task["unreached"]);
  std::vector<NetworkLine> lines = measure_network_lines(runtime, unreached);
  try {
    lines = gather_network_lines(runtime, lines);
  } catch (const Error&) {  // perhaps too large for the way from the leader
    for (const NetworkLine& line : lines) report_line(line);
    throw;
  }
  for (const NetworkLine& line : lines) report_line(line);
  report_clock(lines);
  conclude(lines);
  gather_failures(runtime);
}

void Doctor::report_line(const NetworkLine& line) {
  const std::string pair = str_cat(name(line.from), " - ", name(line.to));
  if (!line.problem.empty())
    return report_.add(
        {"network", "connection", Mark::Failure, pair + ": " + line.problem, line.json()});
  std::string text =
      str_cat(pair, ": ", seconds_text(line.latency_p50), " there and back (p99 ",
              seconds_text(line.latency_p99), "), ", bytes_text(line.forth), "/s forth, ",
              bytes_text(line.back), "/s back, MTU ", line.mtu, line.one_host ? ", one host" : "");
  Mark mark = Mark::Ok;
  const auto warn = [&](const std::string& why) {
    mark = Mark::Warning;
    text += "; " + why;
  };
  if (line.lost_share > 0.005)
    warn(str_cat(std::round(line.lost_share * 1000) / 10,
                 " % of the packets were sent again: the network loses some"));
  if (line.mtu > 0 && line.mtu < 1400) warn("a small MTU costs bandwidth");
  if (std::max(line.forth, line.back) > 4 * std::min(line.forth, line.back))
    warn("one direction is much slower");
  report_.add({"network", "line", mark, text, line.json()});
}

/// Only the pairs of the leader: the others follow from them.
void Doctor::report_clock(const std::vector<NetworkLine>& lines) {
  double worst = 0;
  int whose = 0;
  for (const NetworkLine& line : lines)
    if (line.from == 0 && line.problem.empty() && std::abs(line.clock_offset) > std::abs(worst))
      worst = line.clock_offset, whose = line.to;
  const bool bad = std::abs(worst) > 1;
  report_.add(
      {"network",
       "clocks",
       bad ? Mark::Warning : Mark::Ok,
       str_cat("at most ", seconds_text(std::abs(worst)), " apart",
               whose ? str_cat(" (", name(whose), " is ", worst > 0 ? "ahead" : "behind", ")") : "",
               bad ? ": logs mislead, and object stores refuse signed requests; set up NTP" : ""),
       {{"seconds", worst}}});
}

void Doctor::conclude(const std::vector<NetworkLine>& lines) {
  const NetworkLine* slowest = nullptr;
  const auto speed = [](const NetworkLine& line) { return std::min(line.forth, line.back); };
  for (const NetworkLine& line : lines)
    if (line.problem.empty() && (!slowest || speed(line) < speed(*slowest))) slowest = &line;
  if (!slowest) return;
  const double share = servers_ > 0 ? 2.0 : 2.0 * (workers_ - 1) / std::max(workers_, 1);
  const double seconds = kResnetBytes * share / speed(*slowest);
  const bool shared_memory = std::count(hosts_.begin(), hosts_.end(), hosts_[0]) == tasks_.size();
  report_.add(
      {"limits",
       "network",
       Mark::Note,
       str_cat("the slowest line, ", name(slowest->from), " - ", name(slowest->to), ", moves ",
               bytes_text(speed(*slowest)), "/s; ResNet-50's ", bytes_text(kResnetBytes),
               servers_ > 0 ? " of weights and gradients, pulled and pushed," : " of gradients",
               " need ", seconds_text(seconds), " of each step",
               shared_memory ? " over sockets; on one host shared memory is used instead" : "",
               ": what computes for longer than that hides it"),
       {{"bytes_per_second", speed(*slowest)}, {"resnet50_seconds_per_step", seconds}}});
}

/// What keeps one task from running keeps the job.
void Doctor::gather_failures(ClusterRuntime& runtime) {
  const auto all = gather(runtime, "doctor failures", report_.failures());
  for (int rank = 0; rank < runtime.size(); ++rank)
    if (rank != runtime.rank())
      for (const std::string text : all[size_t(rank)])
        fail("other tasks", name(rank).c_str(), text);
}

int Doctor::run() {
  examine_cluster();
  if (in_job_) examine_addresses();
  try {
    if (in_job_) examine_token();
  } catch (const Error& error) {
    in_job_ = false;
    fail("cluster", "options", error.what());
  }
  if (in_job_) examine_names();
  if (in_job_) examine_network();
  const int here = hosts_.empty()
                       ? 1
                       : int(std::count(hosts_.begin(), hosts_.end(), hosts_[size_t(tasks_.rank)]));
  examine_host(report_, std::max(tasks_.size(), 1), here);
  examine_libraries(report_);
  examine_cuda(report_, options_.require_gpu);
  examine_gpus(report_, options_.require_gpu);
  if (options_.json) {
    auto json = report_.json();
    json["task"] = in_job_ ? name(tasks_.rank) : "";
    std::printf("%s\n", distribute::json_text(json).c_str());
  } else {
    std::printf("%s", report_.text(tasks_.rank != 0).c_str());
    for (const std::string& failure : report_.failures())
      std::printf("This keeps the job from running: %s\n", failure.c_str());
    if (report_.healthy()) std::printf("Nothing keeps the job from running.\n");
  }
  return report_.healthy() ? 0 : 1;
}

}  // namespace

Command doctor_command() {
  using O = DoctorOptions;
  return make_command<O>(
      "doctor", "",
      "what limits a job or keeps it from running: host, libraries, GPUs and, started as every "
      "task "
      "(distribute run -np N -- distribute doctor), the network between them",
      with_cluster_flags<O>(
          {{"timeout=SECONDS", &O::timeout, above(0).at_most(1e6), "for the other tasks to appear"},
           {"require_gpu", &O::require_gpu,
            "no GPU, or none of NVRTC, cuBLASLt, cuDNN or NCCL, keeps the job from running"},
           {"json", &O::json, "print one JSON object"}}),
      [](const O& options, const CommandLine&) { return Doctor(options).run(); });
}

}  // namespace distribute_tools
