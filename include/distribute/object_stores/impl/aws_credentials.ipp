#pragma once
#include <distribute/object_stores/s3_file_system.hpp>

#include <distribute/base/status.hpp>
#include <distribute/object_stores/detail/aws_metadata.hpp>

#include <absl/time/clock.h>
#include <absl/time/time.h>

#include <utility>

namespace distribute::io {

DISTRIBUTE_INLINE absl::StatusOr<AwsCredentials> find_aws_credentials(
    const AwsCredentialsOptions& options) {
  using Source = io_internal::MaybeAwsCredentials (*)(const AwsCredentialsOptions&);
  const Source sources[] = {
      io_internal::credentials_of_environment, io_internal::credentials_of_web_identity,
      [](const AwsCredentialsOptions& all) {
        return io_internal::credentials_of_profile(all, "", 0);
      },
      io_internal::credentials_of_container, io_internal::credentials_of_instance};
  for (const Source source : sources) {
    auto found = source(options);
    if (!found.ok()) return found.status();
    if (*found) return **std::move(found);
  }
  return AwsCredentials{.source =
                            "nowhere: no AWS_ACCESS_KEY_ID, web identity, profile in ~/.aws, "
                            "container or instance role was found"};
}

DISTRIBUTE_INLINE AwsCredentialsProvider::AwsCredentialsProvider(AwsCredentialsOptions options)
    : options_(std::move(options)) {}

DISTRIBUTE_INLINE int64_t AwsCredentialsProvider::now() const {
  return options_.clock ? options_.clock() : absl::ToUnixSeconds(absl::Now());
}

DISTRIBUTE_INLINE absl::StatusOr<AwsCredentials> AwsCredentialsProvider::get() {
  constexpr int64_t kEarlySeconds = 300;
  const std::lock_guard lock(mutex_);
  const int64_t left = known_.expiration == 0 ? kEarlySeconds + 1 : known_.expiration - now();
  if (found_ && left > kEarlySeconds) return known_;
  auto fresh = find_aws_credentials(options_);
  if (fresh.ok()) {
    found_ = true;
    known_ = *fresh;
  } else if (found_ && left > 0) {
    return known_;  // still valid; the next call asks again
  }
  return fresh;
}

DISTRIBUTE_INLINE absl::StatusOr<AwsCredentials> AwsCredentialsProvider::renew(
    const AwsCredentials& refused) {
  {
    const std::lock_guard lock(mutex_);
    const bool same = known_.access_key_id == refused.access_key_id &&
                      known_.session_token == refused.session_token;
    if (same) found_ = false;
  }
  return get();
}

}  // namespace distribute::io
