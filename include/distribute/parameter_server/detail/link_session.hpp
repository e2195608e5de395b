#pragma once
/// The server's end of one data connection.

#include <distribute/base/config.hpp>
#include <distribute/base/monitoring.hpp>
#include <distribute/net/bytes.hpp>
#include <distribute/parameter_server/detail/applied_updates.hpp>
#include <distribute/parameter_server/detail/link_message.hpp>
#include <distribute/parameter_server/detail/link_stream.hpp>
#include <distribute/parameter_server/detail/shared_arena.hpp>
#include <distribute/parameter_server/detail/staged_push.hpp>
#include <distribute/parameter_server/detail/staging_budget.hpp>
#include <distribute/parameter_server/detail/store.hpp>
#include <distribute/parameter_server/parameter_server.hpp>
#include <distribute/rpc/detail/peer.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace distribute::parameter_server {

/// What the sessions of a server share.
struct LinkContext {
  Store& store;
  SyncRounds& rounds;
  AppliedUpdates& applied;
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
  void stop() const { stream_.stop(); }
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
  void push(net::ByteReader& head);
  void commit(net::ByteReader& head);
  void commit(StagedPush push, StoredVariable* counter, int64_t max_staleness);
  std::optional<int64_t> count_step(const StagedPush& push, StoredVariable& counter,
                                    int64_t max_staleness);
  size_t drop_repeated(StagedPush& push);
  void apply_rounds(net::ByteReader& head);

  void send(const Outgoing& value);

  struct Staged {
    StagedPush push;
    StoredVariable* counter = nullptr;
    int64_t max_staleness = -1;
  };

  LinkContext context_;
  std::shared_ptr<rpc::Peer> peer_;
  LinkStream stream_;
  int on_lost_ = 0;
  std::shared_ptr<SharedArena> client_arena_;                  // null: none is shared
  std::multimap<std::pair<int64_t, int64_t>, Snapshot> lent_;  // by variable and offset
  std::map<int64_t, Staged> staged_;                           // by the push's number
  std::map<LinkRequest, monitoring::CounterCell*> counted_;
};

}  // namespace distribute::parameter_server
