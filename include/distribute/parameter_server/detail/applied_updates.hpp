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

namespace distribute::parameter_server {

class StoredVariable;

/// The last updates of coordinators' functions that a server has applied, variable by variable: a
/// worker that dies may leave some variables updated and others not. Thread-safe.
class AppliedUpdates {
 public:
  /// Who runs a function again does so sooner than so many others are applied.
  explicit AppliedUpdates(size_t capacity = size_t{1} << 18) : capacity_(capacity) {}

  /// Whether the variable has not had this update yet, and from now on it has. Always true for what
  /// no function has sent. `part`: which one of several for the variable in one push.
  bool add(const UpdateOrigin& origin, const StoredVariable* variable, int part = 0);
  bool contains(const UpdateOrigin& origin, const StoredVariable* variable) const;

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
  /// Blocks  until nobody applies a push of `origin`, which takes computing alone.
  void wait_until_applied(const UpdateOrigin& origin);

 private:
  using Key = std::tuple<UpdateOrigin, const StoredVariable*, int>;
  const size_t capacity_;
  mutable std::mutex mutex_;  // guards the rest
  std::set<Key> known_;
  std::deque<std::set<Key>::iterator> by_age_;
  std::map<UpdateOrigin, int> under_way_;
  std::condition_variable ended_;
};

}  // namespace distribute::parameter_server
