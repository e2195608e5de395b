#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/base/json.hpp>
#include <distribute/object_stores/detail/webhdfs_client.hpp>

#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/io/file_system.hpp>

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include <pwd.h>
#include <unistd.h>

namespace distribute::io_internal {

DISTRIBUTE_INLINE std::string login_name(const Environment& environment) {
  for (const char* variable : {"HADOOP_USER_NAME", "USER"})
    if (std::string name = environment.text(variable); !name.empty()) return name;
  const passwd* entry = ::getpwuid(::geteuid());
  return entry ? entry->pw_name : "root";
}

DISTRIBUTE_INLINE std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// The exception in Hadoop's answer: its class without the package, and its first line.
struct RemoteException {
  std::string name, message;
};

DISTRIBUTE_INLINE RemoteException remote_exception(const io::HttpResponse& response) {
  const auto json = json_of(response.body);
  if (!json.is_object() || !json.contains("RemoteException")) return {"", response.excerpt()};
  const auto& remote = json["RemoteException"];
  const auto text = [&](const char* name) {
    const bool there = remote.is_object() && remote.contains(name) && remote[name].is_string();
    return there ? remote[name].get<std::string>() : std::string();
  };
  const std::string message = text("message");
  return {text("exception"), message.substr(0, message.find('\n'))};
}

struct ExceptionRow {
  std::string_view name;
  StatusCode code;
  const char* cure;
};

inline constexpr ExceptionRow kHadoopExceptions[] = {
    {"FileNotFoundException", StatusCode::NotFound, ""},
    {"AccessControlException", StatusCode::PermissionDenied,
     "; check owner and rights, and HADOOP_USER_NAME"},
    {"SecurityException", StatusCode::Unauthenticated,
     "; the cluster wants Kerberos: get a token with `curl --negotiate -u : "
     "'<name node>/webhdfs/v1/?op=GETDELEGATIONTOKEN'` and set DISTRIBUTE_WEBHDFS_DELEGATION"},
    {"InvalidToken", StatusCode::Unauthenticated,
     "; the delegation token has expired: get a new one"},
    {"StandbyException", StatusCode::Unavailable,
     "; name all name nodes of the cluster in DISTRIBUTE_WEBHDFS"},
    {"SafeModeException", StatusCode::Unavailable, "; wait until the name node leaves safe mode"},
    {"RetriableException", StatusCode::Unavailable, "; try again"},
    {"FileAlreadyExistsException", StatusCode::AlreadyExists, ""},
    {"AlreadyBeingCreatedException", StatusCode::Aborted, "; another program writes the file"},
    {"DSQuotaExceededException", StatusCode::ResourceExhausted, "; the space quota is used up"},
    {"NSQuotaExceededException", StatusCode::ResourceExhausted, "; the quota of names is used up"},
    {"IllegalArgumentException", StatusCode::InvalidArgument, ""},
    {"ParentNotDirectoryException", StatusCode::FailedPrecondition, ""},
    {"PathIsNotEmptyDirectoryException", StatusCode::FailedPrecondition, ""},
};

DISTRIBUTE_INLINE ExceptionRow row_of(const std::string& name, int status) {
  for (const ExceptionRow& row : kHadoopExceptions)
    if (row.name == name) return row;
  switch (status) {
    case 401:
      return {"", StatusCode::Unauthenticated,
              "; the cluster wants Kerberos: set DISTRIBUTE_WEBHDFS_DELEGATION to a token"};
    case 403: return {"", StatusCode::PermissionDenied, ""};
    case 503: return {"", StatusCode::Unavailable, "; try again later"};
    default: break;
  }
  if (!name.empty()) return {"", status == 404 ? StatusCode::NotFound : StatusCode::Internal, ""};
  return {"", status == 500 ? StatusCode::Internal : StatusCode::FailedPrecondition,
          "; is this address WebHDFS (dfs.webhdfs.enabled)?"};
}

DISTRIBUTE_INLINE bool is_standby(const io::HttpResponse& response) {
  if (response.status < 400) return false;
  const std::string name = remote_exception(response).name;
  return name == "StandbyException" || name == "RetriableException" || name == "SafeModeException";
}

}  // namespace distribute::io_internal

namespace distribute::io {

DISTRIBUTE_INLINE absl::StatusOr<WebHdfsOptions> webhdfs_options_from_environment(
    const Environment& environment) {
  WebHdfsOptions options;
  options.user = io_internal::login_name(environment);
  options.delegation = environment.text("DISTRIBUTE_WEBHDFS_DELEGATION");
  for (const std::string& entry : io_internal::split(environment.text("DISTRIBUTE_WEBHDFS"), ';')) {
    const size_t equal = entry.find('=');
    std::vector<std::string> servers;
    if (equal != std::string::npos) servers = io_internal::split(entry.substr(equal + 1), ',');
    bool good = equal > 0 && !servers.empty();
    for (std::string& server : servers) {
      good = good && parse_url(server).ok();
      while (server.ends_with('/')) server.pop_back();
    }
    if (!good)
      return make_status(StatusCode::InvalidArgument,
                         str_cat("DISTRIBUTE_WEBHDFS: wanted 'cluster=http://host:9870,...;...', ",
                                 "came '", untrusted::printable(entry, 80), "'"));
    options.clusters[entry.substr(0, equal)] = std::move(servers);
  }
  return options;
}

DISTRIBUTE_INLINE absl::StatusOr<WebHdfsPath> parse_webhdfs_path(const std::string& path,
                                                                 const WebHdfsOptions& options) {
  const std::string scheme(scheme_of(path));
  const size_t begin = scheme.size() + 3, slash = std::min(path.find('/', begin), path.size());
  WebHdfsPath result{path, path.substr(begin, slash - begin), path.substr(slash), {}};
  while (result.path.size() > 1 && result.path.ends_with('/')) result.path.pop_back();
  if (result.path.empty()) result.path = "/";
  auto found = options.clusters.find(result.cluster);
  if (found == options.clusters.end()) found = options.clusters.find("*");
  if (found != options.clusters.end()) {
    result.servers = found->second;
    return result;
  }
  auto url = parse_url("http://" + result.cluster);
  if (result.cluster.empty() || !url.ok())
    return make_status(
        StatusCode::InvalidArgument,
        str_cat(path, ": wanted ", scheme, "://host/path; without a host the name ",
                "node is unknown: name it, or set DISTRIBUTE_WEBHDFS='*=http://", "host:9870'"));
  const bool tls = scheme == "swebhdfs";
  if (url->port == 0 || scheme == "hdfs") url->port = tls ? 9871 : 9870;
  result.servers = {(tls ? "https://" : "http://") + url->authority()};
  return result;
}

DISTRIBUTE_INLINE std::string WebHdfsClient::url_of(const std::string& server,
                                                    const WebHdfsPath& path,
                                                    const WebHdfsCall& call) const {
  QueryParameters query = call.query;
  query.emplace_back("op", call.op);
  if (!options_.delegation.empty())
    query.emplace_back("delegation", options_.delegation);
  else
    query.emplace_back("user.name", options_.user);
  return str_cat(server, "/webhdfs/v1", url_encode(path.path, "/"), "?", query_string(query));
}

DISTRIBUTE_INLINE size_t WebHdfsClient::active(const std::string& cluster) const {
  const std::lock_guard lock(mutex_);
  const auto found = active_.find(cluster);
  return found == active_.end() ? 0 : found->second;
}

/// Name nodes answer small requests themselves, and send requests for data to a data node.
DISTRIBUTE_INLINE absl::StatusOr<HttpResponse> WebHdfsClient::ask(const std::string& url,
                                                                  const WebHdfsCall& call) {
  auto response = http_client().send(
      {.method = call.method, .url = url, .sink = call.sink, .stall_timeout = 60});
  if (!call.has_data || !response.ok() || response->status != 307) return response;
  const std::string location = response->header("Location");
  if (location.empty())
    return make_status(StatusCode::Internal,
                       printable_url(url) + ": the redirection names no Location");
  return http_client().send({.method = call.method,
                             .url = location,
                             .headers = {{"Content-Type", "application/octet-stream"}},
                             .body = call.body,
                             .sink = call.sink});
}

DISTRIBUTE_INLINE absl::StatusOr<HttpResponse> WebHdfsClient::ask_all(const WebHdfsPath& path,
                                                                      const WebHdfsCall& call,
                                                                      std::string& url) {
  const size_t first = active(path.cluster), count = path.servers.size();
  absl::StatusOr<HttpResponse> result = absl::UnknownError("");
  for (size_t i = 0; i < count; ++i) {
    const size_t server = (first + i) % count;
    url = url_of(path.servers[server], path, call);
    result = ask(url, call);
    if (!result.ok() || io_internal::is_standby(*result)) continue;
    const std::lock_guard lock(mutex_);
    active_[path.cluster] = server;
    return result;
  }
  return result;
}

DISTRIBUTE_INLINE absl::StatusOr<HttpResponse> WebHdfsClient::call(const WebHdfsPath& path,
                                                                   const WebHdfsCall& call) {
  std::string url;
  const auto attempt = [&] { return ask_all(path, call, url); };
  auto response =
      call.repeats ? send_with_retry(options_.retry, attempt, io_internal::is_standby) : attempt();
  if (!response.ok())
    return annotate(response.status(),
                    str_cat(path.whole, path.whole.starts_with("hdfs://")
                                            ? " (through WebHDFS; DISTRIBUTE_WEBHDFS names servers)"
                                            : ""));
  if (response->ok()) return response;
  const auto remote = io_internal::remote_exception(*response);
  const auto row = io_internal::row_of(remote.name, response->status);
  return make_status(row.code, str_cat(path.whole, ": ", call.method, " ", printable_url(url),
                                       ": status ", response->status, " ", remote.name,
                                       remote.name.empty() ? "" : ": ", remote.message, row.cure));
}

}  // namespace distribute::io
