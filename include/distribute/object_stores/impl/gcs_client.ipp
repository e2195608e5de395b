#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/base/json.hpp>
#include <distribute/object_stores/detail/gcs_client.hpp>

#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>

#include <utility>

#include <nlohmann/json.hpp>

namespace distribute::io_internal {

/// Throws  InvalidArgumentError that names the variable.
DISTRIBUTE_INLINE void read_gcs_limits(const Environment& environment, io::GcsOptions& options) {
  constexpr double kMostSeconds = 1e7;
  int64_t block_megabytes = options.read_block_bytes >> 20;
  environment.read("GCS_READ_CACHE_BLOCK_SIZE_MB", int64_t{0}, int64_t{1} << 20, block_megabytes);
  environment.read("GCS_REQUEST_CONNECTION_TIMEOUT_SECS", 0.0, kMostSeconds,
                   options.connect_timeout);
  environment.read("GCS_REQUEST_IDLE_TIMEOUT_SECS", 0.0, kMostSeconds, options.idle_timeout);
  environment.read("GCS_METADATA_REQUEST_TIMEOUT_SECS", 0.0, kMostSeconds,
                   options.metadata_timeout);
  environment.read("GCS_READ_REQUEST_TIMEOUT_SECS", 0.0, kMostSeconds, options.read_timeout);
  environment.read("GCS_WRITE_REQUEST_TIMEOUT_SECS", 0.0, kMostSeconds, options.write_timeout);
  const bool disabled = !environment.text("GCS_READ_CACHE_DISABLED").empty();
  options.read_block_bytes = disabled ? 0 : block_megabytes << 20;
}

DISTRIBUTE_INLINE void emulator_from_environment(const Environment& environment,
                                                 io::GcsOptions& options) {
  for (const char* name : {"STORAGE_EMULATOR_HOST", "CLOUD_STORAGE_EMULATOR_ENDPOINT"}) {
    options.endpoint = environment.text(name);
    if (options.endpoint.empty()) continue;
    if (options.endpoint.find("://") == std::string::npos) options.endpoint.insert(0, "http://");
    while (options.endpoint.ends_with('/')) options.endpoint.pop_back();
    options.authenticate = false;
    return;
  }
  options.endpoint = io::GcsOptions().endpoint;
}

/// Gives the server's text about a failure.
DISTRIBUTE_INLINE std::string gcs_message(const io::HttpResponse& response) {
  const auto json = json_of(response.body);
  const auto error = json.is_object() ? json.find("error") : json.end();
  if (json.is_object() && error != json.end() && error->is_object()) {
    const auto message = error->find("message");
    if (message != error->end() && message->is_string()) return message->get<std::string>();
  }
  return response.excerpt();
}

DISTRIBUTE_INLINE StatusCode code_of_http(int status) {
  switch (status) {
    case 400: return StatusCode::InvalidArgument;
    case 401: return StatusCode::Unauthenticated;
    case 403: return StatusCode::PermissionDenied;
    case 404: return StatusCode::NotFound;
    case 408: return StatusCode::DeadlineExceeded;
    case 409:
    case 410: return StatusCode::Aborted;
    case 412: return StatusCode::FailedPrecondition;
    case 416: return StatusCode::OutOfRange;
    case 429: return StatusCode::Unavailable;
    default: return status >= 500 ? StatusCode::Unavailable : StatusCode::Unknown;
  }
}

/// Maps a status to a code. A missing bucket is not reported as a missing object.
DISTRIBUTE_INLINE StatusCode code_of_gcs(int status, const std::string& message) {
  const bool bucket = status == 404 && message.find("bucket does not exist") != std::string::npos;
  return bucket ? StatusCode::FailedPrecondition : code_of_http(status);
}

DISTRIBUTE_INLINE std::string gcs_cure(int status) {
  switch (status) {
    case 401: return "; the token is not accepted: check the credentials and this host's clock";
    case 403: return "; give the account a role such as roles/storage.objectAdmin on the bucket";
    case 404: return "; check the names of bucket and object, and STORAGE_EMULATOR_HOST if set";
    case 412: return "; another writer was faster";
    case 429: return "; too many requests: write less often";
    default: return status >= 500 ? "; the store has a problem: try again later" : "";
  }
}

}  // namespace distribute::io_internal

namespace distribute::io {

DISTRIBUTE_INLINE absl::StatusOr<GcsOptions> gcs_options_from_environment(
    const Environment& environment) {
  GcsOptions options;
  options.auth.environment = environment;
  io_internal::emulator_from_environment(environment, options);
  try {
    io_internal::read_gcs_limits(environment, options);
  } catch (const Error& error) {
    return make_status(error.code(), error.what());
  }
  const std::string header = environment.text("GCS_ADDITIONAL_REQUEST_HEADER");
  if (header.empty()) return options;
  const size_t colon = header.find(':');
  if (colon == std::string::npos || colon == 0)
    return make_status(StatusCode::InvalidArgument,
                       str_cat("GCS_ADDITIONAL_REQUEST_HEADER: wanted 'Name: value', came '",
                               untrusted::printable(header, 80), "'"));
  const size_t value = std::min(header.find_first_not_of(' ', colon + 1), header.size());
  options.additional_header = {header.substr(0, colon), header.substr(value)};
  return options;
}

DISTRIBUTE_INLINE std::string GcsPath::resource() const {
  const std::string objects = "/b/" + url_encode(bucket) + "/o";
  return object.empty() ? objects : objects + "/" + url_encode(object);
}

DISTRIBUTE_INLINE absl::StatusOr<GcsPath> parse_gcs_path(const std::string& path) {
  const size_t begin = 5;  // "gs://"
  const size_t slash = std::min(path.find('/', begin), path.size());
  if (!path.starts_with("gs://") || slash <= begin)
    return make_status(StatusCode::InvalidArgument,
                       "'" + path + "': wanted gs://bucket/object, the bucket is missing");
  GcsPath result{path, path.substr(begin, slash - begin), ""};
  if (slash < path.size()) result.object = path.substr(slash + 1);
  while (result.object.ends_with('/')) result.object.pop_back();
  return result;
}

DISTRIBUTE_INLINE std::string GcsClient::url(std::string_view service, std::string_view resource,
                                             const QueryParameters& query) const {
  std::string url = str_cat(options_.endpoint, service, resource);
  if (!query.empty()) url += "?" + query_string(query);
  return url;
}

DISTRIBUTE_INLINE absl::StatusOr<HttpResponse> GcsClient::send_once(HttpRequest& request) {
  std::erase_if(request.headers,
                [](const auto& header) { return header.first == "Authorization"; });
  if (options_.authenticate) {
    const auto token = auth_.get_token();
    if (!token.ok()) return token.status();
    if (!token->empty()) request.headers.emplace_back("Authorization", "Bearer " + *token);
  }
  return http_client().send(request);
}

DISTRIBUTE_INLINE absl::StatusOr<HttpResponse> GcsClient::send(HttpRequest request, bool repeats) {
  request.connect_timeout = options_.connect_timeout;
  request.stall_timeout = options_.idle_timeout;
  if (request.total_timeout == 0) request.total_timeout = options_.metadata_timeout;
  if (!options_.additional_header.first.empty())
    request.headers.push_back(options_.additional_header);
  bool refreshed = !options_.authenticate;
  const auto attempt = [&] { return send_once(request); };
  const auto refused = [&](const HttpResponse& response) {
    if (response.status != 401 || std::exchange(refreshed, true)) return false;
    auth_.forget_token();
    return true;
  };
  if (repeats) return send_with_retry(options_.retry, attempt, refused);
  auto response = attempt();
  return response.ok() && refused(*response) ? attempt() : response;
}

DISTRIBUTE_INLINE absl::Status GcsClient::check(const absl::StatusOr<HttpResponse>& response,
                                                const HttpRequest& request,
                                                const std::string& path) const {
  if (!response.ok()) return annotate(response.status(), path);
  if (response->ok()) return absl::OkStatus();
  const int status = response->status;
  std::string id = response->header("X-GUploader-UploadID");
  if (id.empty()) id = response->header("X-Goog-Request-Id");
  const std::string message = io_internal::gcs_message(*response);
  std::string who;
  if (status == 401 || status == 403)
    who = str_cat("; ", options_.authenticate ? auth_.origin() : "no token: an emulator is named");
  return make_status(
      io_internal::code_of_gcs(status, message),
      str_cat(path, ": ", request.method, " ", printable_url(request.url), ": status ", status, " ",
              message, id.empty() ? "" : "; request id ", id,
              response->attempts > 1 ? str_cat("; tried ", response->attempts, " times") : "", who,
              io_internal::gcs_cure(status)));
}

DISTRIBUTE_INLINE absl::StatusOr<HttpResponse> GcsClient::call(const HttpRequest& request,
                                                               const std::string& path) {
  auto response = send(request);
  const absl::Status status = check(response, request, path);
  if (!status.ok()) return status;
  return response;
}

}  // namespace distribute::io
