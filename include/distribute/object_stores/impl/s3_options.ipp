#pragma once
#include <distribute/object_stores/s3_file_system.hpp>

#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/http/http_client.hpp>
#include <distribute/io/file_system.hpp>

#include <algorithm>
#include <charconv>

namespace distribute::io_internal {

/// Overwrites `value` when the variable is set.
DISTRIBUTE_INLINE absl::Status read_number(const io::EnvironmentReader& environment,
                                           const char* name, int64_t least, int64_t& value) {
  const std::string text = environment(name);
  if (text.empty()) return absl::OkStatus();
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= least)
    return absl::OkStatus();
  return make_status(StatusCode::InvalidArgument,
                     str_cat(name, "='", text, "' is not a number of at least ", least));
}

/// Tests the first character alone, as TensorFlow does.
DISTRIBUTE_INLINE bool is_off(const std::string& value) { return value.starts_with('0'); }

DISTRIBUTE_INLINE absl::StatusOr<std::string> s3_endpoint(const io::EnvironmentReader& environment,
                                                          io::AwsProfile& profile) {
  std::string from = "S3_ENDPOINT", endpoint = environment(from);
  const bool ignored = environment("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS") == "true";
  for (const char* name : {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"}) {
    if (endpoint.empty() && !ignored) endpoint = environment(from = name);
  }
  if (endpoint.empty() && !ignored) endpoint = profile[from = "endpoint_url"];
  if (endpoint.empty()) return endpoint;
  if (io::scheme_of(endpoint).empty())
    endpoint = (is_off(environment("S3_USE_HTTPS")) ? "http://" : "https://") + endpoint;
  while (endpoint.ends_with('/')) endpoint.pop_back();
  const auto url = io::parse_url(endpoint);
  if (!url.ok()) return annotate(url.status(), from);
  if (url->scheme == "http" || url->scheme == "https") return endpoint;
  return make_status(StatusCode::InvalidArgument,
                     str_cat(from, "='", endpoint, "' is neither http:// nor https://"));
}

DISTRIBUTE_INLINE absl::Status read_s3_limits(const io::EnvironmentReader& environment,
                                              io::S3Options& s3) {
  constexpr int64_t kLeastPartBytes = 5 << 20;
  int64_t connect_ms = int64_t(s3.connect_timeout * 1000);
  int64_t request_ms = int64_t(s3.stall_timeout * 1000);
  int64_t parallel = s3.parallel;
  absl::Status status = read_number(environment, "S3_CONNECT_TIMEOUT_MSEC", 1, connect_ms);
  status.Update(read_number(environment, "S3_REQUEST_TIMEOUT_MSEC", 1, request_ms));
  status.Update(read_number(environment, "S3_EXECUTOR_POOL_SIZE", 1, parallel));
  status.Update(
      read_number(environment, "S3_MULTI_PART_UPLOAD_CHUNK_SIZE", kLeastPartBytes, s3.part_bytes));
  status.Update(
      read_number(environment, "S3_MULTI_PART_DOWNLOAD_CHUNK_SIZE", 1 << 16, s3.read_bytes));
  status.Update(read_number(environment, "S3_MULTI_PART_COPY_PART_SIZE", kLeastPartBytes,
                            s3.copy_part_bytes));
  s3.connect_timeout = double(connect_ms) / 1000;
  s3.stall_timeout = double(request_ms) / 1000;
  s3.parallel = int(std::min<int64_t>(parallel, 64));
  return status;
}

}  // namespace distribute::io_internal

namespace distribute::io {

DISTRIBUTE_INLINE absl::StatusOr<S3Options> s3_options_from_environment(
    AwsCredentialsOptions options) {
  const EnvironmentReader& environment = options.environment;
  auto profile = load_aws_profile(environment);
  if (!profile.ok()) return profile.status();
  auto endpoint = io_internal::s3_endpoint(environment, *profile);
  if (!endpoint.ok()) return endpoint.status();
  S3Options s3{.endpoint = *endpoint,
               .path_style = (*profile)["s3.addressing_style"] == "path",
               .verify_tls = !io_internal::is_off(environment("S3_VERIFY_SSL")),
               .ca_file = environment("S3_CA_FILE"),
               .ca_path = environment("S3_CA_PATH")};
  if (s3.ca_file.empty()) s3.ca_file = environment("AWS_CA_BUNDLE");
  const absl::Status status = io_internal::read_s3_limits(environment, s3);
  if (!status.ok()) return status;
  // Amazon's variable has precedence over TensorFlow's.
  const bool named = !environment("AWS_REGION").empty() || environment("S3_REGION").empty();
  auto region = named ? find_aws_region(options) : environment("S3_REGION");
  if (!region.ok()) return region.status();
  s3.region = *region;
  s3.credentials = std::make_shared<AwsCredentialsProvider>(std::move(options));
  return s3;
}

}  // namespace distribute::io
