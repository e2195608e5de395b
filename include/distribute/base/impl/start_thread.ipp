#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/exit_status.hpp>
#include <distribute/base/limits.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/base/threads.hpp>

#include <cstdlib>
#include <exception>
#include <string_view>
#include <system_error>
#include <utility>

#include <unistd.h>

namespace distribute::base_internal {

/// Ends the process; there may be no memory even for the line.
[[noreturn]] DISTRIBUTE_INLINE void end_by(const std::string& purpose,
                                           const std::exception& error) {
  try {
    log(LogSeverity::Fatal, "base",
        str_cat("the thread for ", purpose, " cannot go on: ", error.what()));
  } catch (const std::exception&) {
    constexpr std::string_view kLine = "error: a thread cannot go on: there is no memory left\n";
    (void)!::write(STDERR_FILENO, kLine.data(), kLine.size());
  }
  std::_Exit(exit_status(error));
}

DISTRIBUTE_INLINE void run_thread(const std::string& purpose, const std::function<void()>& body) {
  try {
    body();
  } catch (const std::exception& error) {
    end_by(purpose, error);
  }
}

DISTRIBUTE_INLINE std::thread start_thread(std::string purpose, std::function<void()> body) {
  prepare_for_little_memory();
  try {
    return std::thread(run_thread, purpose, std::move(body));
  } catch (const std::system_error& error) {
    throw ResourceExhaustedError(
        str_cat("no thread can be started for ", purpose, ": ", error.code().message(),
                "; raise the number of processes (ulimit -u, or the pids limit of the container)"));
  }
}

DISTRIBUTE_INLINE void start_helpers(std::vector<std::thread>& threads, int count,
                                     const std::string& purpose,
                                     const std::function<void()>& body) {
  try {
    for (int i = 0; i < count; ++i) threads.push_back(start_thread(purpose, body));
  } catch (const ResourceExhaustedError&) {
  }
}

}  // namespace distribute::base_internal
