#pragma once
/// Variables that each worker has for itself, wherever its strategy puts others.

#include <distribute/base/config.hpp>
#include <distribute/base/thread_context.hpp>

namespace distribute::replica_internal {

inline int& own_variable_scopes() {
  return base_internal::in_thread_context<base_internal::ContextPlace{4, 2}, int>();
}

/// What the calling thread makes while it lives is added up by each worker alone, such as a
/// metric's numbers: workers that train by themselves do not share it on their servers.
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
