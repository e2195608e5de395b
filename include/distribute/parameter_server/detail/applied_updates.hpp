#pragma once
/// Prevents a function that runs twice from updating twice.

#include <distribute/base/config.hpp>
#include <distribute/parameter_server/detail/push.hpp>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <tuple>
#include <utility>

namespace distribute::parameter_server {

class StoredVariable;

/// Records the updates that a server has applied for coordinators' functions, which may run again,
/// variable by variable: a worker that fails may leave some variables updated and others not.
/// Thread-safe.
/// 1. An update is recorded from add() on, unless newer ones have filled the capacity.
/// 2. Records of a function that has ended are removed; updates that a frozen worker sends for it
///    later count as applied.
class AppliedUpdates {
 public:
  /// Keeps at most `capacity` updates, the newest ones, even if coordinators do not say that
  /// functions have ended, as they may be lost.
  explicit AppliedUpdates(size_t capacity = size_t{1} << 18) : capacity_(capacity) {}

  /// Whether the variable has not had this update yet; it is then recorded. Always true for updates
  /// of no function. `part` is the number among several updates of the variable in one push.
  bool add(const UpdateOrigin& origin, const StoredVariable* variable, int part = 0);
  bool contains(const UpdateOrigin& origin, const StoredVariable* variable) const;
  /// Returns the number of updates kept.
  size_t size() const;

  /// Marks, while it lives, that a push of `origin` is being applied.
  class [[nodiscard]] Applying {
   public:
    Applying(AppliedUpdates& all, const UpdateOrigin& origin);
    ~Applying();
    Applying(const Applying&) = delete;
    Applying& operator=(const Applying&) = delete;

   private:
    AppliedUpdates& all_;
    const UpdateOrigin origin_;
  };
  /// Blocks  until no push of `origin` is being applied, which takes only computing time.
  void wait_until_applied(const UpdateOrigin& origin);

 private:
  using Update = std::tuple<uint64_t, const StoredVariable*, int>;  // number, variable, part
  struct Session {
    uint64_t settled = 0;  // lower functions have ended
    std::map<uint64_t, std::set<Update>> functions;
  };
  using Function = std::pair<uint64_t, uint64_t>;  // session, function
  void settle(Session& session, uint64_t settled);
  void forget(const Function& function);
  bool is_known(const Function& function) const;

  const size_t capacity_;
  mutable std::mutex mutex_;  // guards the rest
  std::map<uint64_t, Session> sessions_;
  std::deque<Function> by_age_;
  size_t count_ = 0;  // of updates
  std::map<UpdateOrigin, int> under_way_;
  std::condition_variable ended_;
};

}  // namespace distribute::parameter_server
