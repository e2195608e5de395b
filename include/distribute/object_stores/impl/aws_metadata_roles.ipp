#pragma once
#include <distribute/object_stores/detail/aws_metadata.hpp>

#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/http/http_client.hpp>
#include <distribute/object_stores/detail/xml.hpp>

#include <absl/strings/ascii.h>
#include <absl/time/clock.h>
#include <absl/time/time.h>

#include <cstdio>
#include <optional>

namespace distribute::io_internal {

DISTRIBUTE_INLINE MaybeAwsCredentials
credentials_of_environment(const io::AwsCredentialsOptions& options) {
  const auto& environment = options.environment;
  io::AwsCredentials credentials{.access_key_id = environment.text("AWS_ACCESS_KEY_ID"),
                                 .secret_access_key = environment.text("AWS_SECRET_ACCESS_KEY"),
                                 .session_token = environment.text("AWS_SESSION_TOKEN"),
                                 .source = "AWS_ACCESS_KEY_ID"};
  if (credentials.access_key_id.empty() && credentials.secret_access_key.empty())
    return std::nullopt;
  if (credentials.access_key_id.empty() || credentials.secret_access_key.empty())
    return make_status(StatusCode::InvalidArgument,
                       "one of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY is set, the other is "
                       "not; set both or none");
  return std::optional(credentials);
}

/// Gives the address of the security token service.
DISTRIBUTE_INLINE std::string sts_endpoint(const io::AwsCredentialsOptions& options,
                                           const std::string& region) {
  for (const char* name : {"AWS_ENDPOINT_URL_STS", "AWS_ENDPOINT_URL"}) {
    const std::string url = options.environment.text(name);
    if (!url.empty() && options.environment.text("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS") != "true")
      return url + "/";
  }
  return str_cat("https://sts.", region, ".amazonaws.com", region.starts_with("cn-") ? ".cn" : "",
                 "/");
}

/// Sends one action to the security token service; signed unless `signer` is anonymous.
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
  const auto text =
      body_of_answer(send_with_retry(policy, attempt),
                     {.method = "POST", .url = sts_endpoint(options, *region)}, source);
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

/// Reads the token file each time, as it is replaced before it expires.
DISTRIBUTE_INLINE absl::StatusOr<io::AwsCredentials> ask_web_identity(
    const io::AwsCredentialsOptions& options, const std::string& token_file,
    const std::string& role, const std::string& session) {
  if (role.empty())
    return make_status(StatusCode::InvalidArgument,
                       "AWS_WEB_IDENTITY_TOKEN_FILE is set, but no role: set AWS_ROLE_ARN");
  auto token = io::read_named_text(token_file, "AWS_WEB_IDENTITY_TOKEN_FILE, or the profile,");
  if (!token.ok()) return annotate(token.status(), "web identity token");
  return ask_sts(options,
                 {{"Action", "AssumeRoleWithWebIdentity"},
                  {"Version", "2011-06-15"},
                  {"RoleArn", role},
                  {"RoleSessionName", session.empty() ? "distribute" : session},
                  {"WebIdentityToken", std::string(absl::StripAsciiWhitespace(*token))}},
                 {}, str_cat("the web identity in ", token_file));
}

DISTRIBUTE_INLINE MaybeAwsCredentials
credentials_of_web_identity(const io::AwsCredentialsOptions& options) {
  const std::string file = options.environment.text("AWS_WEB_IDENTITY_TOKEN_FILE");
  if (file.empty()) return std::nullopt;
  return optional_of(ask_web_identity(options, file, options.environment.text("AWS_ROLE_ARN"),
                                      options.environment.text("AWS_ROLE_SESSION_NAME")));
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
                     str_cat("credential_process failed with status ", status, ": ", command));
}

/// Finds the credentials that ask for a profile's role: source_profile or credential_source.
DISTRIBUTE_INLINE MaybeAwsCredentials credentials_of_source(
    const io::AwsCredentialsOptions& options, io::AwsProfile& profile, int depth) {
  if (profile.contains("source_profile")) {
    if (depth >= 4) return std::nullopt;  // the profiles form a circle
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
                       str_cat("no credentials to take the role ", profile["role_arn"],
                               " with: check the profile's source_profile or credential_source"));
  io::QueryParameters form{{"Action", "AssumeRole"},
                           {"Version", "2011-06-15"},
                           {"RoleArn", profile["role_arn"]},
                           {"RoleSessionName", "distribute"}};
  if (profile.contains("external_id")) form.emplace_back("ExternalId", profile["external_id"]);
  return ask_sts(options, form, **signer, str_cat("the role ", profile["role_arn"]));
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

}  // namespace distribute::io_internal
