#pragma once
/// Asking a server again after failures that pass: exponential waits with full jitter.

#include <distribute/http/http_client.hpp>

namespace distribute::io {

/// Times in seconds.
/// Source  "Exponential Backoff And Jitter", AWS Architecture Blog (full jitter).
struct HttpRetryPolicy {
  int max_attempts = 6;  // the first one counts
  double base_delay = 0.2;
  double max_delay = 20;  // of one wait, also where Retry-After asks for more
  std::vector<int> statuses = {408, 429, 500, 502, 503, 504};
  std::function<void(double)> sleep = {};  // empty: this thread sleeps
  std::function<double()> random = {};     // in [0, 1); empty: the system's random numbers
};

/// Whether trying again can help: Unavailable, DeadlineExceeded, or one of the policy's statuses.
bool is_retryable(const HttpRetryPolicy& policy, const absl::StatusOr<HttpResponse>& result);

/// The wait after attempt `attempt` (1 is the first): random up to base * 2^(attempt - 1), at least
/// what Retry-After says in seconds, at most max_delay.
double retry_delay(const HttpRetryPolicy& policy, int attempt,
                   const absl::StatusOr<HttpResponse>& result);

/// Waits as the policy says.
void wait_before_retry(const HttpRetryPolicy& policy, double delay);

/// Calls `attempt` until its result is final: not retryable, and `again` (which may be empty) does
/// not ask for another try. The last result when the attempts are used up; an error then says how
/// often was tried.
absl::StatusOr<HttpResponse> send_with_retry(
    const HttpRetryPolicy& policy, const std::function<absl::StatusOr<HttpResponse>()>& attempt,
    const std::function<bool(const HttpResponse&)>& again = {});

}  // namespace distribute::io
