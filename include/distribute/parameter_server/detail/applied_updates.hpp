#pragma once
/// What keeps a function that runs twice from counting twice.

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

/// The updates that a server has applied of coordinators' functions that may run again, variable by
/// variable: a worker that dies may leave some variables updated and others not. A function that
/// has ended is forgotten; what a worker sends for it later, which was frozen meanwhile, counts as
/// applied. Thread-safe.
class AppliedUpdates {
 public:
  /// Keeps `capacity` updates at most, the newest ones, whatever coordinators say: one may be gone
  /// for good.
  explicit AppliedUpdates(size_t capacity = size_t{1} << 18) : capacity_(capacity) {}

  /// Whether the variable has not had this update yet, and from now on it has. Always true for what
  /// no function has sent. `part`: which one of several for the variable in one push.
  bool add(const UpdateOrigin& origin, const StoredVariable* variable, int part = 0);
  bool contains(const UpdateOrigin& origin, const StoredVariable* variable) const;
  /// How many are kept.
  size_t size() const;

  /// Says, while it lives, that a push of `origin` is being applied.
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
  /// Blocks  until no push of `origin` is being applied, which takes computing alone.
  void wait_until_applied(const UpdateOrigin& origin);

 private:
  using Update = std::tuple<uint64_t, const StoredVariable*, int>;  // number, variable, part
  struct Session {
    uint64_t settled = 0;  // functions below it have ended
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
