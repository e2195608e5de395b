#pragma once
/// The listening port of this task: a task that connects is authenticated, and its connection is
/// passed to the handler of its purpose.

#include <distribute/cluster/cluster_options.hpp>
#include <distribute/net/deadline.hpp>
#include <distribute/net/detail/handshake.hpp>
#include <distribute/net/socket.hpp>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace distribute {

/// A connection whose other end has proved to be `hello.client`.
struct TaskConnection {
  net::Socket socket;
  net::HandshakeHello hello;
};

namespace cluster_internal {
class HalfOpen;
}  // namespace cluster_internal

/// Owns the listener and one thread that accepts, runs all handshakes side by side and calls the
/// handlers. Thread-safe.
/// 1. A handler gets a connection only after its other end has proved that it knows the token.
/// 2. Connections in a handshake are few and short-lived; a new one replaces the oldest, so that
///    strangers cannot keep out tasks of the job.
/// 3. Handlers run on the server's thread with `mutex_` held: none of a purpose runs after its
///    stop_serving() has returned.
/// 4. Only the thread uses `half_open_` and the members behind it.
class TaskServer {
 public:
  using Handler = std::function<void(TaskConnection)>;
  using Admit = net::ServerHandshake::Admit;

  /// Listens, but answers no connection before start().
  /// Throws  FailedPreconditionError when there is no token and the address is not loopback.
  TaskServer(net::Listener listener, net::HandshakeConfig config, ClusterOptions options);
  TaskServer(const TaskServer&) = delete;
  /// Closes the port and all connections that no handler has taken.
  ~TaskServer();

  /// Starts the thread, once; purposes served before that are available for every connection.
  void start();
  /// Passes connections with this purpose to `handler`; `admit` may refuse them first, with a
  /// reason for the other side. Both run on the server's thread, must not block and must not call
  /// serve(). If a handler throws, the connection is closed and the error printed.
  void serve(const std::string& purpose, Handler handler, Admit admit = nullptr);
  /// Refuses the purpose from now on; no call of its handler runs after it.
  void stop_serving(const std::string& purpose);

  /// Returns the address of the port; config() what its handshakes require.
  const net::Address& address() const { return listener_.address(); }
  const net::HandshakeConfig& config() const { return config_; }
  /// Returns the number of connections refused or given up so far, without those that came too
  /// early.
  int64_t refused() const { return refused_; }

 private:
  struct Service {
    Handler handler;
    Admit admit;
  };
  using Clock = net::Deadline::Clock;

  void run();
  int poll_timeout() const;
  void accept_waiting();
  void advance_all();
  void push_out_oldest(std::string_view why = "too many connections at a time");
  void tell_full(const absl::Status& why);
  absl::Status admit(const net::HandshakeHello& hello);
  void hand_over(cluster_internal::HalfOpen& connection);
  void count_refused(const cluster_internal::HalfOpen& connection, std::string_view why = "");

  net::Listener listener_;
  const net::HandshakeConfig config_;
  const ClusterOptions options_;
  net::WakeUp wake_up_;
  std::atomic<bool> stopping_{false};
  std::atomic<int64_t> refused_{0};
  std::mutex mutex_;  // guards services_, held while a handler runs
  std::map<std::string, Service> services_;
  // Only the server's thread uses these:
  std::vector<std::unique_ptr<cluster_internal::HalfOpen>> half_open_;  // oldest first
  Clock::time_point accept_again_{};  // set after the process ran out of descriptors
  Clock::time_point next_report_{};   // refusals are printed once a second
  Clock::time_point next_full_{};     // time of the next line about missing descriptors
  int64_t unreported_ = 0;
  std::thread thread_;
};

}  // namespace distribute
