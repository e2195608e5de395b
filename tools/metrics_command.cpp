#include "commands.hpp"

#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/metrics/metrics_server.hpp>
#include <distribute/net/job_token.hpp>

#include <cstdio>

namespace distribute_tools {

using namespace distribute;

namespace {

std::string token() { return metrics_token(value_or_throw(net::job_token_from_environment())); }

int get(const std::string& where) {
  const std::string text = read_metrics(value_or_throw(net::parse_address(where)), token());
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

int print_token() {
  if (token().empty())
    throw FailedPreconditionError(
        "there is no token: set DISTRIBUTE_METRICS_TOKEN or the job's token");
  std::printf("%s\n", token().c_str());
  return 0;
}

}  // namespace

std::vector<Command> metrics_commands() {
  struct None {};
  return {
      make_command<None>("metrics token", "",
                         "what Prometheus shows to read the metrics of this environment's job", {},
                         [](const None&, const CommandLine&) { return print_token(); }),
      make_command<None>("metrics get", "HOST:PORT",
                         "the metrics of a task that was started with DISTRIBUTE_METRICS_PORT", {},
                         [](const None&, const CommandLine& line) { return get(line.words[0]); })};
}

}  // namespace distribute_tools
