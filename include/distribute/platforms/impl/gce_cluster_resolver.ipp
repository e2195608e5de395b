#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/json.hpp>
#include <distribute/base/status.hpp>
#include <distribute/http/credentials.hpp>
#include <distribute/http/http_client.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/net/address.hpp>
#include <distribute/platforms/gce_cluster_resolver.hpp>

#include <algorithm>
#include <utility>

namespace distribute::cluster_internal {

/// Says what to do about an error of Compute Engine.
DISTRIBUTE_INLINE std::string gce_cure(int status, const std::string& credentials) {
  if (status == 401) return "; the token is not accepted (credentials: " + credentials + ")";
  if (status == 403)
    return "; the service account needs compute.instanceGroups.list and compute.instances.get "
           "(role compute.viewer), and its machine the access scope compute-ro (credentials: " +
           credentials + ")";
  if (status == 404) return "; check project, zone and the name of the instance group";
  return "";
}

DISTRIBUTE_INLINE StatusCode gce_status_code(int status) {
  switch (status) {
    case 400: return StatusCode::InvalidArgument;
    case 401: return StatusCode::Unauthenticated;
    case 403: return StatusCode::PermissionDenied;
    case 404: return StatusCode::NotFound;
    default: return StatusCode::Unavailable;
  }
}

/// Gives the API's text in the body of an error; "" without one.
DISTRIBUTE_INLINE std::string gce_message(const std::string& body) {
  try {
    const untrusted::JsonValue answer = untrusted::parse_json(body, "error");
    const untrusted::JsonValue* error = answer.find("error");
    const untrusted::JsonValue* message = error ? error->find("message") : nullptr;
    return message && message->is_string() ? ": " + untrusted::shown(message->text) : "";
  } catch (const InvalidArgumentError&) {
    return "";
  }
}

/// Gives a member of an object, which must be a string.
DISTRIBUTE_INLINE const std::string& gce_text(const untrusted::JsonValue& object, const char* key,
                                              const std::string& place) {
  const untrusted::JsonValue* value = untrusted::object_of(object, place).find(key);
  if (!value) throw InvalidArgumentError(str_cat(place, ": the answer has no `", key, "`"));
  return untrusted::string_of(*value, str_cat(place, ": ", key));
}

}  // namespace distribute::cluster_internal

namespace distribute {

/// Queries Compute Engine's API and the machine's metadata server.
class GCEClusterResolver::Service {
 public:
  explicit Service(const GCEClusterResolverOptions& options)
      : options_(options), auth_({.environment = options.variables}) {
    retry_.max_attempts = options.max_attempts;
  }

  untrusted::JsonValue ask(const char* method, const std::string& url, const std::string& body) {
    may_renew_ = true;
    const io::HttpResponse response = value_or_throw(io::send_with_retry(
        retry_, [&] { return send(method, url, body); },
        [&](const io::HttpResponse& answer) { return token_was_old(answer); }));
    if (response.ok()) return untrusted::parse_json(response.body, url);
    const std::string source =
        options_.credentials == "default" ? auth_.origin() : "the options of the resolver";
    throw_if_error(make_status(cluster_internal::gce_status_code(response.status),
                               str_cat(method, " ", url, ": status ", response.status,
                                       cluster_internal::gce_message(response.body),
                                       cluster_internal::gce_cure(response.status, source))));
    return {};
  }

  /// Gives the names of the running machines of a group, given by its URL.
  std::vector<std::string> running(const std::string& group) {
    using namespace cluster_internal;
    std::vector<std::string> names;
    io::QueryParameters query{{"orderBy", "name"}};
    for (bool more = true; more;) {
      const std::string url = str_cat(group, "/listInstances?", io::query_string(query));
      const untrusted::JsonValue answer = ask("POST", url, R"({"instanceState":"RUNNING"})");
      const untrusted::JsonValue* items = untrusted::object_of(answer, url).find("items");
      if (items && !items->is_array())
        throw InvalidArgumentError(url + ": `items` is " + items->describe() + ", not a list");
      for (size_t i = 0; items && i < items->items.size(); ++i)
        names.push_back(io::file_name_of(gce_text(items->items[i], "instance", url)));
      const untrusted::JsonValue* next = answer.find("nextPageToken");
      more = next != nullptr;
      if (more) query = {{"orderBy", "name"}, {"pageToken", untrusted::string_of(*next, url)}};
    }
    return names;
  }

  /// Gives the internal address of a machine, given by its URL.
  std::string address(const std::string& machine) {
    using namespace cluster_internal;
    const untrusted::JsonValue answer = ask("GET", machine, "");
    const untrusted::JsonValue* networks =
        untrusted::object_of(answer, machine).find("networkInterfaces");
    if (!networks || !networks->is_array() || networks->items.empty())
      throw InvalidArgumentError(machine + ": the instance has no networkInterfaces");
    return gce_text(networks->items[0], "networkIP", machine);
  }

  /// Gives one short answer of the metadata server.
  std::string metadata(const char* path) {
    const std::string host =
        options_.variables("GCE_METADATA_HOST").value_or("metadata.google.internal");
    const std::string url = str_cat("http://", host, "/computeMetadata/v1/", path);
    const auto response = io::http_client().send({.url = url,
                                                  .headers = {{"Metadata-Flavor", "Google"}},
                                                  .connect_timeout = 2,
                                                  .total_timeout = 5,
                                                  .use_proxy = false});
    const std::string advice =
        "; outside of Compute Engine give project, zone and task_id to the resolver";
    if (!response.ok()) throw UnavailableError(str_cat(response.status().message(), advice));
    if (!response->ok())
      throw UnavailableError(str_cat("GET ", url, ": status ", response->status, advice));
    return std::string(untrusted::trimmed(response->body));
  }

 private:
  absl::StatusOr<io::HttpResponse> send(const char* method, const std::string& url,
                                        const std::string& body) {
    io::HttpHeaders headers{{"Content-Type", "application/json"}};
    std::string token = options_.credentials;
    if (token == "default") {
      auto found = auth_.get_token();
      if (!found.ok()) return found.status();
      token = *found;
    }
    if (!token.empty()) headers.emplace_back("Authorization", "Bearer " + token);
    return io::http_client().send({.method = method,
                                   .url = url,
                                   .headers = std::move(headers),
                                   .body = body,
                                   .total_timeout = options_.request_timeout});
  }

  /// Whether the token was refused and replaced; at most once for each question.
  bool token_was_old(const io::HttpResponse& answer) {
    if (answer.status != 401 || options_.credentials != "default") return false;
    auth_.forget_token();
    return std::exchange(may_renew_, false);
  }

  const GCEClusterResolverOptions& options_;
  io::GoogleAuthProvider auth_;
  io::HttpRetryPolicy retry_;
  bool may_renew_ = false;
};

DISTRIBUTE_INLINE GCEClusterResolver::GCEClusterResolver(GCEClusterResolverOptions options)
    : options_(std::move(options)) {
  if (options_.instance_group.empty())
    throw InvalidArgumentError("GCEClusterResolver: give the name of the instance_group");
  if (options_.port < 1 || options_.port > 65535)
    throw InvalidArgumentError(
        str_cat("GCEClusterResolver: the port must be 1 to 65535, not ", options_.port));
  if (options_.max_attempts < 1)
    throw InvalidArgumentError("GCEClusterResolver: max_attempts must be at least 1");
  if (!io::has_http())
    throw UnimplementedError("GCEClusterResolver: this build has no libcurl; install it");
  set_rpc_layer(options_.rpc_layer);
  service_ = std::make_unique<Service>(options_);
}

DISTRIBUTE_INLINE GCEClusterResolver::~GCEClusterResolver() = default;

DISTRIBUTE_INLINE void GCEClusterResolver::set_task_type(std::optional<TaskType>) {
  throw FailedPreconditionError(
      "You cannot reset the task_type of the GCEClusterResolver after it has been created.");
}

DISTRIBUTE_INLINE std::vector<std::string> GCEClusterResolver::addresses() const {
  using namespace cluster_internal;
  std::string project = options_.project, zone = options_.zone;
  if (project.empty()) project = service_->metadata("project/project-id");
  if (zone.empty()) zone = io::file_name_of(service_->metadata("instance/zone"));
  const std::string base = str_cat(options_.service, "/projects/", io::url_encode(project),
                                   "/zones/", io::url_encode(zone));
  std::vector<std::string> found;
  for (const std::string& name : service_->running(
           str_cat(base, "/instanceGroups/", io::url_encode(options_.instance_group))))
    found.push_back(net::join_host_port(
        service_->address(str_cat(base, "/instances/", io::url_encode(name))), options_.port));
  if (found.empty())
    throw FailedPreconditionError(str_cat(
        "the instance group ", untrusted::shown(options_.instance_group), " of project ",
        untrusted::shown(project), ", zone ", untrusted::shown(zone), ", has no running machine"));
  std::sort(found.begin(), found.end());
  return found;
}

DISTRIBUTE_INLINE ClusterSpec GCEClusterResolver::cluster_spec() const {
  return ClusterSpec({{options_.task_type.name(), addresses()}});
}

DISTRIBUTE_INLINE std::optional<int> GCEClusterResolver::find_task_id() const {
  if (options_.task_id) return options_.task_id;
  const std::string own =
      net::join_host_port(service_->metadata("instance/network-interfaces/0/ip"), options_.port);
  const std::vector<std::string> all = addresses();
  const auto place = std::find(all.begin(), all.end(), own);
  if (place == all.end())
    throw FailedPreconditionError(str_cat("this machine, ", own, ", is not among the running ones ",
                                          "of instance group ",
                                          untrusted::shown(options_.instance_group)));
  return int(place - all.begin());
}

}  // namespace distribute
