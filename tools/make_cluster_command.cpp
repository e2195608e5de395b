#include "make_cluster_command.hpp"

#include <distribute/base/error.hpp>
#include <distribute/base/exit_status.hpp>
#include <distribute/base/json.hpp>
#include <distribute/platforms/boot_script.hpp>
#include <distribute/platforms/make_cluster.hpp>

#include <absl/strings/numbers.h>
#include <absl/strings/str_split.h>
#include <absl/strings/strip.h>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <getopt.h>
#include <sys/stat.h>

namespace distribute_tools {

using namespace distribute;

const char kMakeUsage[] =
    "distribute cluster make [--chief H] [--worker H,H] [--ps H,H] [--evaluator H] [options]\n"
    "distribute cluster make --slurm | --emr FILE | --hostfile FILE [roles] [options]\n"
    "  H is HOST or HOST:PORT. Sources of hosts instead:\n"
    "  --slurm            this allocation (SLURM_JOB_NODELIST)\n"
    "  --emr FILE         what \"aws emr list-instances\" prints; - is standard input\n"
    "  --hostfile FILE    one host a line, # begins a comment\n"
    "  Roles of such hosts, in their order; the rest are workers:\n"
    "  --chiefs 0|1 --servers N --evaluators 0|1\n"
    "  Options:\n"
    "  --port P           first port of a host (2222)\n"
    "  --boot-script F    also writes a script that starts the tasks of the host it runs on\n"
    "  --json             an array of {\"host\", \"type\", \"index\", \"tf_config\"}\n";

enum MakeOption {
  kChief,
  kWorker,
  kPs,
  kEvaluator,
  kSlurm,
  kEmr,
  kHostFile,
  kChiefs,
  kServers,
  kEvaluators,
  kPort,
  kBootScript,
  kJson,
  kHelp
};

const option kMakeOptions[] = {{"chief", required_argument, nullptr, kChief},
                               {"worker", required_argument, nullptr, kWorker},
                               {"ps", required_argument, nullptr, kPs},
                               {"evaluator", required_argument, nullptr, kEvaluator},
                               {"slurm", no_argument, nullptr, kSlurm},
                               {"emr", required_argument, nullptr, kEmr},
                               {"hostfile", required_argument, nullptr, kHostFile},
                               {"chiefs", required_argument, nullptr, kChiefs},
                               {"servers", required_argument, nullptr, kServers},
                               {"evaluators", required_argument, nullptr, kEvaluators},
                               {"port", required_argument, nullptr, kPort},
                               {"boot-script", required_argument, nullptr, kBootScript},
                               {"json", no_argument, nullptr, kJson},
                               {"help", no_argument, nullptr, kHelp},
                               {}};

struct MakeArguments {
  ClusterHosts hosts;
  HostRoles roles;
  std::optional<std::vector<std::string>> source;  // hosts without roles
  std::string boot_script;
  bool json = false, help = false, given_roles = false;
};

std::string read_text(const std::string& path) {
  if (path == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) throw InvalidArgumentError("cannot read " + path + ": " + std::strerror(errno));
  return text;
}

std::vector<std::string> read_hosts(const std::string& path) {
  std::vector<std::string> hosts;
  const std::string text = read_text(path);
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    line.resize(std::min(line.size(), line.find('#')));
    std::istringstream words(line);
    std::string host;
    if (words >> host) hosts.push_back(host);
    at = end + 1;
  }
  if (hosts.empty()) throw InvalidArgumentError(path + " names no host");
  return hosts;
}

int read_number(const char* name, const std::string& text) {
  int value = 0;
  if (absl::SimpleAtoi(text, &value) && value >= 0) return value;
  throw InvalidArgumentError(str_cat("--", name, ": wanted a number, not '", text, "'"));
}

std::vector<std::string> split_commas(const std::string& text) {
  std::vector<std::string> pieces = absl::StrSplit(text, ',', absl::SkipWhitespace());
  for (std::string& piece : pieces) absl::StripAsciiWhitespace(&piece);
  return pieces;
}

void take_make_option(int choice, const std::string& value, MakeArguments& to) {
  const auto set_source = [&](std::vector<std::string> hosts) {
    if (to.source)
      throw InvalidArgumentError("name one source of hosts: --slurm, --emr or --hostfile");
    to.source = std::move(hosts);
  };
  const auto set_role = [&](int& role, const char* name) {
    role = read_number(name, value);
    to.given_roles = true;
  };
  switch (choice) {
    case kChief: to.hosts.chief = split_commas(value); break;
    case kWorker: to.hosts.worker = split_commas(value); break;
    case kPs: to.hosts.ps = split_commas(value); break;
    case kEvaluator: to.hosts.evaluator = split_commas(value); break;
    case kSlurm: set_source(hosts_of_slurm()); break;
    case kEmr: set_source(hosts_of_emr(read_text(value), value)); break;
    case kHostFile: set_source(read_hosts(value)); break;
    case kChiefs: set_role(to.roles.chiefs, "chiefs"); break;
    case kServers: set_role(to.roles.ps, "servers"); break;
    case kEvaluators: set_role(to.roles.evaluators, "evaluators"); break;
    case kPort: to.hosts.port = read_number("port", value); break;
    case kBootScript: to.boot_script = value; break;
    case kJson: to.json = true; break;
    default: to.help = true;
  }
}

MakeArguments parse_make_arguments(int argc, char** argv) {
  MakeArguments result;
  ::opterr = 0;
  ::optind = 1;
  for (int choice; (choice = ::getopt_long_only(argc, argv, "+:", kMakeOptions, nullptr)) != -1;) {
    const std::string word = argv[::optind - 1];
    if (choice == '?') throw InvalidArgumentError("unknown option '" + word + "'");
    if (choice == ':') throw InvalidArgumentError("option '" + word + "' needs a value");
    take_make_option(choice, ::optarg ? ::optarg : "", result);
  }
  if (::optind < argc)
    throw InvalidArgumentError(str_cat("unexpected argument '", argv[::optind], "'"));
  return result;
}

ClusterSpec cluster_of(const MakeArguments& arguments) {
  const ClusterHosts& named = arguments.hosts;
  const bool lists =
      !(named.chief.empty() && named.worker.empty() && named.ps.empty() && named.evaluator.empty());
  if (lists && (arguments.source || arguments.given_roles))
    throw InvalidArgumentError(
        "give hosts by job (--chief, --worker, ...), or a source of hosts and how many are what "
        "(--chiefs, --servers, --evaluators), not both");
  if (!arguments.source) return make_cluster(named);
  ClusterHosts dealt = deal_roles(*arguments.source, arguments.roles);
  dealt.port = named.port;
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
  const std::string temporary = path + ".new";
  std::ofstream file(temporary, std::ios::trunc | std::ios::binary);
  file << text << std::flush;
  if (!file || ::chmod(temporary.c_str(), 0755) != 0 ||
      std::rename(temporary.c_str(), path.c_str()) != 0)
    throw PermissionDeniedError("cannot write " + path + ": " + std::strerror(errno));
}

int make_cluster_command(int argc, char** argv) {
  try {
    const MakeArguments arguments = parse_make_arguments(argc, argv);
    if (arguments.help) return std::fputs(kMakeUsage, stdout) < 0;
    const ClusterSpec cluster = cluster_of(arguments);
    if (!arguments.boot_script.empty()) write_script(arguments.boot_script, boot_script(cluster));
    print_configs(cluster, arguments.json);
    return kExitDone;
  } catch (const Error& error) {
    std::fprintf(stderr, "distribute cluster make: %s\n", error.what());
    return error.code() == StatusCode::PermissionDenied ? kExitFailed : kExitUsage;
  }
}

}  // namespace distribute_tools
