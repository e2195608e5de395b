#pragma once
#include <distribute/base/json.hpp>
#include <distribute/object_stores/detail/aws_metadata.hpp>

#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/http/http_client.hpp>

#include <absl/strings/ascii.h>
#include <absl/time/time.h>

#include <utility>

#include <nlohmann/json.hpp>

namespace distribute::io_internal {

DISTRIBUTE_INLINE int64_t parse_aws_time(const std::string& text) {
  absl::Time time;
  std::string error;
  if (!absl::ParseTime(absl::RFC3339_full, text, &time, &error)) return 0;
  return absl::ToUnixSeconds(time);
}

DISTRIBUTE_INLINE absl::StatusOr<std::string> body_of_answer(
    absl::StatusOr<io::HttpResponse> response, const io::HttpRequest& request,
    const std::string& what) {
  if (!response.ok()) return annotate(response.status(), str_cat("no credentials from ", what));
  if (response->ok()) return std::move(response->body);
  return make_status(
      response->status >= 500 ? StatusCode::Unavailable : StatusCode::PermissionDenied,
      str_cat("no credentials from ", what, ": ", request.method, " ",
              io::printable_url(request.url), " answered ", response->status, " ",
              response->excerpt()));
}

/// Sends the requests to one source: without a proxy, and with short waits.
class MetadataClient {
 public:
  explicit MetadataClient(const io::AwsCredentialsOptions& options) : options_(options) {}

  /// Gives the body of a 2xx answer.
  absl::StatusOr<std::string> ask(io::HttpRequest request, const std::string& what) const {
    request.connect_timeout = request.total_timeout = options_.metadata_timeout;
    request.use_proxy = false;
    const io::HttpRetryPolicy policy{.max_attempts = options_.metadata_attempts, .max_delay = 1};
    return body_of_answer(send_with_retry(policy, [&] { return io::http_client().send(request); }),
                          request, what);
  }

 private:
  const io::AwsCredentialsOptions& options_;
};

DISTRIBUTE_INLINE absl::StatusOr<io::AwsCredentials> credentials_from_json(
    const std::string& text, const std::string& source) {
  const auto json = json_of(text);
  const auto member = [&](const char* name) {
    const auto found = json.is_object() ? json.find(name) : json.end();
    return json.is_object() && found != json.end() && found->is_string() ? found->get<std::string>()
                                                                         : std::string();
  };
  const std::string token = member("Token");
  io::AwsCredentials credentials{.access_key_id = member("AccessKeyId"),
                                 .secret_access_key = member("SecretAccessKey"),
                                 .session_token = token.empty() ? member("SessionToken") : token,
                                 .expiration = parse_aws_time(member("Expiration")),
                                 .source = source};
  if (!credentials.access_key_id.empty() && !credentials.secret_access_key.empty())
    return credentials;
  return make_status(StatusCode::DataLoss,
                     str_cat(source, " gave no AccessKeyId and SecretAccessKey in JSON"));
}

DISTRIBUTE_INLINE MaybeAwsCredentials optional_of(absl::StatusOr<io::AwsCredentials> credentials) {
  if (!credentials.ok()) return credentials.status();
  return std::optional(*std::move(credentials));
}

DISTRIBUTE_INLINE MaybeAwsCredentials
credentials_of_container(const io::AwsCredentialsOptions& options) {
  const auto& environment = options.environment;
  std::string variable = "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", url = environment.text(variable);
  if (!url.empty()) url.insert(0, "http://169.254.170.2");
  if (url.empty()) url = environment.text(variable = "AWS_CONTAINER_CREDENTIALS_FULL_URI");
  if (url.empty()) return std::nullopt;
  std::string token = environment.text("AWS_CONTAINER_AUTHORIZATION_TOKEN");
  const std::string file = environment.text("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
  if (!file.empty()) {
    auto text = io::read_named_text(file, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
    if (!text.ok()) return annotate(text.status(), "container authorization token");
    token = std::string(absl::StripAsciiWhitespace(*text));
  }
  io::HttpRequest request{.url = url};
  if (!token.empty()) request.headers.emplace_back("Authorization", token);
  auto text = MetadataClient(options).ask(request, "the container's address (" + variable + ")");
  if (!text.ok()) return text.status();
  return optional_of(credentials_from_json(*text, str_cat(url, " (", variable, ")")));
}

/// An instance's metadata server (IMDSv2). If no server answers, this machine is no instance.
class InstanceMetadata {
 public:
  explicit InstanceMetadata(const io::AwsCredentialsOptions& options) : options_(options) {
    const std::string given = options.environment.text("AWS_EC2_METADATA_SERVICE_ENDPOINT");
    given_ = !given.empty();
    endpoint_ = given_ ? given : "http://169.254.169.254";
    if (endpoint_.ends_with('/')) endpoint_.pop_back();
  }
  bool disabled() const {
    return options_.environment.text("AWS_EC2_METADATA_DISABLED") == "true" || !io::has_http();
  }
  /// Gives a token; empty when this machine is no instance.
  absl::StatusOr<std::optional<std::string>> token() const {
    auto token = MetadataClient(options_).ask(
        {.method = "PUT",
         .url = endpoint_ + "/latest/api/token",
         .headers = {{"X-aws-ec2-metadata-token-ttl-seconds", "21600"}}},
        "the instance's metadata server");
    if (token.ok()) return std::optional(*std::move(token));
    if (given_)
      return make_status(StatusCode(token.status().code()),
                         str_cat(token.status().message(),
                                 "; AWS_EC2_METADATA_SERVICE_ENDPOINT "
                                 "names it: correct it, or set AWS_EC2_METADATA_DISABLED=true"));
    return std::nullopt;
  }
  absl::StatusOr<std::string> get(const std::string& path, const std::string& token) const {
    return MetadataClient(options_).ask(
        {.url = endpoint_ + path, .headers = {{"X-aws-ec2-metadata-token", token}}},
        "the instance's metadata server");
  }
  const std::string& endpoint() const { return endpoint_; }

 private:
  const io::AwsCredentialsOptions& options_;
  std::string endpoint_;
  bool given_;
};

DISTRIBUTE_INLINE MaybeAwsCredentials
credentials_of_instance(const io::AwsCredentialsOptions& options) {
  const InstanceMetadata metadata(options);
  if (metadata.disabled()) return std::nullopt;
  auto token = metadata.token();
  if (!token.ok()) return token.status();
  if (!*token) return std::nullopt;
  const std::string path = "/latest/meta-data/iam/security-credentials/";
  auto role = metadata.get(path, **token);
  // An instance without a role answers 404.
  if (absl::IsPermissionDenied(role.status())) return std::nullopt;
  if (!role.ok()) return role.status();
  const std::string name(absl::StripAsciiWhitespace(role->substr(0, role->find('\n'))));
  auto text = metadata.get(path + name, **token);
  if (!text.ok()) return text.status();
  return optional_of(credentials_from_json(
      *text, str_cat("the instance's role ", name, " at ", metadata.endpoint())));
}

}  // namespace distribute::io_internal

namespace distribute::io {

DISTRIBUTE_INLINE absl::StatusOr<std::string> find_aws_region(
    const AwsCredentialsOptions& options) {
  for (const char* name : {"AWS_REGION", "AWS_DEFAULT_REGION"}) {
    const std::string region = options.environment.text(name);
    if (!region.empty()) return region;
  }
  auto profile = load_aws_profile(options.environment);
  if (!profile.ok()) return profile.status();
  if (profile->contains("region")) return (*profile)["region"];
  const io_internal::InstanceMetadata metadata(options);
  // Keys in the environment mean that this is no instance's job, so it does not wait for the
  // server.
  if (metadata.disabled() || !options.environment.text("AWS_ACCESS_KEY_ID").empty() ||
      profile->contains("aws_access_key_id")) {
    return "us-east-1";
  }
  auto token = metadata.token();
  if (!token.ok()) return token.status();
  if (!*token) return "us-east-1";
  auto region = metadata.get("/latest/meta-data/placement/region", **token);
  return region.ok() ? *region : "us-east-1";
}

}  // namespace distribute::io
