#include "metrics_command.hpp"
#include "commands.hpp"

#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/metrics/metrics_server.hpp>
#include <distribute/net/connect.hpp>
#include <distribute/net/job_token.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>

namespace distribute_tools {

using namespace distribute;

namespace {

std::string token() { return metrics_token(value_or_throw(net::job_token_from_environment())); }

/// Whether an answer has all that its Content-Length promises.
bool is_whole(const std::string& answer) {
  const size_t head = answer.find("\r\n\r\n"), length = answer.find("\r\nContent-Length: ");
  if (head == std::string::npos || length > head) return false;
  return answer.size() >= head + 4 + std::strtoull(answer.c_str() + length + 18, nullptr, 10);
}

/// The answer, as long as it says it is, or until the other end closes.
std::string ask(const net::Address& address, const std::string& request, double seconds) {
  const auto deadline = net::Deadline::after_seconds(seconds);
  net::Socket socket = value_or_throw(net::connect(address, deadline));
  throw_if_error(socket.write(std::as_bytes(std::span(request)), deadline));
  std::string answer;
  std::byte byte;
  while (!is_whole(answer) && socket.read(std::span(&byte, 1), deadline).ok()) answer += char(byte);
  return answer;
}

int get(const std::string& where) {
  const std::string text = read_metrics(value_or_throw(net::parse_address(where)), 10);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

}  // namespace

std::string read_metrics(const net::Address& address, double seconds) {
  const std::string request = str_cat("GET /metrics HTTP/1.1\r\nHost: ", address.text(),
                                      "\r\nAuthorization: Bearer ", token(), "\r\n\r\n");
  const std::string answer = ask(address, request, seconds);
  const size_t head = answer.find("\r\n\r\n"), body = head + 4;
  if (head == std::string::npos)
    throw UnavailableError(address.text() + " gave no answer to an HTTP request");
  if (!answer.starts_with("HTTP/1.1 200 "))
    throw UnauthenticatedError(str_cat(address.text(), ": ",
                                       answer.substr(9, answer.find('\r') - 9), ": ",
                                       answer.substr(body, answer.find('\n', body) - body)));
  return answer.substr(body);
}

namespace {

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
