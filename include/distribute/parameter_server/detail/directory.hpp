#pragma once
/// What all tasks of a job must agree on: which server holds which variable, and words they leave
/// for each other. Lives on server 0.

#include <distribute/base/config.hpp>
#include <distribute/parameter_server/detail/store.hpp>
#include <distribute/parameter_server/variable_spec.hpp>

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace distribute::parameter_server {

/// Which server has which variable, and small values by key. Thread-safe.
class Directory {
 public:
  explicit Directory(int servers) : loads_(size_t(servers)) {}

  /// The server of a variable; decided once, by the first task that asks. `who` is for errors.
  /// Round robin counts the variables without a forced server; a colocated one does not count.
  /// Throws  InvalidArgumentError for a server that does not exist, another one than before, or a
  ///         colocate_with that is not placed yet.
  int place(const VariableSpec& spec, Placement placement, const std::string& who);
  /// Waits until it is placed. Throws  CancelledError
  int find(const std::string& key, const Store::Cancelled& cancelled);
  /// Gives -1 when the key is nowhere.
  int find_now(const std::string& key) const;

  /// Sets the key for get() of all tasks.
  void set(const std::string& key, const std::string& value);
  /// Waits until the key is set. Throws  CancelledError
  std::string get(const std::string& key, const Store::Cancelled& cancelled);

 private:
  int choose(const VariableSpec& spec, Placement placement);

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::map<std::string, int> servers_;
  std::vector<int64_t> loads_;  // bytes of each server
  int64_t next_ = 0;            // of round robin
  std::map<std::string, std::string> values_;
};

}  // namespace distribute::parameter_server
