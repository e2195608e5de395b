#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/base/json.hpp>
#include <distribute/http/credentials.hpp>

#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/http/http_client.hpp>
#include <distribute/io/file_system.hpp>

#include <chrono>
#include <utility>

#include <absl/strings/escaping.h>
#include <nlohmann/json.hpp>

#include <unistd.h>

namespace distribute::io_internal {

/// Gives the file of credentials, and whether the user named it; an empty path means that there is
/// none.
DISTRIBUTE_INLINE std::string google_credentials_file(const Environment& environment) {
  const std::string named = environment.text("GOOGLE_APPLICATION_CREDENTIALS");
  if (!named.empty()) return named;
  std::string folder = environment.text("CLOUDSDK_CONFIG");
  if (folder.empty()) folder = io::join_path(environment.text("HOME"), ".config/gcloud");
  const std::string path = io::join_path(folder, "application_default_credentials.json");
  return ::access(path.c_str(), F_OK) == 0 ? path : "";
}

DISTRIBUTE_INLINE std::string member(const nlohmann::json& json, const char* name) {
  const auto found = json.is_object() ? json.find(name) : json.end();
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

/// Makes the signed claim with which a service account identifies itself, valid for an hour.
DISTRIBUTE_INLINE absl::StatusOr<std::string> service_account_assertion(
    const nlohmann::json& account, const std::string& token_url, double now) {
  const nlohmann::json header = {
      {"alg", "RS256"}, {"typ", "JWT"}, {"kid", member(account, "private_key_id")}};
  const nlohmann::json claim = {{"iss", member(account, "client_email")},
                                {"scope", "https://www.googleapis.com/auth/cloud-platform"},
                                {"aud", token_url},
                                {"iat", int64_t(now)},
                                {"exp", int64_t(now) + 3600}};
  std::string text = absl::WebSafeBase64Escape(json_text(header)) + "." +
                     absl::WebSafeBase64Escape(json_text(claim));
  const auto signature = io::rsa_sha256_sign(member(account, "private_key"), text);
  if (!signature.ok()) return signature.status();
  return text.append(".").append(absl::WebSafeBase64Escape(*signature));
}

}  // namespace distribute::io_internal

namespace distribute::io {

DISTRIBUTE_INLINE double GoogleAuthProvider::now() const {
  if (options_.clock) return options_.clock();
  using namespace std::chrono;
  return duration<double>(system_clock::now().time_since_epoch()).count();
}

DISTRIBUTE_INLINE absl::StatusOr<std::string> GoogleAuthProvider::get_token() {
  const std::lock_guard lock(mutex_);
  if (now() < token_.expires - 60) return token_.text;
  auto fresh = find();
  if (!fresh.ok()) return fresh.status();
  token_ = *std::move(fresh);
  return token_.text;
}

DISTRIBUTE_INLINE void GoogleAuthProvider::forget_token() {
  const std::lock_guard lock(mutex_);
  token_.expires = 0;
}

DISTRIBUTE_INLINE std::string GoogleAuthProvider::origin() const {
  const std::lock_guard lock(mutex_);
  return token_.origin;
}

DISTRIBUTE_INLINE absl::StatusOr<GoogleAuthProvider::Token> GoogleAuthProvider::find() const {
  const std::string given = options_.environment.text("GOOGLE_AUTH_TOKEN_FOR_TESTING");
  if (!given.empty()) return Token{given, now() + 3600, "GOOGLE_AUTH_TOKEN_FOR_TESTING"};
  const std::string file = io_internal::google_credentials_file(options_.environment);
  if (!file.empty()) return from_file(file);
  std::string reason = "NO_GCE_CHECK forbids to ask the metadata server";
  if (options_.environment.text("NO_GCE_CHECK") != "true") {
    auto token = from_metadata();
    if (token.ok()) return token;
    reason = std::string(token.status().message());
  }
  // The next question is a few minutes later, as the machine may get its identity by then.
  return Token{"", now() + 360,
               str_cat("no credentials: GOOGLE_APPLICATION_CREDENTIALS names no file, gcloud has ",
                       "left none, and ", reason)};
}

DISTRIBUTE_INLINE absl::StatusOr<GoogleAuthProvider::Token> GoogleAuthProvider::from_file(
    const std::string& path) const {
  const bool named = !options_.environment.text("GOOGLE_APPLICATION_CREDENTIALS").empty();
  const auto text = read_named_text(path, named ? "GOOGLE_APPLICATION_CREDENTIALS" : "gcloud");
  if (!text.ok())
    return make_status(StatusCode(text.status().code()),
                       str_cat("credentials for Google Cloud: ", text.status().message(),
                               named ? ": correct it, or unset it and" : ":",
                               " run `gcloud auth application-default login`"));
  const auto json = json_of(*text);
  if (json.is_discarded())
    return make_status(StatusCode::DataLoss,
                       path + ": credentials for Google Cloud: the file is no JSON");
  const std::string refresh = io_internal::member(json, "refresh_token");
  if (!refresh.empty())
    return exchange(options_.token_url,
                    query_string({{"client_id", io_internal::member(json, "client_id")},
                                  {"client_secret", io_internal::member(json, "client_secret")},
                                  {"refresh_token", refresh},
                                  {"grant_type", "refresh_token"}}),
                    path);
  if (io_internal::member(json, "private_key").empty())
    return make_status(StatusCode::InvalidArgument,
                       str_cat(path, ": credentials for Google Cloud: neither a refresh_token nor ",
                               "a private_key is in the file; make one with `gcloud auth ",
                               "application-default login` or a key of a service account"));
  std::string url = io_internal::member(json, "token_uri");
  if (url.empty()) url = options_.token_url;
  const auto assertion = io_internal::service_account_assertion(json, url, now());
  if (!assertion.ok()) return annotate(assertion.status(), path);
  return exchange(url,
                  query_string({{"grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"},
                                {"assertion", *assertion}}),
                  path);
}

DISTRIBUTE_INLINE absl::StatusOr<GoogleAuthProvider::Token> GoogleAuthProvider::exchange(
    const std::string& url, const std::string& form, const std::string& origin) const {
  const auto response = send_with_retry(options_.retry, [&] {
    return http_client().send({.method = "POST",
                               .url = url,
                               .headers = {{"Content-Type", "application/x-www-form-urlencoded"}},
                               .body = form});
  });
  if (!response.ok()) return annotate(response.status(), origin);
  if (response->ok()) return parse(response->body, str_cat(origin, " through ", url));
  const auto json = json_of(response->body);
  const bool refused = response->status < 500;
  return make_status(
      refused ? StatusCode::Unauthenticated : StatusCode::Unavailable,
      str_cat(origin, ": POST ", url, ": status ", response->status, " ",
              io_internal::member(json, "error"), " ",
              io_internal::member(json, "error_description"),
              refused ? "; the key or refresh token was withdrawn, or the clock is wrong" : ""));
}

DISTRIBUTE_INLINE absl::StatusOr<GoogleAuthProvider::Token> GoogleAuthProvider::from_metadata()
    const {
  std::string host = options_.environment.text("GCE_METADATA_HOST");
  if (host.empty()) host = "metadata.google.internal";
  const std::string url =
      "http://" + host + "/computeMetadata/v1/instance/service-accounts/default/token";
  HttpRetryPolicy retry = options_.retry;
  retry.max_attempts = std::min(retry.max_attempts, 3);
  auto response = send_with_retry(retry, [&]() -> absl::StatusOr<HttpResponse> {
    auto now = http_client().send({.url = url,
                                   .headers = {{"Metadata-Flavor", "Google"}},
                                   .connect_timeout = 1,
                                   .total_timeout = options_.metadata_timeout,
                                   .use_proxy = false});
    if (now.ok()) return now;
    // It is not tried again, because most machines outside of Google's cloud have no such server.
    return make_status(StatusCode::NotFound, std::string(now.status().message()));
  });
  if (!response.ok()) return response.status();
  if (response->ok()) return parse(response->body, "the metadata server " + url);
  return make_status(StatusCode::NotFound, str_cat("GET ", url, ": status ", response->status,
                                                   "; has this machine a service account?"));
}

DISTRIBUTE_INLINE absl::StatusOr<GoogleAuthProvider::Token> GoogleAuthProvider::parse(
    const std::string& text, const std::string& origin) const {
  const auto json = json_of(text);
  const std::string token = io_internal::member(json, "access_token");
  if (token.empty())
    return make_status(StatusCode::Internal, origin + ": the answer holds no access_token");
  const auto seconds = json.find("expires_in");
  const bool known = seconds != json.end() && seconds->is_number();
  return Token{token, now() + (known ? seconds->get<double>() : 300), origin};
}

}  // namespace distribute::io
