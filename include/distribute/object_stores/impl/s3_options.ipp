#pragma once
#include <distribute/object_stores/s3_file_system.hpp>

#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/http/http_client.hpp>
#include <distribute/io/file_system.hpp>

#include <algorithm>

namespace distribute::io_internal {

/// Tests the first character alone, as TensorFlow does.
DISTRIBUTE_INLINE bool is_off(const std::string& value) { return value.starts_with('0'); }

DISTRIBUTE_INLINE absl::StatusOr<std::string> s3_endpoint(const Environment& environment,
                                                          io::AwsProfile& profile) {
  std::string from = "S3_ENDPOINT", endpoint = environment.text(from);
  const bool ignored = environment.text("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS") == "true";
  for (const char* name : {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"}) {
    if (endpoint.empty() && !ignored) endpoint = environment.text(from = name);
  }
  if (endpoint.empty() && !ignored) endpoint = profile[from = "endpoint_url"];
  if (endpoint.empty()) return endpoint;
  if (io::scheme_of(endpoint).empty())
    endpoint = (is_off(environment.text("S3_USE_HTTPS")) ? "http://" : "https://") + endpoint;
  while (endpoint.ends_with('/')) endpoint.pop_back();
  const auto url = io::parse_url(endpoint);
  if (!url.ok()) return annotate(url.status(), from);
  if (url->scheme == "http" || url->scheme == "https") return endpoint;
  return make_status(StatusCode::InvalidArgument,
                     str_cat(from, "='", endpoint, "' is neither http:// nor https://"));
}

/// Throws  InvalidArgumentError that names the variable.
DISTRIBUTE_INLINE void read_s3_limits(const Environment& environment, io::S3Options& s3) {
  constexpr int64_t kLeastPartBytes = 5 << 20, kMostPartBytes = int64_t{5} << 30,
                    kMostMs = 10'000'000'000;
  int64_t connect_ms = int64_t(s3.connect_timeout * 1000);
  int64_t request_ms = int64_t(s3.stall_timeout * 1000);
  environment.read("S3_CONNECT_TIMEOUT_MSEC", int64_t{1}, kMostMs, connect_ms);
  environment.read("S3_REQUEST_TIMEOUT_MSEC", int64_t{1}, kMostMs, request_ms);
  environment.read("S3_EXECUTOR_POOL_SIZE", 1, 1'000'000, s3.parallel);
  environment.read("S3_MULTI_PART_UPLOAD_CHUNK_SIZE", kLeastPartBytes, kMostPartBytes,
                   s3.part_bytes);
  environment.read("S3_MULTI_PART_DOWNLOAD_CHUNK_SIZE", int64_t{1} << 16, kMostPartBytes,
                   s3.read_bytes);
  environment.read("S3_MULTI_PART_COPY_PART_SIZE", kLeastPartBytes, kMostPartBytes,
                   s3.copy_part_bytes);
  s3.connect_timeout = double(connect_ms) / 1000;
  s3.stall_timeout = double(request_ms) / 1000;
  s3.parallel = std::min(s3.parallel, 64);
}

}  // namespace distribute::io_internal

namespace distribute::io {

DISTRIBUTE_INLINE absl::StatusOr<S3Options> s3_options_from_environment(
    AwsCredentialsOptions options) {
  const Environment& environment = options.environment;
  auto profile = load_aws_profile(environment);
  if (!profile.ok()) return profile.status();
  auto endpoint = io_internal::s3_endpoint(environment, *profile);
  if (!endpoint.ok()) return endpoint.status();
  S3Options s3{.endpoint = *endpoint,
               .path_style = (*profile)["s3.addressing_style"] == "path",
               .verify_tls = !io_internal::is_off(environment.text("S3_VERIFY_SSL")),
               .ca_file = environment.text("S3_CA_FILE"),
               .ca_path = environment.text("S3_CA_PATH")};
  if (s3.ca_file.empty()) s3.ca_file = environment.text("AWS_CA_BUNDLE");
  try {
    io_internal::read_s3_limits(environment, s3);
  } catch (const Error& error) {
    return make_status(error.code(), error.what());
  }
  // Amazon's variable has precedence over TensorFlow's.
  const bool named =
      !environment.text("AWS_REGION").empty() || environment.text("S3_REGION").empty();
  auto region = named ? find_aws_region(options) : environment.text("S3_REGION");
  if (!region.ok()) return region.status();
  s3.region = *region;
  s3.credentials = std::make_shared<AwsCredentialsProvider>(std::move(options));
  return s3;
}

}  // namespace distribute::io
