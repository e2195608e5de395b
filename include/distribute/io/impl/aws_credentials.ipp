#pragma once
#include <distribute/io/aws_credentials.hpp>

#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/io/http_retry.hpp>
#include <distribute/io/url.hpp>
#include <distribute/io/xml.hpp>

#include <absl/strings/ascii.h>
#include <absl/time/clock.h>
#include <absl/time/time.h>

#include <cstdio>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

namespace distribute::io_internal {

/// Nothing: this source is not configured.
using MaybeAwsCredentials = absl::StatusOr<std::optional<io::AwsCredentials>>;

/// 0 for what is no time.
DISTRIBUTE_INLINE int64_t parse_aws_time(const std::string& text) {
  absl::Time time;
  std::string error;
  if (!absl::ParseTime(absl::RFC3339_full, text, &time, &error)) return 0;
  return absl::ToUnixSeconds(time);
}

/// One source's way of talking HTTP: no proxy, short waits.
class MetadataClient {
 public:
  explicit MetadataClient(const io::AwsCredentialsOptions& options) : options_(options) {}

  /// The body of a 2xx answer.
  absl::StatusOr<std::string> ask(io::HttpRequest request, const char* what) const {
    request.connect_timeout = request.total_timeout = options_.metadata_timeout;
    request.use_proxy = false;
    const io::HttpRetryPolicy policy{.max_attempts = options_.metadata_attempts, .max_delay = 1};
    return checked(send_with_retry(policy, [&] { return io::http_client().send(request); }),
                   request, what);
  }
  static absl::StatusOr<std::string> checked(absl::StatusOr<io::HttpResponse> response,
                                             const io::HttpRequest& request, const char* what) {
    if (!response.ok()) return annotate(response.status(), concat("no credentials from ", what));
    if (response->ok()) return std::move(response->body);
    return make_status(
        response->status >= 500 ? StatusCode::Unavailable : StatusCode::PermissionDenied,
        concat("no credentials from ", what, ": ", request.method, " ",
               io::printable_url(request.url), " answered ", response->status, " ",
               response->body.substr(0, 300)));
  }

 private:
  const io::AwsCredentialsOptions& options_;
};

/// {"AccessKeyId", "SecretAccessKey", "Token" or "SessionToken", "Expiration"}.
DISTRIBUTE_INLINE absl::StatusOr<io::AwsCredentials> credentials_from_json(
    const std::string& text, const std::string& source) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
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
                     concat(source, " gave no AccessKeyId and SecretAccessKey in JSON"));
}

DISTRIBUTE_INLINE MaybeAwsCredentials optional_of(absl::StatusOr<io::AwsCredentials> credentials) {
  if (!credentials.ok()) return credentials.status();
  return std::optional(*std::move(credentials));
}

DISTRIBUTE_INLINE MaybeAwsCredentials
credentials_of_environment(const io::AwsCredentialsOptions& options) {
  const auto& environment = options.environment;
  io::AwsCredentials credentials{.access_key_id = environment("AWS_ACCESS_KEY_ID"),
                                 .secret_access_key = environment("AWS_SECRET_ACCESS_KEY"),
                                 .session_token = environment("AWS_SESSION_TOKEN"),
                                 .source = "AWS_ACCESS_KEY_ID"};
  if (credentials.access_key_id.empty() && credentials.secret_access_key.empty())
    return std::nullopt;
  if (credentials.access_key_id.empty() || credentials.secret_access_key.empty())
    return make_status(StatusCode::InvalidArgument,
                       "one of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY is set, the other is "
                       "not; set both or none");
  return std::optional(credentials);
}

/// The address of the security token service.
DISTRIBUTE_INLINE std::string sts_endpoint(const io::AwsCredentialsOptions& options,
                                           const std::string& region) {
  for (const char* name : {"AWS_ENDPOINT_URL_STS", "AWS_ENDPOINT_URL"}) {
    const std::string url = options.environment(name);
    if (!url.empty() && options.environment("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS") != "true")
      return url + "/";
  }
  return concat("https://sts.", region, ".amazonaws.com", region.starts_with("cn-") ? ".cn" : "",
                "/");
}

/// One action of the security token service; signed unless `signer` is anonymous.
DISTRIBUTE_INLINE absl::StatusOr<io::AwsCredentials> ask_sts(
    const io::AwsCredentialsOptions& options, const io::QueryParameters& form,
    const io::AwsCredentials& signer, const std::string& source) {
  auto region = io::find_aws_region(options);
  if (!region.ok()) return region.status();
  const std::string body = io::query_string(form);
  const auto attempt = [&]() -> absl::StatusOr<io::HttpResponse> {
    io::HttpRequest request{.method = "POST",
                            .url = sts_endpoint(options, *region),
                            .headers = {{"Content-Type", "application/x-www-form-urlencoded"}},
                            .body = body,
                            .total_timeout = 30};
    const int64_t now = options.clock ? options.clock() : absl::ToUnixSeconds(absl::Now());
    const auto status = io::sign_aws_request(request, signer,
                                             {.region = *region,
                                              .service = "sts",
                                              .time = now,
                                              .payload_hash = io::aws_payload_hash(body)});
    if (!status.ok()) return status;
    return io::http_client().send(request);
  };
  const io::HttpRetryPolicy policy{.max_attempts = 3};
  const auto text = MetadataClient::checked(
      send_with_retry(policy, attempt), {.method = "POST", .url = sts_endpoint(options, *region)},
      source.c_str());
  if (!text.ok()) return text.status();
  const auto answer = io::parse_xml(*text);
  if (!answer.ok()) return annotate(answer.status(), source);
  const io::XmlElement* result = answer->child(form[0].second + "Result");
  const io::XmlElement* found = result ? result->child("Credentials") : nullptr;
  if (!found) return make_status(StatusCode::DataLoss, source + ": an answer without Credentials");
  return io::AwsCredentials{.access_key_id = found->text_of("AccessKeyId"),
                            .secret_access_key = found->text_of("SecretAccessKey"),
                            .session_token = found->text_of("SessionToken"),
                            .expiration = parse_aws_time(found->text_of("Expiration")),
                            .source = source};
}

/// The token file is read each time: it is replaced before it expires.
DISTRIBUTE_INLINE absl::StatusOr<io::AwsCredentials> ask_web_identity(
    const io::AwsCredentialsOptions& options, const std::string& token_file,
    const std::string& role, const std::string& session) {
  if (role.empty())
    return make_status(StatusCode::InvalidArgument,
                       "AWS_WEB_IDENTITY_TOKEN_FILE is set, but no role: set AWS_ROLE_ARN");
  auto token = io::read_local_text(token_file);
  if (!token.ok()) return annotate(token.status(), "web identity token");
  return ask_sts(options,
                 {{"Action", "AssumeRoleWithWebIdentity"},
                  {"Version", "2011-06-15"},
                  {"RoleArn", role},
                  {"RoleSessionName", session.empty() ? "distribute" : session},
                  {"WebIdentityToken", std::string(absl::StripAsciiWhitespace(*token))}},
                 {}, concat("the web identity in ", token_file));
}

DISTRIBUTE_INLINE MaybeAwsCredentials
credentials_of_web_identity(const io::AwsCredentialsOptions& options) {
  const std::string file = options.environment("AWS_WEB_IDENTITY_TOKEN_FILE");
  if (file.empty()) return std::nullopt;
  return optional_of(ask_web_identity(options, file, options.environment("AWS_ROLE_ARN"),
                                      options.environment("AWS_ROLE_SESSION_NAME")));
}

/// Runs credential_process as a shell would.
DISTRIBUTE_INLINE absl::StatusOr<io::AwsCredentials> run_credential_process(
    const std::string& command) {
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (!pipe) return make_status(StatusCode::ResourceExhausted, "cannot start credential_process");
  std::string text;
  char piece[4096];
  for (size_t count; (count = std::fread(piece, 1, sizeof(piece), pipe)) > 0;)
    text.append(piece, count);
  const int status = ::pclose(pipe);
  if (status == 0) return credentials_from_json(text, "credential_process");
  return make_status(StatusCode::FailedPrecondition,
                     concat("credential_process failed with status ", status, ": ", command));
}

DISTRIBUTE_INLINE MaybeAwsCredentials credentials_of_profile(
    const io::AwsCredentialsOptions& options, const std::string& name, int depth);

DISTRIBUTE_INLINE MaybeAwsCredentials credentials_of_container(const io::AwsCredentialsOptions&);
DISTRIBUTE_INLINE MaybeAwsCredentials credentials_of_instance(const io::AwsCredentialsOptions&);

/// Whose keys ask for a profile's role: source_profile or credential_source.
DISTRIBUTE_INLINE MaybeAwsCredentials credentials_of_source(
    const io::AwsCredentialsOptions& options, io::AwsProfile& profile, int depth) {
  if (profile.contains("source_profile")) {
    if (depth >= 4) return std::nullopt;  // a circle
    return credentials_of_profile(options, profile["source_profile"], depth + 1);
  }
  const std::string& source = profile["credential_source"];
  if (source == "Environment") return credentials_of_environment(options);
  if (source == "EcsContainer") return credentials_of_container(options);
  if (source == "Ec2InstanceMetadata") return credentials_of_instance(options);
  return std::nullopt;
}

DISTRIBUTE_INLINE absl::StatusOr<io::AwsCredentials> assume_profile_role(
    const io::AwsCredentialsOptions& options, io::AwsProfile& profile, int depth) {
  auto signer = credentials_of_source(options, profile, depth);
  if (!signer.ok()) return signer.status();
  if (!*signer)
    return make_status(StatusCode::FailedPrecondition,
                       concat("no credentials to take the role ", profile["role_arn"],
                              " with: check the profile's source_profile or credential_source"));
  io::QueryParameters form{{"Action", "AssumeRole"},
                           {"Version", "2011-06-15"},
                           {"RoleArn", profile["role_arn"]},
                           {"RoleSessionName", "distribute"}};
  if (profile.contains("external_id")) form.emplace_back("ExternalId", profile["external_id"]);
  return ask_sts(options, form, **signer, concat("the role ", profile["role_arn"]));
}

DISTRIBUTE_INLINE MaybeAwsCredentials credentials_of_profile(
    const io::AwsCredentialsOptions& options, const std::string& name, int depth) {
  auto loaded = io::load_aws_profile(options.environment, name);
  if (!loaded.ok()) return loaded.status();
  io::AwsProfile& profile = *loaded;
  // A role that names its own profile as the source is signed with that profile's keys.
  const bool own_keys =
      profile.contains("aws_access_key_id") && (!profile.contains("role_arn") || depth > 0);
  if (own_keys)
    return std::optional(io::AwsCredentials{.access_key_id = profile["aws_access_key_id"],
                                            .secret_access_key = profile["aws_secret_access_key"],
                                            .session_token = profile["aws_session_token"],
                                            .source = "the files in ~/.aws"});
  if (profile.contains("web_identity_token_file"))
    return optional_of(ask_web_identity(options, profile["web_identity_token_file"],
                                        profile["role_arn"], profile["role_session_name"]));
  if (profile.contains("role_arn"))
    return optional_of(assume_profile_role(options, profile, depth));
  if (profile.contains("credential_process"))
    return optional_of(run_credential_process(profile["credential_process"]));
  if (profile.contains("sso_session") || profile.contains("sso_start_url"))
    return make_status(StatusCode::Unimplemented,
                       "the profile signs in through a browser (sso); run 'aws configure "
                       "export-credentials --format env' and set what it prints");
  return std::nullopt;
}

DISTRIBUTE_INLINE MaybeAwsCredentials
credentials_of_container(const io::AwsCredentialsOptions& options) {
  const auto& environment = options.environment;
  const std::string relative = environment("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
  const std::string url = relative.empty() ? environment("AWS_CONTAINER_CREDENTIALS_FULL_URI")
                                           : "http://169.254.170.2" + relative;
  if (url.empty()) return std::nullopt;
  std::string token = environment("AWS_CONTAINER_AUTHORIZATION_TOKEN");
  const std::string file = environment("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
  if (!file.empty()) {
    auto text = io::read_local_text(file);
    if (!text.ok()) return annotate(text.status(), "container authorization token");
    token = std::string(absl::StripAsciiWhitespace(*text));
  }
  io::HttpRequest request{.url = url};
  if (!token.empty()) request.headers.emplace_back("Authorization", token);
  auto text = MetadataClient(options).ask(request, "the container's address");
  if (!text.ok()) return text.status();
  return optional_of(credentials_from_json(*text, url));
}

/// An instance's metadata server (IMDSv2). Where nobody answers, this is no instance.
class InstanceMetadata {
 public:
  explicit InstanceMetadata(const io::AwsCredentialsOptions& options) : options_(options) {
    const std::string given = options.environment("AWS_EC2_METADATA_SERVICE_ENDPOINT");
    given_ = !given.empty();
    endpoint_ = given_ ? given : "http://169.254.169.254";
    if (endpoint_.ends_with('/')) endpoint_.pop_back();
  }
  bool disabled() const {
    return options_.environment("AWS_EC2_METADATA_DISABLED") == "true" || !io::has_http();
  }
  /// Nothing when this is no instance.
  absl::StatusOr<std::optional<std::string>> token() const {
    auto token = MetadataClient(options_).ask(
        {.method = "PUT",
         .url = endpoint_ + "/latest/api/token",
         .headers = {{"X-aws-ec2-metadata-token-ttl-seconds", "21600"}}},
        "the instance's metadata server");
    if (token.ok()) return std::optional(*std::move(token));
    if (given_)
      return make_status(StatusCode(token.status().code()),
                         concat(token.status().message(),
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
      *text, concat("the instance's role ", name, " at ", metadata.endpoint())));
}

}  // namespace distribute::io_internal

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
                            "nobody: no AWS_ACCESS_KEY_ID, web identity, profile in ~/.aws, "
                            "container or instance role was found"};
}

DISTRIBUTE_INLINE absl::StatusOr<std::string> find_aws_region(
    const AwsCredentialsOptions& options) {
  for (const char* name : {"AWS_REGION", "AWS_DEFAULT_REGION"}) {
    const std::string region = options.environment(name);
    if (!region.empty()) return region;
  }
  auto profile = load_aws_profile(options.environment);
  if (!profile.ok()) return profile.status();
  if (profile->contains("region")) return (*profile)["region"];
  const io_internal::InstanceMetadata metadata(options);
  // Keys that are given by hand say that this is no instance's job: do not wait for its server.
  if (metadata.disabled() || !options.environment("AWS_ACCESS_KEY_ID").empty() ||
      profile->contains("aws_access_key_id")) {
    return "us-east-1";
  }
  auto token = metadata.token();
  if (!token.ok()) return token.status();
  if (!*token) return "us-east-1";
  auto region = metadata.get("/latest/meta-data/placement/region", **token);
  return region.ok() ? *region : "us-east-1";
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
    return known_;  // still good; the next call asks again
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
