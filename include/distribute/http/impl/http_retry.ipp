#pragma once
#include <distribute/http/http_client.hpp>

#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <time.h>
#include <unistd.h>

namespace distribute::io_internal {

/// Gives a number in [0, 1) that differs between processes.
DISTRIBUTE_INLINE double jitter() {
  uint64_t number = 0;
  if (::getentropy(&number, sizeof(number)) != 0) return 0.5;
  return double(number >> 11) * 0x1p-53;
}

/// Gives the seconds of Retry-After; its other form, a date, counts as 0.
DISTRIBUTE_INLINE double retry_after(const absl::StatusOr<io::HttpResponse>& result) {
  const std::string text = result.ok() ? result->header("Retry-After") : "";
  return text.find_first_not_of("0123456789") == std::string::npos ? std::atof(text.c_str()) : 0;
}

}  // namespace distribute::io_internal

namespace distribute::io {

DISTRIBUTE_INLINE bool is_retryable(const HttpRetryPolicy& policy,
                                    const absl::StatusOr<HttpResponse>& result) {
  if (result.ok())
    return std::find(policy.statuses.begin(), policy.statuses.end(), result->status) !=
           policy.statuses.end();
  return result.status().code() == absl::StatusCode::kUnavailable ||
         result.status().code() == absl::StatusCode::kDeadlineExceeded;
}

DISTRIBUTE_INLINE double retry_delay(const HttpRetryPolicy& policy, int attempt,
                                     const absl::StatusOr<HttpResponse>& result) {
  const double random = policy.random ? policy.random() : io_internal::jitter();
  const double longest = std::min(policy.base_delay * std::exp2(attempt - 1), policy.max_delay);
  return std::min(std::max(random * longest, io_internal::retry_after(result)), policy.max_delay);
}

DISTRIBUTE_INLINE void wait_before_retry(const HttpRetryPolicy& policy, double delay) {
  if (policy.sleep) return policy.sleep(delay);
  timespec left{time_t(delay), long((delay - std::floor(delay)) * 1e9)};
  while (::nanosleep(&left, &left) != 0) {
  }
}

DISTRIBUTE_INLINE absl::StatusOr<HttpResponse> send_with_retry(
    const HttpRetryPolicy& policy, const std::function<absl::StatusOr<HttpResponse>()>& attempt,
    const std::function<bool(const HttpResponse&)>& again) {
  for (int number = 1;; ++number) {
    absl::StatusOr<HttpResponse> result = attempt();
    if (result.ok()) result->attempts = number;
    const bool retry = is_retryable(policy, result) || (result.ok() && again && again(*result));
    if (!retry) return result;
    if (number >= policy.max_attempts) {
      if (result.ok() || number == 1) return result;
      return make_status(StatusCode(result.status().code()),
                         str_cat(result.status().message(), " (tried ", number, " times)"));
    }
    wait_before_retry(policy, retry_delay(policy, number, result));
  }
}

}  // namespace distribute::io
