#pragma once
/// Agreements of all tasks of a job, on server 0: the server of each variable, and texts that tasks
/// exchange.

#include <distribute/base/config.hpp>
#include <distribute/parameter_server/detail/store.hpp>
#include <distribute/parameter_server/variable_spec.hpp>

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace distribute::parameter_server {

/// Server numbers of variables, and small values by key. Thread-safe.
class Directory {
 public:
  explicit Directory(int servers) : loads_(size_t(servers)) {}

  /// Returns the server of a variable, which the first call decides. `who` is for errors. Round
  /// robin counts the variables without a forced server; a colocated one does not count.
  /// Throws  InvalidArgumentError for a server that does not exist, another one than before, or a
  ///          colocate_with that is not placed yet.
  int place(const VariableSpec& spec, Placement placement, const std::string& who);
  /// Waits until the variable is placed. Throws  CancelledError
  int find(const std::string& key, const Store::Cancelled& cancelled);
  /// Returns -1 when the key is not placed.
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
  int64_t next_ = 0;            // of round robin: the next server
  std::map<std::string, std::string> values_;
};

}  // namespace distribute::parameter_server
