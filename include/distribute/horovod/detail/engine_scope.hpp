#pragma once
/// Finds the engine that the hvd functions of a thread use.

#include <distribute/base/config.hpp>

#include <memory>

namespace distribute::horovod_internal {

class Engine;

/// The engine of the calling thread's hvd functions: that of the innermost EngineScope, else that
/// of the process.
/// Throws  FailedPreconditionError before hvd::init() and after hvd::shutdown().
std::shared_ptr<Engine> engine();
/// Returns the engine like engine(), but null before hvd::init(), and the stopped engine after
/// hvd::shutdown().
std::shared_ptr<Engine> last_engine();
/// Sets the engine of the innermost scope, or of the process.
void set_engine(std::shared_ptr<Engine> engine);

/// Makes a thread act as a rank: hvd functions of the calling thread use this engine.
class [[nodiscard]] EngineScope {
 public:
  explicit EngineScope(std::shared_ptr<Engine> engine);
  ~EngineScope();
  EngineScope(const EngineScope&) = delete;
  EngineScope& operator=(const EngineScope&) = delete;
};

}  // namespace distribute::horovod_internal
