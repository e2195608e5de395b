#pragma once
/// Another task of the job as this one sees it: one start of it, alive or lost.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/cluster/detail/standstill.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace distribute::rpc {

/// Identifies one start of one task.
struct PeerName {
  std::string type;
  int index = 0;
  std::string address = {};  // as in the cluster; of a client: as its connection shows it
  uint64_t incarnation = 0;  // drawn anew with every start
  std::string listens = {};  // of a client: the address at which it listens, as it reports

  /// Returns "worker 2".
  std::string name() const;
  /// Returns "worker 2 (10.0.0.3:2222)".
  std::string text() const;
};

/// A call, or what waited for another task, ended because that task is lost. task() tells which.
class LostTaskError : public UnavailableError {
 public:
  LostTaskError(PeerName task, const std::string& message)
      : UnavailableError(message), task_(std::move(task)) {}
  const PeerName& task() const { return task_; }

 private:
  PeerName task_;
};

/// One start of another task. Once lost it stays lost: a task that comes back is another Peer.
/// Thread-safe.
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
  /// Throws  LostTaskError "worker 2 (10.0.0.3:2222) is lost: ..." when it is.
  void throw_if_lost() const;
  /// Runs `callback` once when the task is lost, at once when it is already. It runs on the
  /// monitor's thread and must neither block nor throw. Returns a number for remove_on_lost().
  int on_lost(std::function<void()> callback);
  /// Removes a callback, which does not run after this call.
  void remove_on_lost(int id);

  /// Whether it has announced that it was told to leave, and is still there.
  bool is_leaving() const { return leaving_; }
  void note_leaving() { leaving_ = true; }

  /// Marks the task as lost. Only the first reason counts, with the text that `standstill` adds to
  /// it. PeerMonitor calls it.
  void lose(const std::string& reason);
  void watch(std::shared_ptr<const cluster_internal::Standstill> standstill);

 private:
  const PeerName name_;
  std::atomic<bool> leaving_{false};
  mutable std::recursive_mutex mutex_;  // guards the members below; held while callbacks run
  bool lost_ = false;
  std::string reason_;
  std::shared_ptr<const cluster_internal::Standstill> standstill_;
  std::map<int, std::function<void()>> callbacks_;
  int last_callback_ = 0;
};

}  // namespace distribute::rpc
