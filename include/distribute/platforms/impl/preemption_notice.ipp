#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/json.hpp>
#include <distribute/base/leave_notice.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/base/threads.hpp>
#include <distribute/http/http_client.hpp>
#include <distribute/platforms/preemption_notice.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace distribute::train {

struct PreemptionNotice::Impl {
  explicit Impl(PreemptionNoticeOptions options);
  ~Impl();

  void run();
  bool ask();
  bool ask_gce(const std::string& name, const std::string& bad);
  bool ask_ec2();
  bool ask_azure();
  io::HttpResponse get(const std::string& path, const io::HttpHeaders& headers,
                       const std::string& method = "GET");
  void print(const std::string& line) const;

  PreemptionNoticeOptions options;
  std::string ec2_token;  // used by the asking thread alone
  std::atomic<bool> come{false}, asking{true};
  std::optional<LeaveAnnouncement> announcement;  // used by the asking thread alone
  std::mutex mutex;                               // guards stopping
  std::condition_variable wake;
  bool stopping = false;
  std::thread thread;
};

}  // namespace distribute::train

namespace distribute::train_internal {

/// Gives the address of the platform's metadata server.
DISTRIBUTE_INLINE std::string metadata_endpoint(const std::string& platform) {
  const Environment variables;
  if (platform == "gce") {
    for (const char* name : {"GCE_METADATA_HOST", "GCE_METADATA_IP"})
      if (const auto host = variables(name); host && !host->empty()) return "http://" + *host;
    return "http://metadata.google.internal";
  }
  if (platform == "ec2") {
    const auto given = variables("AWS_EC2_METADATA_SERVICE_ENDPOINT");
    if (given && !given->empty())
      return given->ends_with('/') ? given->substr(0, given->size() - 1) : *given;
  }
  return "http://169.254.169.254";
}

DISTRIBUTE_INLINE train::PreemptionNoticeOptions checked_notice(
    train::PreemptionNoticeOptions options) {
  if (options.platform != "gce" && options.platform != "ec2" && options.platform != "azure")
    throw InvalidArgumentError("PreemptionNotice: the platform must be gce, ec2 or azure, not '" +
                               untrusted::printable(options.platform, 80) + "'");
  if (!(options.poll_seconds > 0 && options.request_timeout > 0 && options.max_failures > 0))
    throw InvalidArgumentError("PreemptionNotice: times and max_failures must be positive");
  if (!io::has_http()) throw UnimplementedError("PreemptionNotice: this build has no libcurl");
  if (options.endpoint.empty()) options.endpoint = metadata_endpoint(options.platform);
  return options;
}

}  // namespace distribute::train_internal

namespace distribute::train {

DISTRIBUTE_INLINE PreemptionNotice::Impl::Impl(PreemptionNoticeOptions the_options)
    : options(train_internal::checked_notice(std::move(the_options))) {
  thread = base_internal::start_thread("preemption notices", [this] { run(); });
}

DISTRIBUTE_INLINE PreemptionNotice::Impl::~Impl() {
  {
    const std::lock_guard lock(mutex);
    stopping = true;
  }
  wake.notify_all();
  thread.join();
}

DISTRIBUTE_INLINE void PreemptionNotice::Impl::print(const std::string& line) const {
  if (options.log) return options.log(line);
  log_info("train", line);
}

/// Asks until the notice has come, until it gives up, or until its owner is destroyed.
DISTRIBUTE_INLINE void PreemptionNotice::Impl::run() {
  int failures = 0;
  std::unique_lock lock(mutex);
  while (!stopping) {
    lock.unlock();
    try {
      if (ask()) announcement.emplace();
      come = announcement.has_value();
      failures = 0;
      if (come)
        print("the metadata server of " + options.platform + " says that this machine goes");
    } catch (const Error& error) {
      if (++failures == options.max_failures) {
        asking = false;
        print(str_cat("no preemption notices any more: the metadata server of ", options.platform,
                      " has failed ", failures, " times, at last with: ", error.what(),
                      ". Is this machine there, and may this container reach it? SIGTERM still "
                      "works"));
      }
    }
    lock.lock();
    if (come || !asking) return;
    wake.wait_for(lock, std::chrono::duration<double>(options.poll_seconds),
                  [this] { return stopping; });
  }
}

/// Sends a request.
/// Throws  UnavailableError with the URL when there is no answer, or one without success.
DISTRIBUTE_INLINE io::HttpResponse PreemptionNotice::Impl::get(const std::string& path,
                                                               const io::HttpHeaders& headers,
                                                               const std::string& method) {
  io::HttpRequest request;
  request.method = method;
  request.url = options.endpoint + path;
  request.headers = headers;
  request.connect_timeout = options.request_timeout;
  request.total_timeout = options.request_timeout;
  request.use_proxy = false;
  const auto response = io::http_client().send(request);
  if (!response.ok()) throw UnavailableError(std::string(response.status().message()));
  if (!response->ok() && response->status != 404 && response->status != 401)
    throw UnavailableError(str_cat(method, " ", request.url, ": status ", response->status));
  return *response;
}

DISTRIBUTE_INLINE bool PreemptionNotice::Impl::ask() {
  if (options.platform == "ec2") return ask_ec2();
  if (options.platform == "azure") return ask_azure();
  return ask_gce("preempted", "TRUE") ||
         ask_gce("maintenance-event", "TERMINATE_ON_HOST_MAINTENANCE");
}

DISTRIBUTE_INLINE bool PreemptionNotice::Impl::ask_gce(const std::string& name,
                                                       const std::string& bad) {
  const auto answer = get("/computeMetadata/v1/instance/" + name, {{"Metadata-Flavor", "Google"}});
  return answer.ok() && answer.body == bad;
}

/// Asks EC2: a 404 means that there is no action. The token expires after six hours, with a 401.
DISTRIBUTE_INLINE bool PreemptionNotice::Impl::ask_ec2() {
  if (ec2_token.empty()) {
    const auto token =
        get("/latest/api/token", {{"X-aws-ec2-metadata-token-ttl-seconds", "21600"}}, "PUT");
    if (!token.ok())
      throw UnavailableError(
          str_cat("PUT ", options.endpoint, "/latest/api/token: status ", token.status));
    ec2_token = token.body;
  }
  const auto answer =
      get("/latest/meta-data/spot/instance-action", {{"X-aws-ec2-metadata-token", ec2_token}});
  if (answer.status == 401) ec2_token.clear();
  return answer.ok();
}

DISTRIBUTE_INLINE bool PreemptionNotice::Impl::ask_azure() {
  const std::string path = "/metadata/scheduledevents?api-version=2020-07-01";
  const auto answer = get(path, {{"Metadata", "true"}});
  if (!answer.ok())
    throw UnavailableError(str_cat("GET ", options.endpoint, path, ": status ", answer.status));
  const untrusted::JsonValue root = untrusted::parse_json(answer.body, "scheduled events");
  const untrusted::JsonValue* events =
      untrusted::object_of(root, "scheduled events").find("Events");
  if (!events) return false;
  for (const untrusted::JsonValue& event : events->items) {
    const untrusted::JsonValue* type = event.find("EventType");
    if (type && (type->text == "Preempt" || type->text == "Terminate")) return true;
  }
  return false;
}

DISTRIBUTE_INLINE PreemptionNotice::PreemptionNotice(PreemptionNoticeOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}
DISTRIBUTE_INLINE PreemptionNotice::~PreemptionNotice() = default;
DISTRIBUTE_INLINE bool PreemptionNotice::has_come() const { return impl_->come; }
DISTRIBUTE_INLINE bool PreemptionNotice::is_asking() const { return impl_->asking; }

}  // namespace distribute::train
