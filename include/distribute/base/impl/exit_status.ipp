#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/exit_status.hpp>
#include <distribute/base/limits.hpp>

#include <cstdio>

namespace distribute {

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
  std::fprintf(stderr, "error: %s\n", error_text(error).c_str());
  return exit_status(error);
}

}  // namespace distribute
