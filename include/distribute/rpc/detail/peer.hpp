#pragma once
/// Another task of the job as this one sees it: one start of it, alive or lost.

#include <distribute/base/config.hpp>
#include <distribute/cluster/detail/standstill.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace distribute::rpc {

/// One start of one task.
struct PeerName {
  std::string type;
  int index = 0;
  std::string address = {};  // as the cluster names it; of a client: as its connection shows it
  uint64_t incarnation = 0;  // drawn anew with every start
  std::string listens = {};  // of a client: the address that it says it listens on

  /// "worker 2".
  std::string name() const;
  /// "worker 2 (10.0.0.3:2222)".
  std::string text() const;
};

/// Once lost it stays lost: a task that comes back is another Peer. Thread-safe.
class Peer {
 public:
  explicit Peer(PeerName name) : name_(std::move(name)) {}
  Peer(const Peer&) = delete;

  const PeerName& name() const { return name_; }
  const std::string& type() const { return name_.type; }
  int index() const { return name_.index; }
  uint64_t incarnation() const { return name_.incarnation; }
  std::string text() const { return name_.text(); }

  bool lost() const;
  /// Throws  UnavailableError "worker 2 (10.0.0.3:2222) is lost: ..." when it is.
  void throw_if_lost() const;
  /// Runs `callback` once when the task is lost, at once when it is already. It runs on the
  /// monitor's thread and must neither block nor throw. Gives a number for remove_on_lost().
  int on_lost(std::function<void()> callback);
  /// After it the callback does not run any more.
  void remove_on_lost(int id);

  /// Whether it has said that it was told to go, and is still there.
  bool is_leaving() const { return leaving_; }
  void note_leaving() { leaving_ = true; }

  /// The first reason counts, with what `standstill` adds to it. PeerMonitor calls it when the task
  /// is lost.
  void lose(const std::string& reason);
  void watch(std::shared_ptr<const cluster_internal::Standstill> standstill);

 private:
  const PeerName name_;
  std::atomic<bool> leaving_{false};
  mutable std::recursive_mutex mutex_;  // guards all below; held while callbacks run
  bool lost_ = false;
  std::string reason_;
  std::shared_ptr<const cluster_internal::Standstill> standstill_;
  std::map<int, std::function<void()>> callbacks_;
  int last_callback_ = 0;
};

}  // namespace distribute::rpc
