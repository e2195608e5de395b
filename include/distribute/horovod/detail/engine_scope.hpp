#pragma once
/// Which engine the hvd functions of a thread use.

#include <distribute/base/config.hpp>

#include <memory>

namespace distribute::horovod_internal {

class Engine;

/// What the hvd functions of the calling thread use: of the innermost EngineScope, else of the
/// process.
/// Throws  FailedPreconditionError before hvd::init() and after hvd::shutdown().
std::shared_ptr<Engine> engine();
/// The same, null before hvd::init(); after hvd::shutdown() one that has stopped.
std::shared_ptr<Engine> last_engine();
/// Makes it the scope's or the process's.
void set_engine(std::shared_ptr<Engine> engine);

/// A rank as a thread: hvd functions of the calling thread use this engine.
class [[nodiscard]] EngineScope {
 public:
  explicit EngineScope(std::shared_ptr<Engine> engine);
  ~EngineScope();
  EngineScope(const EngineScope&) = delete;
  EngineScope& operator=(const EngineScope&) = delete;
};

}  // namespace distribute::horovod_internal
