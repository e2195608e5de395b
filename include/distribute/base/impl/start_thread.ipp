#pragma once
#include <distribute/base/detail/start_thread.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/exit_status.hpp>
#include <distribute/base/logging.hpp>

#include <cstdlib>
#include <exception>
#include <system_error>
#include <utility>

namespace distribute::base_internal {

DISTRIBUTE_INLINE void run_thread(const std::string& purpose, const std::function<void()>& body) {
  try {
    body();
  } catch (const std::exception& error) {
    log(LogSeverity::Fatal, "base",
        str_cat("the thread for ", purpose, " cannot go on: ", error.what()));
    std::_Exit(exit_status(error));
  }
}

DISTRIBUTE_INLINE std::thread start_thread(std::string purpose, std::function<void()> body) {
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
