#pragma once
/// The server's end of one data connection.

#include <distribute/base/config.hpp>
#include <distribute/base/monitoring.hpp>
#include <distribute/net/bytes.hpp>
#include <distribute/parameter_server/link_message.hpp>
#include <distribute/parameter_server/server_options.hpp>
#include <distribute/parameter_server/staged_push.hpp>
#include <distribute/parameter_server/store.hpp>
#include <distribute/rpc/peer.hpp>

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace distribute::net {
class Socket;
}

namespace distribute::parameter_server {

/// Bounds the bytes of staged gradients of all sessions. Thread-safe.
class StagingBudget {
 public:
  explicit StagingBudget(int64_t bytes) : most_(bytes) {}
  /// Waits for room; gives it back when the result goes.
  std::shared_ptr<void> take(int64_t bytes);

 private:
  const int64_t most_;
  std::mutex mutex_;  // guards used_
  int64_t used_ = 0;
  std::condition_variable changed_;
};

/// What the sessions of a server share.
struct LinkContext {
  Store& store;
  SyncRounds& rounds;
  StagingBudget& budget;
  const ServerOptions& options;
};

/// Answers requests one after the other until the connection ends, and then lets go of all that the
/// client held here. One thread; stop() from any.
class LinkSession {
 public:
  LinkSession(LinkContext context, std::shared_ptr<rpc::Peer> peer, net::Socket socket);
  ~LinkSession();
  LinkSession(const LinkSession&) = delete;

  void run();
  void stop() const;
  const rpc::Peer& peer() const { return *peer_; }

 private:
  /// A value that follows the head of an answer.
  struct Outgoing {
    StoredVariable* variable = nullptr;
    Snapshot snapshot = {};  // empty: copied piece by piece
    bool halved = false;
  };

  bool serve_one();
  void count(LinkRequest request);
  void handle(LinkRequest request, net::ByteReader& head);
  void release(net::ByteReader& head);
  void share(net::ByteReader& head);
  void pull(net::ByteReader& head);
  void assign(net::ByteReader& head, bool add);
  void fill(net::ByteReader& head);
  void read_rows(net::ByteReader& head);
  void write_rows(net::ByteReader& head);
  void gather(net::ByteReader& head);
  void push(net::ByteReader& head);
  StoredUpdate read_update(net::ByteReader& head, StagedPush& push, bool synchronous);
  void read_gradient(net::ByteReader& head, StoredUpdate& update, StagedPush& push,
                     bool synchronous);
  const float* receive_floats(int64_t count, Where where, StagedPush& push);
  void commit(net::ByteReader& head);
  void commit(StagedPush push, StoredVariable* counter, int64_t max_staleness);
  void apply_rounds(net::ByteReader& head);

  void receive(std::span<std::byte> out);
  void discard(uint64_t bytes);
  void answer(const net::ByteWriter& head = {}, std::span<const std::byte> bytes = {});
  void answer_error(StatusCode code, const std::string& message);
  void send_head(const net::ByteWriter& head, uint64_t bytes);
  void send(std::span<const std::byte> bytes);
  void send(const Outgoing& value);
  void send_halved(const std::byte* values, int64_t count);

  struct Staged {
    StagedPush push;
    StoredVariable* counter = nullptr;
    int64_t max_staleness = -1;
  };

  LinkContext context_;
  std::shared_ptr<rpc::Peer> peer_;
  const std::unique_ptr<net::Socket> socket_;
  int on_lost_ = 0;
  uint64_t unread_ = 0;                        // bytes of the request that are still to come
  bool answered_ = false;                      // the request
  std::shared_ptr<SharedArena> client_arena_;  // null: none is shared
  std::multimap<std::pair<int64_t, int64_t>, Snapshot> lent_;  // by variable and offset
  std::map<int64_t, Staged> staged_;                           // by the push's number
  std::map<LinkRequest, monitoring::CounterCell*> counted_;
};

}  // namespace distribute::parameter_server

#ifdef DISTRIBUTE_HEADER_ONLY
#include <distribute/parameter_server/impl/link_session.ipp>
#endif
