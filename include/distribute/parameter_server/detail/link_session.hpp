#pragma once
/// The server's end of one data connection.

#include <distribute/base/config.hpp>
#include <distribute/base/monitoring.hpp>
#include <distribute/parameter_server/detail/applied_updates.hpp>
#include <distribute/parameter_server/detail/link_message.hpp>
#include <distribute/parameter_server/detail/link_stream.hpp>
#include <distribute/parameter_server/detail/push_message.hpp>
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
#include <string_view>
#include <utility>
#include <vector>

namespace distribute::optim {
class Optimizer;
}

namespace distribute::parameter_server {

/// State that the sessions of a server share.
struct LinkContext {
  Store& store;
  SyncRounds& rounds;
  AppliedUpdates& applied;
  StagingBudget& budget;
  const ServerOptions& options;
};

/// Answers requests in order until the connection ends, and then releases all that the client held
/// here. One thread runs it; any thread may call stop().
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
  void handle(LinkRequest request, std::string_view body);
  void release(const std::vector<ReleasedBlock>& blocks);
  void share(const ShareRequest& request);
  void pull(const PullRequest& request);
  void register_optimizer(const OptimizerMessage& message);
  const optim::Optimizer& optimizer(uint32_t id) const;
  void push(const PushMessage& message);
  void commit(const StagedRequest& request);
  void commit(StagedPush push, StoredVariable* counter, int64_t max_staleness);
  std::optional<int64_t> count_step(const StagedPush& push, StoredVariable& counter,
                                    int64_t max_staleness);
  size_t drop_repeated(StagedPush& push);
  void apply_rounds(const std::vector<SyncRound>& rounds);

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
  std::map<uint32_t, std::shared_ptr<const optim::Optimizer>> optimizers_;  // by their ids
  // by the number of the push
  std::map<int64_t, Staged> staged_;
  std::map<LinkRequest, monitoring::CounterCell*> counted_;
};

}  // namespace distribute::parameter_server
