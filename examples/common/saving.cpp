#include "saving.hpp"

#include <cstdio>

namespace dist = distribute;

namespace examples {

Saving::Saving(Training& training, dist::train::TensorState position)
    : training_(training),
      checkpoint_({{"model", &training_.model},
                   {"optimizer", &training_.saved_optimizer()},
                   {"iterator", std::move(position)}}) {
  training_.build_model();
}

void Saving::start(bool any_network) {
  if (!training_.options.init_checkpoint.empty())
    dist::train::load_weights(training_.options.init_checkpoint, training_.model.variables());
  open(any_network);
}

void Saving::open(bool any_network) {
  if (training_.options.checkpoint_dir.empty()) return;
  manager_.emplace(
      checkpoint_,
      dist::train::CheckpointManagerOptions{
          .directory = training_.options.checkpoint_dir, .max_to_keep = 3, .max_failed_saves = 3});
  if (const auto& saved = manager_->latest_checkpoint(); saved && !any_network)
    check_same_network(*saved);
}

/// Another network's checkpoint would leave some of the weights as they were made.
void Saving::check_same_network(const std::string& saved) const {
  dist::train::Checkpoint weights({{"model", &training_.model}});
  try {
    weights.restore(saved).expect_partial().assert_existing_objects_matched();
  } catch (const dist::FailedPreconditionError& error) {
    throw dist::FailedPreconditionError(dist::str_cat(
        "--checkpoint_dir=", training_.options.checkpoint_dir,
        " has checkpoints of another network; give it a directory of its own: ", error.what()));
  }
}

void Saving::tell_restored() const {
  if (!manager_) return;
  if (const auto& path = manager_->latest_checkpoint())
    std::printf("restored %s at step %lld\n", path->c_str(),
                (long long)training_.optimizer->iterations());
}

void Saving::save(int64_t step, std::optional<int64_t> number) {
  if (!manager_) return;
  dist::train::check_worth_saving(training_.model.variables(), step);
  const auto saved =
      manager_->save(number, true, {.enable_async = training_.options.async_checkpoint});
  if (!saved && step >= training_.total_steps)
    throw dist::UnavailableError(dist::str_cat(
        "the weights of the last step could not be saved in ", training_.options.checkpoint_dir));
}

void Saving::sync() {
  if (manager_) manager_->sync();
}

dist::train::TensorState position_in_data(const TrainerOptions& o,
                                          dist::DistributedIterator& iterator) {
  dist::train::TensorState position = dist::train::state_of(iterator);
  position.restore = [&o, restore = position.restore](const dist::Tensor& saved) {
    if (!o.restore_position) return;
    try {
      restore(saved);
    } catch (const dist::InvalidArgumentError& error) {
      throw dist::InvalidArgumentError(dist::str_cat("--checkpoint_dir=", o.checkpoint_dir, ": ",
                                                     error.what(),
                                                     "; --norestore_position does that"));
    }
  };
  return position;
}

void tell_unsaved() {
  dist::log_info("trainer", "told to go (SIGTERM): this process ends without saving a checkpoint");
}

}  // namespace examples
