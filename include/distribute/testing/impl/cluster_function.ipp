#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/net/deadline.hpp>
#include <distribute/testing/detail/cluster_channel.hpp>
#include <distribute/testing/process_cluster.hpp>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

namespace distribute::testing_internal {

struct ClusterFunctions {
  std::map<std::string, testing::ClusterFunction> by_name;
};

/// The functions of this program; initializers of constants fill the list before main().
DISTRIBUTE_INLINE std::map<std::string, testing::ClusterFunction>& cluster_functions() {
  return in_process<ClusterFunctions>().by_name;
}

/// Sends a message. It is no error if the test is gone, because its tasks are then about to be
/// killed.
DISTRIBUTE_INLINE void send_message(ChannelKind kind, std::string_view text) {
  std::string bytes = encode_message(kind, text);
  while (!bytes.empty()) {
    const ssize_t sent = ::send(kChannelDescriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR) return;
    if (sent > 0) bytes.erase(0, size_t(sent));
  }
}

DISTRIBUTE_INLINE void report_error(StatusCode code, const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  send_message(ChannelKind::Error, str_cat(int(code), " ", message));
}

/// Runs the function and returns the exit status.
DISTRIBUTE_INLINE int run_cluster_function(const std::string& name) {
  try {
    const auto found = cluster_functions().find(name);
    if (found == cluster_functions().end())
      throw NotFoundError("this program has no DISTRIBUTE_CLUSTER_MAIN(" + name + ")");
    testing::ClusterTask task;
    found->second(task);
    return 0;
  } catch (const Error& error) {
    report_error(error.code(), error.what());
  } catch (const std::exception& error) {
    report_error(StatusCode::Unknown, error.what());
  }
  return 1;
}

}  // namespace distribute::testing_internal

namespace distribute::testing {

DISTRIBUTE_INLINE ClusterTask::ClusterTask()
    : type_(Environment().text(testing_internal::kTaskTypeVariable)),
      argument_(Environment().text(testing_internal::kArgumentVariable)),
      index_(Environment().integer(testing_internal::kTaskIndexVariable).value_or(0)),
      restarts_(Environment().integer("DISTRIBUTE_RESTART_COUNT").value_or(0)) {}

DISTRIBUTE_INLINE void ClusterTask::set_result(std::string_view text) {
  testing_internal::send_message(testing_internal::ChannelKind::Result, text);
}

DISTRIBUTE_INLINE void ClusterTask::barrier(double seconds) {
  using namespace testing_internal;
  send_message(ChannelKind::Barrier, "");
  const auto deadline = net::Deadline::after_seconds(seconds);
  std::string answer;
  while (!take_message(answer)) {
    pollfd entry{kChannelDescriptor, POLLIN, 0};
    char block[64];
    const int ready = ::poll(&entry, 1, deadline.left_ms());
    const ssize_t got = ready > 0 ? ::recv(kChannelDescriptor, block, sizeof(block), 0) : 0;
    if (got > 0) answer.append(block, size_t(got));
    if (ready > 0 && got <= 0) throw UnavailableError("barrier: the test has gone");
    if (got <= 0 && deadline.passed())
      throw DeadlineExceededError(
          str_cat("barrier: other tasks have not come within ", seconds, " s"));
  }
}

DISTRIBUTE_INLINE bool register_cluster_function(const std::string& name,
                                                 ClusterFunction function) {
  if (!testing_internal::cluster_functions().emplace(name, std::move(function)).second)
    throw AlreadyExistsError("there are two DISTRIBUTE_CLUSTER_MAIN(" + name + ")");
  return true;
}

DISTRIBUTE_INLINE void run_cluster_function_if_asked() {
  const std::string name = Environment().text(testing_internal::kFunctionVariable);
  if (name.empty()) return;
  // Programs that the function starts must not run it again.
  ::unsetenv(testing_internal::kFunctionVariable);
  ::fcntl(testing_internal::kChannelDescriptor, F_SETFD, FD_CLOEXEC);
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // the test waits for lines
  const int status = testing_internal::run_cluster_function(name);
  std::fflush(nullptr);
  std::_Exit(status);
}

}  // namespace distribute::testing
