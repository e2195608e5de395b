#pragma once
/// Cancels work of a thread from another one.

#include <distribute/base/config.hpp>

#include <atomic>

namespace distribute {

/// Any thread sets it to end the work.
using CancellationFlag = std::atomic<bool>;

/// Lets `flag`, which must live as long, cancel the calling thread's work until the end of the
/// scope; null protects the work from cancellation.
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

bool is_cancelled();  // whether this thread's work must end

/// For long loops; it is also called when the next element of a dataset is read.
/// Throws  CancelledError when the calling thread's work is cancelled.
void throw_if_cancelled();

}  // namespace distribute
