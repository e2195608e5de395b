#pragma once
/// --strategy=multi_worker: every worker runs this program, and all make each step together.

#include "one_process.hpp"

namespace examples {

/// Checkpoints, loop and test are those of one process: the strategy makes the workers one.
class MultiWorker : public OneProcess {
 public:
  using OneProcess::OneProcess;
  /// Throws  InvalidArgumentError when workers have different numbers of images, since they would
  ///         make different numbers of steps.
  void begin() override;
};

/// The same check for any strategy whose replicas can gather.
void check_same_data(Training& training);

}  // namespace examples
