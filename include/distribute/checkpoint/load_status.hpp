#pragma once
/// What became of a restore: which values and variables found each other.

#include <distribute/base/config.hpp>
#include <distribute/checkpoint/checkpoint_parts.hpp>

#include <memory>

namespace distribute {
namespace checkpoint_internal {
class Restoration;
}  // namespace checkpoint_internal
namespace train {

/// Values for variables that do not exist yet wait until these are created; ask again afterwards.
/// Asking needs the checkpoint's objects alive. Copies share one state. One thread.
/// Source  tf.train.Checkpoint.restore's status
class LoadStatus {
 public:
  LoadStatus(std::shared_ptr<checkpoint_internal::Restoration> restoration, CheckpointParts parts);

  /// Every value of the file found its variable, and every variable its value.
  /// Throws  FailedPreconditionError that names the first which did not.
  const LoadStatus& assert_consumed() const;
  /// Every variable that exists got a value. Throws as assert_consumed.
  const LoadStatus& assert_existing_objects_matched() const;
  /// Something was restored. Throws as assert_consumed.
  const LoadStatus& assert_nontrivial_match() const;
  /// No warning about values that no object took.
  const LoadStatus& expect_partial() const;

 private:
  std::shared_ptr<checkpoint_internal::Restoration> restoration_;
  CheckpointParts parts_;
};

}  // namespace train
}  // namespace distribute
