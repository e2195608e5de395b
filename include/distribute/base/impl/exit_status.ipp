#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/exit_status.hpp>

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

}  // namespace distribute
