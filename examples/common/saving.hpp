#pragma once
/// The checkpoints of --checkpoint_dir.

#include "training.hpp"

#include <distribute/checkpoint/checkpoint.hpp>
#include <distribute/checkpoint/checkpoint_manager.hpp>

#include <cstdint>
#include <optional>

namespace examples {

class Saving {
 public:
  /// Makes the weights. Nothing is read or written before open(). `position`: in the data.
  Saving(Training& training, distribute::train::TensorState position);

  /// The weights of --init_checkpoint, if that is given, then open().
  void start(bool any_network = false);
  /// On a task that reads or writes checkpoints; without --checkpoint_dir it does nothing.
  /// Throws  FailedPreconditionError for checkpoints of another network, unless `any_network`.
  void open(bool any_network = false);
  /// Null unless opened.
  distribute::train::CheckpointManager* manager() { return manager_ ? &*manager_ : nullptr; }
  distribute::train::Checkpoint& checkpoint() { return checkpoint_; }
  /// Prints which checkpoint was restored, if any was, and its step.
  void tell_restored() const;
  /// `number`: of the checkpoint; none: one more than the last.
  /// Throws  FailedPreconditionError for weights that are no numbers; UnavailableError where the
  ///         last step could not be saved.
  void save(int64_t step, std::optional<int64_t> number = {});
  /// Waits for a save in the background.
  void sync();

 private:
  void check_same_network(const std::string& saved) const;

  Training& training_;
  distribute::train::Checkpoint checkpoint_;
  std::optional<distribute::train::CheckpointManager> manager_;
};

/// Logs that a job that is told to go has nowhere to save to.
void tell_unsaved();

/// The part "iterator" of a checkpoint. It is not restored where --norestore_position says so: the
/// data may be another one.
distribute::train::TensorState position_in_data(const TrainerOptions& options,
                                                distribute::DistributedIterator& iterator);

}  // namespace examples
