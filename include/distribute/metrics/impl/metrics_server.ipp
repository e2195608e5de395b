#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/base/metrics.hpp>
#include <distribute/base/status.hpp>
#include <distribute/base/threads.hpp>
#include <distribute/cluster/cluster_options.hpp>
#include <distribute/metrics/detail/metrics_request.hpp>
#include <distribute/metrics/metrics_server.hpp>
#include <distribute/net/deadline.hpp>
#include <distribute/net/job_token.hpp>
#include <distribute/net/socket.hpp>

#include <array>
#include <atomic>
#include <list>
#include <thread>
#include <vector>

#include <poll.h>
#include <sys/socket.h>

namespace distribute::cluster_internal {

DISTRIBUTE_INLINE std::string all_metrics() {
  std::vector<monitoring::MetricFamily> families = monitoring::default_registry().collect_metrics();
  for (auto& family : monitoring::process_metrics()) families.push_back(std::move(family));
  return monitoring::prometheus_text(families);
}

/// One reader; never blocks.
class MetricsReader {
 public:
  explicit MetricsReader(net::Socket socket) : socket_(std::move(socket)) {}

  void advance(const std::string& token);
  bool done() const { return done_ || deadline_.passed(); }
  pollfd polled() const { return {socket_.native(), short(answer_.empty() ? POLLIN : POLLOUT), 0}; }
  net::Deadline deadline() const { return deadline_; }

 private:
  void read(const std::string& token);
  void write();

  net::Socket socket_;
  const net::Deadline deadline_ = net::Deadline::after_seconds(5);
  std::string head_, answer_;
  bool done_ = false;
};

DISTRIBUTE_INLINE void MetricsReader::advance(const std::string& token) {
  if (answer_.empty()) read(token);
  if (!answer_.empty()) write();
}

DISTRIBUTE_INLINE void MetricsReader::read(const std::string& token) {
  std::array<char, 2048> bytes;
  const auto got = socket_.read_some(std::as_writable_bytes(std::span(bytes)));
  if (!got.ok()) {
    done_ = true;
    return;
  }
  head_.append(bytes.data(), *got);
  const size_t end = end_of_head(head_);
  if (end != std::string::npos)
    answer_ = answer_metrics_request(std::string_view(head_).substr(0, end), token, all_metrics);
  else if (head_.size() > kMostRequestBytes)
    answer_ = http_answer("431 Request Header Fields Too Large", "text/plain", "too long\n");
}

DISTRIBUTE_INLINE void MetricsReader::write() {
  const auto sent = socket_.write_some(std::as_bytes(std::span(answer_)));
  done_ = !sent.ok() || *sent == answer_.size();
  if (sent.ok()) answer_.erase(0, *sent);
  if (done_) ::shutdown(socket_.native(), SHUT_WR);
}

}  // namespace distribute::cluster_internal

namespace distribute {

struct MetricsServer::Impl {
  static constexpr size_t kMostReaders = 32;

  void run();
  void accept_waiting();

  net::Listener listener;
  std::string token;
  net::WakeUp wake_up;
  std::atomic<bool> stopping{false};
  net::Deadline accept_again = net::Deadline::after_seconds(0);  // the thread's own
  std::list<cluster_internal::MetricsReader> readers;            // oldest first; the thread's own
  std::thread thread;
};

/// When there are too many, the oldest goes.
DISTRIBUTE_INLINE void MetricsServer::Impl::accept_waiting() {
  for (;;) {
    auto socket = listener.accept_now();
    if (!socket.ok()) {  // no descriptors: the oldest reader gives one back, others wait
      if (!readers.empty()) readers.pop_front();
      accept_again = net::Deadline::after_seconds(0.1);
    }
    if (!socket.ok() || !*socket) return;
    if (readers.size() == kMostReaders) readers.pop_front();
    readers.emplace_back(*std::move(socket));
  }
}

DISTRIBUTE_INLINE void MetricsServer::Impl::run() {
  std::vector<pollfd> polled;
  while (!stopping) {
    const bool accepting = accept_again.passed();
    polled = {{wake_up.native(), POLLIN, 0}, {accepting ? listener.native() : -1, POLLIN, 0}};
    net::Deadline next = accepting ? net::Deadline::after_seconds(3600) : accept_again;
    for (const auto& reader : readers) {
      polled.push_back(reader.polled());
      next = next.earlier(reader.deadline());
    }
    ::poll(polled.data(), polled.size(), next.left_ms());
    if (polled[1].revents) accept_waiting();
    for (auto& reader : readers) reader.advance(token);
    std::erase_if(readers, [](const auto& reader) { return reader.done(); });
  }
}

DISTRIBUTE_INLINE MetricsServer::MetricsServer(const MetricsServerOptions& options)
    : impl_(std::make_unique<Impl>()) {
  const bool has_token = !options.token.empty();
  throw_if_error(annotate(net::check_exposure(options.address, has_token, options.insecure),
                          "metrics (DISTRIBUTE_METRICS_PORT)"));
  auto listener = net::Listener::bind(options.address, net::Deadline::after_seconds(10));
  throw_if_error(annotate(listener.status(), "metrics (DISTRIBUTE_METRICS_PORT)"));
  impl_->listener = *std::move(listener);
  impl_->token = options.token;
  impl_->thread =
      base_internal::start_thread("the metrics server", [impl = impl_.get()] { impl->run(); });
}

DISTRIBUTE_INLINE MetricsServer::~MetricsServer() {
  impl_->stopping = true;
  impl_->wake_up.signal();
  impl_->thread.join();
}

DISTRIBUTE_INLINE const net::Address& MetricsServer::address() const {
  return impl_->listener.address();
}

DISTRIBUTE_INLINE std::string metrics_token(const std::string& job_token) {
  if (std::string token = Environment().text("DISTRIBUTE_METRICS_TOKEN"); !token.empty())
    return token;
  if (job_token.empty()) return "";
  std::string text;
  for (const char byte :
       value_or_throw(net::hmac_sha256(job_token, "distribute: token for reading metrics")))
    for (const int half : {uint8_t(byte) >> 4, byte & 15}) text += "0123456789abcdef"[half];
  return text;
}

namespace metrics_internal {

/// The server of DISTRIBUTE_METRICS_PORT.
struct OwnServer {
  std::mutex mutex;  // guards server
  std::shared_ptr<MetricsServer> server;
};

}  // namespace metrics_internal

DISTRIBUTE_INLINE void start_metrics_server(const std::string& host) {
  int port = -1;
  Environment().read("DISTRIBUTE_METRICS_PORT", 0, 65535, port);
  if (port < 0) return;
  auto& own = in_process<metrics_internal::OwnServer>();
  const std::lock_guard lock(own.mutex);
  if (own.server) return;
  const ClusterOptions cluster = ClusterOptions::from_environment();
  const auto server = std::make_shared<MetricsServer>(
      MetricsServerOptions{.address = {host, port},
                           .token = metrics_token(cluster.job_token),
                           .insecure = cluster.insecure});
  own.server = server;
  log_info("metrics", "metrics are at http://" + server->address().text() + "/metrics",
           {{"address", server->address().text()}});
}

}  // namespace distribute
