#include "commands.hpp"

#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/exit_status.hpp>
#include <distribute/base/ordered_json.hpp>
#include <distribute/base/status.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/platforms/make_cluster.hpp>

#include <absl/strings/ascii.h>
#include <absl/strings/str_split.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <sys/stat.h>

namespace distribute_tools {

using namespace distribute;

/// The flags of the command, which its table explains.
struct MakeOptions : ClusterHosts, HostRoles {
  bool slurm = false, json = false;
  std::string emr, hostfile, boot_script;
};

std::string read_text(const std::string& path) {
  if (path == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
  try {
    return untrusted::read_text_file(path);
  } catch (const Error& error) {
    throw InvalidArgumentError(error.what());
  }
}

std::vector<std::string> read_hosts(const std::string& path) {
  std::vector<std::string> hosts;
  const std::string text = read_text(path);
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const absl::string_view said = line.substr(0, line.find('#'));
    const Words words = absl::StrSplit(said, absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
    if (!words.empty()) hosts.push_back(words[0]);
  }
  if (hosts.empty()) throw InvalidArgumentError(path + " names no host");
  return hosts;
}

std::vector<std::string> read_source(const MakeOptions& options) {
  if (options.slurm) return hosts_of_slurm();
  if (!options.emr.empty()) return hosts_of_emr(read_text(options.emr), options.emr);
  return read_hosts(options.hostfile);
}

ClusterSpec cluster_of(const MakeOptions& options, const CommandLine& line) {
  const auto count = [&](std::initializer_list<const char*> flags) {
    long sum = 0;
    for (const char* flag : flags) sum += line.count(flag);
    return sum;
  };
  const long sources = count({"slurm", "emr", "hostfile"});
  if (sources > 1)
    throw InvalidArgumentError("name one source of hosts: --slurm, --emr or --hostfile");
  const bool lists = count({"chief", "worker", "ps", "evaluator"}) > 0;
  if (lists && (sources > 0 || count({"chiefs", "servers", "evaluators"}) > 0))
    throw InvalidArgumentError(
        "give hosts by job (--chief, --worker, ...), or a source of hosts and how many are what "
        "(--chiefs, --servers, --evaluators), not both");
  if (sources == 0) return make_cluster(options);
  ClusterHosts dealt = deal_roles(read_source(options), options);
  dealt.port = options.port;
  return make_cluster(dealt);
}

void print_configs(const ClusterSpec& cluster, bool json) {
  auto all = nlohmann::ordered_json::array();
  for (const auto& [job, tasks] : cluster.as_dict())
    for (const auto& [index, address] : tasks.by_index()) {
      const std::string config = tf_config_of(cluster, job, index);
      const std::string host = host_of_address(address);
      if (json)
        all.push_back({{"host", host},
                       {"type", job},
                       {"index", index},
                       {"tf_config", distribute::ordered_json_of(config)}});
      else
        std::printf("# %s: %s %d\nexport TF_CONFIG='%s'\n", host.c_str(), job.c_str(), index,
                    config.c_str());
    }
  if (json) std::printf("%s\n", distribute::json_text(all, 2).c_str());
}

/// Appears whole: a host must not run half a script.
void write_script(const std::string& path, const std::string& text) {
  if (const std::string directory = io::directory_of(path);
      !directory.empty() && !std::filesystem::is_directory(directory))
    throw NotFoundError("cannot write " + path + ": there is no directory " + directory);
  throw_if_error(io::write_file_atomically(path, text));
  if (std::filesystem::is_regular_file(path) && ::chmod(path.c_str(), 0755) != 0)
    throw PermissionDeniedError("cannot make " + path + " executable: " + std::strerror(errno));
}

int make(MakeOptions options, const CommandLine& line) try {
  for (auto* hosts :
       {&options.chief, &options.worker, &options.ClusterHosts::ps, &options.evaluator})
    for (std::string& host : *hosts) absl::StripAsciiWhitespace(&host);
  const ClusterSpec cluster = cluster_of(options, line);
  if (!options.boot_script.empty()) write_script(options.boot_script, boot_script(cluster));
  print_configs(cluster, options.json);
  return kExitDone;
} catch (const InvalidArgumentError& error) {
  throw UsageProblem(error.what());
} catch (const FailedPreconditionError& error) {
  throw UsageProblem(error.what());
}

Command make_cluster_command() {
  using O = MakeOptions;
  return make_command<O>(
      "cluster make", "",
      "TF_CONFIG of every host of a new cluster, whose hosts are given by job, or all in one list "
      "and how many are what: the first ones chief, servers, evaluator, the rest workers. A host "
      "is "
      "HOST or HOST:PORT",
      {{"chief=H", &O::chief, "host of the chief"},
       {"worker=H,H", &O::worker, "hosts of the workers"},
       {"ps=H,H", &ClusterHosts::ps, "hosts of the parameter servers"},
       {"evaluator=H", &O::evaluator, "host of the evaluator"},
       {"slurm", &O::slurm, "the hosts of this allocation (SLURM_JOB_NODELIST)"},
       {"emr=FILE", &O::emr, "what \"aws emr list-instances\" prints; - is standard input"},
       {"hostfile=FILE", &O::hostfile, "one host a line, # begins a comment"},
       {"chiefs=N", &O::chiefs, at_least(0), "chiefs among the listed hosts, 0 or 1"},
       {"servers=N", &HostRoles::ps, at_least(0), "parameter servers among them"},
       {"evaluators=N", &O::evaluators, at_least(0), "evaluators among them, 0 or 1"},
       {"port=P", &O::port, at_least(1).at_most(65535), "first port of a host"},
       {"boot-script=FILE", &O::boot_script,
        "also writes a script that starts the tasks of the host it runs on"},
       {"json", &O::json, "an array of {\"host\", \"type\", \"index\", \"tf_config\"}"}},
      make);
}

}  // namespace distribute_tools
