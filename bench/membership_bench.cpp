// What the leader of a job pays for its members: one process plays all of them, over loopback.
// membership_bench [members] [seconds]
#include <distribute/base/error.hpp>
#include <distribute/cluster/cluster_runtime.hpp>
#include <distribute/cluster/cluster_spec.hpp>
#include <distribute/cluster/detail/agreement.hpp>
#include <distribute/cluster/detail/fnv1a.hpp>
#include <distribute/cluster/tf_config_cluster_resolver.hpp>
#include <distribute/net/socket.hpp>

#include "../tests/support/played_members.hpp"
#include "cpu_seconds.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace distribute;
using namespace distribute::cluster_internal;
using Clock = std::chrono::steady_clock;

namespace {

constexpr const char* kToken = "the token of the members that are played";

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Resident memory and its largest value, in KiB.
long memory_kib(const std::string& name) {
  std::ifstream file("/proc/self/status");
  for (std::string word; file >> word;)
    if (word == name + ":") {
      long value = 0;
      file >> value;
      return value;
    }
  return 0;
}

ClusterTasks tasks_of(int members, const std::string& leader) {
  ClusterTasks tasks;
  tasks.members.push_back({"worker", 0, leader});
  for (int i = 1; i < members; ++i)
    tasks.members.push_back(
        {"worker", i,
         "127.1." + std::to_string(i / 250) + "." + std::to_string(i % 250 + 1) + ":2222"});
  return tasks;
}

void raise_limit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

/// The members' process: they join, beat, agree three times, and lose one.
int play(const ClusterTasks& tasks, double seconds) {
  raise_limit();
  int started = 0, answered = 0, told = 0;
  PlayedMembers members(tasks, kToken, [&](int, const ControlMessage& message) {
    if (message.type == ControlType::Start) ++started;
    if (message.type == ControlType::Reply) ++answered;
    if (message.type == ControlType::Failed) ++told;
  });
  members.progress = [](int, int64_t beat) {
    return "in all_reduce(sum) #12345 float32 x 25000000 for " + std::to_string(beat % 1000) + " s";
  };
  const int count = tasks.size() - 1;
  const auto begin = Clock::now();
  members.join(net::Deadline::after_seconds(60));
  if (!members.serve([&] { return started == count; }, net::Deadline::after_seconds(60)))
    return std::printf("only %d of %d members have started\n", started, count), 1;
  std::printf("members: join of all          %8.2f s\n", seconds_since(begin));
  const std::string text =
      canonical_json(R"({"bytes_per_pack": 26214400, "replicas per worker": 1})");
  const std::string digest = net::encode_message(
      std::array<uint64_t, 3>{text.size(), fnv1a(text), fnv1a(text, 0x9e3779b97f4a7c15u)});
  for (int i = 0; i < 3; ++i) {
    answered = 0;
    members.send_all({.type = ControlType::Gather,
                      .request = uint64_t(i + 1),
                      .code = 1,
                      .times = {60'000'000'000, 0, 0},
                      .name = "agree digest the options",
                      .value = digest});
    const auto asked = Clock::now();
    if (!members.serve([&] { return answered == count; }, net::Deadline::after_seconds(60)))
      return std::printf("only %d of %d members have agreed\n", answered, count), 1;
    std::printf("members: agree %d              %8.3f s\n", i + 1, seconds_since(asked));
  }
  members.serve([] { return false; }, net::Deadline::after_seconds(seconds + 4));
  members.freeze(count / 2);
  const auto frozen = Clock::now();
  if (!members.serve([&] { return told >= count - 1; }, net::Deadline::after_seconds(30)))
    return std::printf("only %d of %d members were told\n", told, count - 1), 1;
  std::printf("members: a frozen one told to all %5.2f s\n", seconds_since(frozen));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 1024;
  const double seconds = argc > 2 ? std::atof(argv[2]) : 20;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  auto listener =
      value_or_throw(net::Listener::bind({"127.0.0.1", 0}, net::Deadline::after_seconds(5)));
  const ClusterTasks tasks = tasks_of(count, listener.address().text());
  const pid_t players = ::fork();
  if (players == 0) {
    listener.close();
    std::_Exit(play(tasks, seconds));
  }
  const long before = memory_kib("VmRSS");
  ClusterOptions options;
  options.job_token = kToken;
  const double cpu_before = cpu_seconds();
  const auto begin = Clock::now();
  const auto runtime = ClusterRuntime::join(tasks, options, std::move(listener));
  std::printf("leader: join                   %8.2f s, %.2f s of a core\n", seconds_since(begin),
              cpu_seconds() - cpu_before);
  for (int i = 0; i < 3; ++i)
    runtime->agree("the options", R"({"bytes_per_pack": 26214400, "replicas per worker": 1})");
  std::this_thread::sleep_for(std::chrono::seconds(2));
  const double cpu = cpu_seconds();
  const auto beats = Clock::now();
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  std::printf("leader: heartbeats             %8.2f %% of a core\n",
              100 * (cpu_seconds() - cpu) / seconds_since(beats));
  std::printf("leader: memory per member      %8.1f KiB, at most %.1f KiB\n",
              double(memory_kib("VmRSS") - before) / count,
              double(memory_kib("VmHWM") - before) / count);
  runtime->wait_lost(net::Deadline::after_seconds(30));
  std::printf("leader: %s\n",
              runtime->lost() ? runtime->lost()->reason.c_str() : "no task is lost");
  int status = 0;
  ::waitpid(players, &status, 0);
  return WEXITSTATUS(status);
}
