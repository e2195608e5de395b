#pragma once
/// Variables that each worker keeps for itself, wherever its strategy places other variables.

#include <distribute/base/config.hpp>
#include <distribute/base/process_state.hpp>

namespace distribute::replica_internal {

inline int& own_variable_scopes() {
  return base_internal::in_thread_context<base_internal::ContextPlace{4, 2}, int>();
}

/// Marks variables that the calling thread makes while the object lives as local to the worker,
/// such as the sums of a metric. Workers that train independently then do not share them on
/// parameter servers.
/// Source  tf.compat.v1.GraphKeys.LOCAL_VARIABLES
class [[nodiscard]] OwnVariables {
 public:
  OwnVariables() { ++own_variable_scopes(); }
  ~OwnVariables() { --own_variable_scopes(); }
  OwnVariables(const OwnVariables&) = delete;
  OwnVariables& operator=(const OwnVariables&) = delete;

  static bool wanted() { return own_variable_scopes() > 0; }
};

}  // namespace distribute::replica_internal
