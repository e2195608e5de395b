#pragma once
/// All variables of one server.

#include <distribute/base/config.hpp>
#include <distribute/parameter_server/detail/shared_arena.hpp>
#include <distribute/parameter_server/detail/stored_variable.hpp>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace distribute::parameter_server {

/// Finds variables by key, and makes each get its first value exactly once. Thread-safe.
class Store {
 public:
  /// Whether the caller no longer waits for the answer; called several times a second.
  using Cancelled = std::function<bool()>;
  /// The client that initializes a variable, and whether it is lost.
  struct Creator {
    std::string name;
    std::function<bool()> gone;
  };

  /// `arena` may be null.
  explicit Store(std::shared_ptr<SharedArena> arena) : arena_(std::move(arena)) {}

  const std::shared_ptr<SharedArena>& arena() const { return arena_; }
  /// A variable's number, for at().
  struct Created {
    int handle = 0;
    bool initialize = false;  // the caller must write the first value and call created()
  };
  /// Finds or creates a variable. Waits while another task initializes it, and takes over when that
  /// task is lost.
  /// Throws  InvalidArgumentError with both shapes and dtypes when they differ; CancelledError.
  Created create(const std::string& key, const Shape& shape, DType dtype, Creator creator,
                 const Cancelled& cancelled);
  void created(int handle);
  /// Waits until a task has created it. Throws as create().
  int attach(const std::string& key, const Shape& shape, DType dtype, const std::string& who,
             const Cancelled& cancelled);
  bool exists(const std::string& key) const;
  /// Throws  InvalidArgumentError
  StoredVariable& at(int64_t handle) const;
  /// Returns the total bytes of all variables.
  int64_t bytes() const;

 private:
  struct Entry {
    std::unique_ptr<StoredVariable> variable;
    Creator creator;
    bool ready = false;
  };
  static void check(const Entry& entry, const Shape& shape, DType dtype, const std::string& who);
  void wait(std::unique_lock<std::mutex>& lock, const Cancelled& cancelled);

  std::shared_ptr<SharedArena> arena_;
  mutable std::mutex mutex_;  // guards the next two members; entries are never removed
  std::vector<std::unique_ptr<Entry>> entries_;
  std::map<std::string, int> handles_;
  std::condition_variable changed_;
};

}  // namespace distribute::parameter_server
