#pragma once
/// Asking a function that runs on this thread to end early.

#include <distribute/base/config.hpp>

#include <atomic>

namespace distribute {

/// Set, from any thread, to end the work.
using CancellationFlag = std::atomic<bool>;

/// What the calling thread does from here to the end of the scope can be cancelled by `flag`,
/// which must live as long; null shields it.
/// Source  tf.cancellation.CancellationManagerContext
class [[nodiscard]] CancellationScope {
 public:
  explicit CancellationScope(const CancellationFlag* flag);
  ~CancellationScope();
  CancellationScope(const CancellationScope&) = delete;
  CancellationScope& operator=(const CancellationScope&) = delete;

 private:
  const CancellationFlag* outer_;
};

bool is_cancelled();  // whether this thread's work is to end

/// For long loops; reading the next element of a dataset asks, too.
/// Throws  CancelledError when the calling thread's work is not wanted any more.
void throw_if_cancelled();

}  // namespace distribute
