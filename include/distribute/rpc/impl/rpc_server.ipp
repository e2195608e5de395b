#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/base/threads.hpp>
#include <distribute/cluster/detail/task_server.hpp>
#include <distribute/rpc/detail/peer_monitor.hpp>
#include <distribute/rpc/detail/rpc_message.hpp>
#include <distribute/rpc/detail/rpc_server.hpp>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <list>
#include <map>
#include <mutex>
#include <thread>

namespace distribute::rpc {

struct RpcServer::Impl {
  struct Entry {
    Method method;
    std::atomic<bool> removed{false};
    int running = 0;  // guarded by mutex
  };
  struct Connection {
    Connection(net::Socket the_socket, std::shared_ptr<Peer> the_peer)
        : socket(std::move(the_socket)), peer(std::move(the_peer)) {}
    net::Socket socket;
    std::shared_ptr<Peer> peer;
    int on_lost = 0;
    std::atomic<bool> over{false};
    std::thread thread;
  };

  void accept(TaskConnection incoming);
  void serve(Connection& connection);
  void serve_to_end(Connection& connection);
  bool answer_one(Connection& connection);
  AnswerMessage run(Connection& connection, const CallMessage& call, std::shared_ptr<Entry>& entry,
                    std::string& body, std::string& error);
  std::shared_ptr<Entry> find(const std::string& name, const std::function<bool()>& cancelled);
  void finish(Entry& entry);
  bool hung_up(const Connection& connection) const;

  TaskServer* task = nullptr;
  PeerMonitor* monitor = nullptr;
  int64_t most = 0;
  std::atomic<bool> stopping{false};
  std::mutex mutex;  // guards the two below
  std::map<std::string, std::shared_ptr<Entry>> methods;
  std::list<Connection> connections;
  std::condition_variable changed;  // a method was added, or has returned
};

DISTRIBUTE_INLINE RpcServer::RpcServer(TaskServer& task, PeerMonitor& monitor,
                                       int64_t max_message_bytes)
    : impl_(std::make_unique<Impl>()) {
  impl_->task = &task;
  impl_->monitor = &monitor;
  impl_->most = max_message_bytes;
  task.serve(kRpcPurpose, [impl = impl_.get()](TaskConnection connection) {
    impl->accept(std::move(connection));
  });
}

DISTRIBUTE_INLINE RpcServer::~RpcServer() {
  impl_->task->stop_serving(kRpcPurpose);
  impl_->stopping = true;
  impl_->changed.notify_all();
  for (auto& connection : impl_->connections) {
    connection.socket.shutdown();
    connection.thread.join();
  }
}

DISTRIBUTE_INLINE void RpcServer::add(const std::string& name, Method method) {
  const std::lock_guard lock(impl_->mutex);
  auto entry = std::make_shared<Impl::Entry>();
  entry->method = std::move(method);
  if (!impl_->methods.emplace(name, std::move(entry)).second)
    throw AlreadyExistsError(str_cat("the method \"", name, "\" is served already"));
  impl_->changed.notify_all();
}

DISTRIBUTE_INLINE void RpcServer::remove(const std::string& name) {
  std::unique_lock lock(impl_->mutex);
  const auto found = impl_->methods.find(name);
  if (found == impl_->methods.end()) return;
  const auto entry = found->second;
  impl_->methods.erase(found);
  entry->removed = true;
  impl_->changed.wait(lock, [&] { return entry->running == 0; });
}

DISTRIBUTE_INLINE void RpcServer::Impl::accept(TaskConnection incoming) {
  const net::TaskIdentity& who = incoming.hello.client;
  auto peer = monitor->client(who.type, who.index, who.incarnation);
  if (!peer) return;  // it is lost: its end of the connection breaks
  const std::lock_guard lock(mutex);
  connections.remove_if([](Connection& connection) {
    if (!connection.over) return false;
    connection.thread.join();
    return true;
  });
  Connection& connection = connections.emplace_back(std::move(incoming.socket), std::move(peer));
  connection.on_lost = connection.peer->on_lost([&] { connection.socket.shutdown(); });
  try {
    connection.thread = base_internal::start_thread(
        "calls of " + connection.peer->text(), [this, &connection] { serve_to_end(connection); });
  } catch (const ResourceExhaustedError&) {
    connection.peer->remove_on_lost(connection.on_lost);
    connections.pop_back();
    throw;
  }
}

DISTRIBUTE_INLINE void RpcServer::Impl::serve(Connection& connection) {
  while (!stopping && answer_one(connection)) {
  }
}

/// Ends the connection if a call cannot be answered, such as for lack of memory.
DISTRIBUTE_INLINE void RpcServer::Impl::serve_to_end(Connection& connection) {
  try {
    serve(connection);
  } catch (const std::exception& error) {
    log_error("rpc",
              str_cat("the connection of ", connection.peer->text(), " is cut: ", error.what()));
  }
  connection.peer->remove_on_lost(connection.on_lost);
  connection.socket.shutdown();
  connection.over = true;
}

/// Returns false when the connection is closed.
DISTRIBUTE_INLINE bool RpcServer::Impl::answer_one(Connection& connection) {
  constexpr double kForEver = 1e8;  // the monitor ends the connection of a lost task
  const auto frame = net::read_frame(connection.socket, uint64_t(most + kRpcHeadBytes),
                                     net::Deadline::after_seconds(kForEver));
  if (!frame.ok() || frame->type != uint16_t(RpcFrame::Call)) return false;
  std::string body, error;
  std::shared_ptr<Entry> entry;
  AnswerMessage answer;
  try {
    answer =
        run(connection, value_or_throw(net::parse_message<CallMessage>(frame->payload, "call")),
            entry, body, error);
  } catch (const InvalidArgumentError&) {  // a damaged message
    return false;
  }
  const std::string bytes = net::encode_frame_of(uint16_t(RpcFrame::Answer), answer);
  const bool sent =
      connection.socket
          .write(std::as_bytes(std::span(bytes)), net::Deadline::after_seconds(kForEver))
          .ok();
  if (entry) finish(*entry);  // only now: who removes the method may end the connection
  return sent;
}

DISTRIBUTE_INLINE AnswerMessage RpcServer::Impl::run(Connection& connection,
                                                     const CallMessage& call,
                                                     std::shared_ptr<Entry>& entry,
                                                     std::string& body, std::string& error) {
  StatusCode code = StatusCode::Ok;
  try {
    const auto deadline = net::Deadline::after(std::chrono::nanoseconds(call.nanoseconds));
    const auto cancelled = [&, deadline] {
      return stopping || (entry && entry->removed) || deadline.passed() || hung_up(connection);
    };
    entry = find(std::string(call.method), cancelled);
    body = entry->method(Call(connection.peer, call.body, deadline, cancelled));
    if (int64_t(body.size()) > most)
      throw ResourceExhaustedError(str_cat("the answer has ", body.size(), " bytes where at most ",
                                           most, " are allowed (DISTRIBUTE_MAX_MESSAGE_BYTES)"));
  } catch (const Error& thrown) {
    code = thrown.code();
    error = thrown.what();
  } catch (const std::exception& thrown) {
    code = StatusCode::Unknown;
    error = thrown.what();
  }
  if (code != StatusCode::Ok) body.clear();
  return {call.id, code, std::string_view(error).substr(0, kRpcHeadBytes / 2), body};
}

DISTRIBUTE_INLINE std::shared_ptr<RpcServer::Impl::Entry> RpcServer::Impl::find(
    const std::string& name, const std::function<bool()>& cancelled) {
  std::unique_lock lock(mutex);
  for (;;) {
    const auto found = methods.find(name);
    if (found != methods.end()) {
      ++found->second->running;
      return found->second;
    }
    if (cancelled())
      throw UnimplementedError(str_cat("it does not serve the method \"", name, "\" (yet)"));
    changed.wait_for(lock, std::chrono::milliseconds(50));
  }
}

DISTRIBUTE_INLINE void RpcServer::Impl::finish(Entry& entry) {
  const std::lock_guard lock(mutex);
  --entry.running;
  changed.notify_all();
}

DISTRIBUTE_INLINE bool RpcServer::Impl::hung_up(const Connection& connection) const {
  return connection.peer->lost() || connection.socket.has_ended();
}

}  // namespace distribute::rpc
