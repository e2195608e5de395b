#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/exit_status.hpp>
#include <distribute/base/failure_listener.hpp>
#include <distribute/base/limits.hpp>
#include <distribute/base/process_state.hpp>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace distribute::base_internal {

struct FailureListener {
  std::function<void(const std::string& reason)> call;
};

}  // namespace distribute::base_internal

namespace distribute {

DISTRIBUTE_INLINE void set_failure_listener(
    std::function<void(const std::string& reason)> listener) {
  in_process<base_internal::FailureListener>().call = std::move(listener);
}

DISTRIBUTE_INLINE int exit_status(const std::exception& error) {
  const auto* known = dynamic_cast<const Error*>(&error);
  if (!known) return kExitFailed;
  switch (known->code()) {
    case StatusCode::Unavailable:
    case StatusCode::Aborted:
    case StatusCode::DeadlineExceeded: return kExitRetry;
    default: return kExitFailed;
  }
}

DISTRIBUTE_INLINE int report_failure(const std::exception& error) {
  std::fflush(stdout);  // what it says about the way to the error comes first
  const std::string text = error_text(error);
  std::fprintf(stderr, "error: %s\n", text.c_str());
  if (const auto& listener = in_process<base_internal::FailureListener>().call) listener(text);
  return exit_status(error);
}

DISTRIBUTE_INLINE int check_stdout(int status) {
  errno = 0;
  const bool earlier = std::ferror(stdout) != 0;
  if (std::fflush(stdout) == 0 && !earlier) return status;
  const char* const why = errno ? std::strerror(errno) : "some of it was lost earlier";
  std::fprintf(stderr, "error: cannot write to standard output: %s\n", why);
  return status == kExitDone ? kExitFailed : status;
}

}  // namespace distribute
