#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/metrics/metrics_server.hpp>
#include <distribute/net/socket.hpp>

#include <absl/strings/numbers.h>

#include <cstdlib>
#include <span>
#include <sstream>

namespace distribute {

namespace metrics_internal {

/// Whether an answer has all that its Content-Length promises.
DISTRIBUTE_INLINE bool is_whole(const std::string& answer) {
  const size_t head = answer.find("\r\n\r\n"), length = answer.find("\r\nContent-Length: ");
  if (head == std::string::npos || length > head) return false;
  return answer.size() >= head + 4 + std::strtoull(answer.c_str() + length + 18, nullptr, 10);
}

/// The answer, as long as it says it is, or until the other end closes.
DISTRIBUTE_INLINE std::string ask(const net::Address& address, const std::string& request,
                                  double seconds) {
  const auto deadline = net::Deadline::after_seconds(seconds);
  net::Socket socket = value_or_throw(net::connect(address, deadline));
  throw_if_error(socket.write(std::as_bytes(std::span(request)), deadline));
  std::string answer;
  std::byte byte;
  while (!is_whole(answer) && socket.read(std::span(&byte, 1), deadline).ok()) answer += char(byte);
  return answer;
}

}  // namespace metrics_internal

DISTRIBUTE_INLINE std::string read_metrics(const net::Address& address, const std::string& token,
                                           double seconds) {
  const std::string request = str_cat("GET /metrics HTTP/1.1\r\nHost: ", address.text(),
                                      "\r\nAuthorization: Bearer ", token, "\r\n\r\n");
  const std::string answer = metrics_internal::ask(address, request, seconds);
  const size_t head = answer.find("\r\n\r\n"), body = head + 4;
  if (head == std::string::npos)
    throw UnavailableError(address.text() + " gave no answer to an HTTP request");
  if (!answer.starts_with("HTTP/1.1 200 "))
    throw UnauthenticatedError(str_cat(address.text(), ": ",
                                       answer.substr(9, answer.find('\r') - 9), ": ",
                                       answer.substr(body, answer.find('\n', body) - body)));
  return answer.substr(body);
}

}  // namespace distribute

namespace distribute::monitoring {

DISTRIBUTE_INLINE std::optional<double> MetricSample::value(const std::string& name) const {
  const auto found = values.find(name);
  return found == values.end() ? std::nullopt : std::optional(found->second);
}

DISTRIBUTE_INLINE std::string MetricSample::label(const std::string& name,
                                                  const std::string& label) const {
  const std::string begin = name + "{";
  const auto found = values.lower_bound(begin);
  if (found == values.end() || !found->first.starts_with(begin)) return "";
  const std::string mark = label + "=\"";
  const size_t at = found->first.find(mark);
  if (at == std::string::npos) return "";
  const size_t text = at + mark.size();
  return found->first.substr(text, found->first.find('"', text) - text);
}

DISTRIBUTE_INLINE MetricSample parse_prometheus_text(const std::string& text, double seconds) {
  MetricSample sample{{}, seconds};
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t end = line.rfind(' ');
    if (line.empty() || line[0] == '#' || end == std::string::npos) continue;
    const std::string name = line.substr(0, end), number = line.substr(end + 1);
    double value = 0;
    if (name.find("_bucket{") == std::string::npos && absl::SimpleAtod(number, &value))
      sample.values[name] = value;
  }
  return sample;
}

DISTRIBUTE_INLINE std::optional<double> rate(const MetricSample& before, const MetricSample& now,
                                             const std::string& name) {
  const auto first = before.value(name), last = now.value(name);
  const double seconds = now.seconds - before.seconds;
  if (!last || before.values.empty() || !(seconds > 0)) return std::nullopt;
  const double growth = *last - first.value_or(0);
  return growth < 0 ? std::nullopt : std::optional(growth / seconds);
}

}  // namespace distribute::monitoring
