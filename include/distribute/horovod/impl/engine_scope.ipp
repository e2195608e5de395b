#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/horovod/detail/engine.hpp>
#include <distribute/horovod/detail/engine_scope.hpp>

#include <utility>
#include <vector>

namespace distribute::horovod_internal {

/// The engine of hvd::init().
struct InitializedEngine {
  std::shared_ptr<Engine> engine;
};

/// The engines of the calling thread's scopes, the innermost last.
DISTRIBUTE_INLINE std::vector<std::shared_ptr<Engine>>& engine_stack() {
  return base_internal::in_thread_context<base_internal::ContextPlace{12, 0, true},
                                          std::vector<std::shared_ptr<Engine>>>();
}

DISTRIBUTE_INLINE EngineScope::EngineScope(std::shared_ptr<Engine> engine) {
  engine_stack().push_back(std::move(engine));
}
DISTRIBUTE_INLINE EngineScope::~EngineScope() { engine_stack().pop_back(); }

DISTRIBUTE_INLINE std::shared_ptr<Engine> last_engine() {
  if (!engine_stack().empty()) return engine_stack().back();
  return in_process<InitializedEngine>().engine;
}

DISTRIBUTE_INLINE std::shared_ptr<Engine> engine() {
  auto found = last_engine();
  if (!found || found->stopped())
    throw FailedPreconditionError(
        "Horovod's functions need hvd::init(): it has not been called, or shutdown() has");
  return found;
}

DISTRIBUTE_INLINE void set_engine(std::shared_ptr<Engine> engine) {
  if (engine_stack().empty())
    in_process<InitializedEngine>().engine = std::move(engine);
  else
    engine_stack().back() = std::move(engine);
}

}  // namespace distribute::horovod_internal
