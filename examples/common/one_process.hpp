#pragma once
/// Strategies without other tasks (one_device, mirrored, central_storage, and parameter_server
/// without a cluster), and multi_worker, whose workers make each step together.

#include "way.hpp"

#include <memory>
#include <optional>

namespace distribute::train {
class PreemptionNotice;
}

namespace examples {

class OneProcess : public Way {
 public:
  explicit OneProcess(Training& training);
  ~OneProcess() override;

  /// All workers save at the same step and leave, when one of them is told to go.
  void before_step() override;

 protected:
  void begin() override;

 private:
  std::unique_ptr<distribute::train::PreemptionNotice> notice_;  // --preemption_notice
  std::optional<distribute::PreemptionCheckpointHandler> preemption_;
};

/// --preemption_notice; null without it.
std::unique_ptr<distribute::train::PreemptionNotice> preemption_notice(const TrainerOptions& o);

}  // namespace examples
