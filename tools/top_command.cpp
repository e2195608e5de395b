#include "commands.hpp"
#include "top_samples.hpp"

#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/metrics/metrics_server.hpp>
#include <distribute/net/address.hpp>
#include <distribute/net/deadline.hpp>
#include <distribute/net/job_token.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <exception>
#include <future>
#include <thread>

#include <unistd.h>

namespace distribute_tools {

using namespace distribute;

namespace {

/// The flags of the command, which its table explains.
struct TopOptions {
  double interval = 2;
  double wait = 10;
  int64_t count = 0;
  bool json = false;
};

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// "host:9100-9102" is three addresses.
/// Throws  UsageProblem for a text that is none.
std::vector<net::Address> addresses_of(const std::string& word) {
  const size_t colon = word.rfind(':'), dash = word.find('-', std::min(colon, word.size()));
  const auto first = net::parse_address(word.substr(0, dash));
  if (!first.ok()) throw UsageProblem(std::string(first.status().message()));
  if (dash == std::string::npos) return {*first};
  net::Address address = *first;
  int last = 0;
  const auto [end, error] =
      std::from_chars(word.data() + dash + 1, word.data() + word.size(), last);
  if (error != std::errc() || end != word.data() + word.size() || last < address.port ||
      last > 65535 || last - address.port > 1023)
    throw UsageProblem(str_cat("'", word, "': wanted HOST:FIRST-LAST with at most 1,024 ports"));
  std::vector<net::Address> all;
  for (; address.port <= last; ++address.port) all.push_back(address);
  return all;
}

MetricSample sample_of(const net::Address& address) {
  const std::string token = metrics_token(value_or_throw(net::job_token_from_environment()));
  return monitoring::parse_prometheus_text(read_metrics(address, token, 5), steady_seconds());
}

/// All tasks side by side: one that is gone does not hold up the others. Of one that does not
/// answer a sample without values; why, to `problem`.
std::vector<MetricSample> read_all(const std::vector<net::Address>& addresses,
                                   std::exception_ptr& problem) {
  std::vector<std::future<MetricSample>> answers;
  for (const net::Address& address : addresses)
    answers.push_back(std::async(std::launch::async, sample_of, address));
  std::vector<MetricSample> samples;
  for (auto& answer : answers) {
    try {
      samples.push_back(answer.get());
    } catch (const Error&) {
      samples.emplace_back();
      if (!problem) problem = std::current_exception();
    }
  }
  return samples;
}

bool any_answers(const std::vector<MetricSample>& samples) {
  return std::any_of(samples.begin(), samples.end(),
                     [](const MetricSample& sample) { return !sample.values.empty(); });
}

void show(const std::vector<TaskRow>& rows, bool json, bool in_place) {
  const double now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  const std::string text = json ? json_of(rows, now) + "\n" : table_of(rows);
  if (in_place) std::fputs("\x1b[H\x1b[J", stdout);  // to the upper left corner, and clear
  std::fputs((text + (json || in_place ? "" : "\n")).c_str(), stdout);
  std::fflush(stdout);
}

/// The first reading in which a task answers. A job that has just been started may need a while.
/// Throws  what the first task answers; UnavailableError when none does within `seconds`.
std::vector<MetricSample> first_samples(const std::vector<net::Address>& addresses,
                                        double seconds) {
  const net::Deadline deadline = net::Deadline::after_seconds(seconds);
  while (true) {
    std::exception_ptr problem;
    std::vector<MetricSample> samples = read_all(addresses, problem);
    if (any_answers(samples)) return samples;
    try {
      std::rethrow_exception(problem);
    } catch (const UnavailableError&) {
      if (deadline.passed()) throw;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

int watch(const std::vector<net::Address>& addresses, const TopOptions& options) {
  const bool in_place = !options.json && ::isatty(STDOUT_FILENO) == 1;
  const int64_t count = options.count == 0 && options.json ? 1 : options.count;
  std::vector<MetricSample> before = first_samples(addresses, options.wait);
  std::vector<std::string> names(addresses.size());  // which a task that is gone keeps
  std::exception_ptr problem;
  for (int64_t shown = 0; count == 0 || shown < count; ++shown) {
    std::this_thread::sleep_for(std::chrono::duration<double>(options.interval));
    std::vector<MetricSample> now = read_all(addresses, problem);
    if (!any_answers(now)) return 0;  // the job has ended
    std::vector<TaskRow> rows;
    for (size_t i = 0; i < addresses.size(); ++i) {
      TaskRow& row = rows.emplace_back(row_of(addresses[i].text(), before[i], now[i]));
      if (row.reachable) names[i] = row.task;
      if (!names[i].empty()) row.task = names[i];
    }
    share_lateness(rows, now);
    show(rows, options.json, in_place);
    before = std::move(now);
  }
  return 0;
}

}  // namespace

Command top_command() {
  using O = TopOptions;
  return make_command<O>(
      "top", "HOST:PORT|HOST:FIRST-LAST...",
      "a live table of tasks that were started with DISTRIBUTE_METRICS_PORT. On a terminal it "
      "stays in its place; elsewhere each one is printed below the last",
      {{"interval=SECONDS", &O::interval, above(0).at_most(3600), "between two readings"},
       {"count=N", &O::count, at_least(0),
        "tables to show; 0: until the job ends, with --json one"},
       {"wait=SECONDS", &O::wait, at_least(0).at_most(3600), "for the first task to answer"},
       {"json", &O::json, "an object on each line instead of a table"}},
      [](const O& options, const CommandLine& line) {
        std::vector<net::Address> addresses;
        for (const std::string& word : line.words)
          for (net::Address& address : addresses_of(word)) addresses.push_back(std::move(address));
        return watch(addresses, options);
      });
}

}  // namespace distribute_tools
