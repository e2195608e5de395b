#pragma once
/// Saves and restores objects with their variables as TensorFlow's object-based checkpoints.

#include <distribute/base/config.hpp>
#include <distribute/checkpoint/checkpoint_options.hpp>
#include <distribute/checkpoint/checkpoint_parts.hpp>
#include <distribute/checkpoint/load_status.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace distribute {

class Strategy;

namespace checkpoint_internal {
class BackgroundJob;
}

namespace train {

struct WorkerSaveOptions;

/// Named objects that are saved together; they must outlive the checkpoint. One thread, outside
/// strategy.run. With several workers it belongs to the strategy in whose scope it was made, else
/// to the current one: then every worker calls write, save and restore, the chief alone writes at
/// the path (others below `workertemp_<task id>`, which they remove), and all read it. They return
/// when the chief's files are complete, or throw the same error on all workers.
/// Source  tf.train.Checkpoint
class Checkpoint {
 public:
  using Parts = CheckpointParts;

  /// For example {{"model", &model}, {"step", step}, {"iterator", state_of(iterator)}}.
  /// Throws  InvalidArgumentError for a name used twice, for "save_counter", and for none objects.
  explicit Checkpoint(Parts parts);
  /// The parts "model" and "optimizer".
  Checkpoint(const Trackable& model, const Trackable& optimizer);
  explicit Checkpoint(const Trackable& model);

  /// Writes PREFIX.index and PREFIX.data-00000-of-00001, both or neither; gives back the prefix.
  /// Throws  what BundleWriter throws, with the path; FailedPreconditionError in a replica; the
  ///         error of an earlier save in the background.
  std::string write(const std::string& prefix, const CheckpointOptions& options = {}) const;
  /// Writes PREFIX-N with N counting up, and the directory's `checkpoint` file.
  std::string save(const std::string& prefix, const CheckpointOptions& options = {});
  /// Waits for a save in the background, if there is one. Every worker calls it.
  /// Throws  its error, on all workers.
  void sync() const;
  /// Gives the variables the values of the file, all of them or, when one cannot be read or does
  /// not fit, none; variables and parts created later get theirs when they are. A file without
  /// object graph is matched by the variables' names.
  /// Throws  what BundleReader throws; InvalidArgumentError where shape or dtype differ;
  ///         FailedPreconditionError in a replica.
  LoadStatus restore(const std::string& prefix) const;
  /// The way back of write(): restore() by TensorFlow's other name. What write() makes has the
  /// save_counter, too, so the two do not differ.
  LoadStatus read(const std::string& prefix) const;

  /// Number of the last save, 0 before the first; a part of the checkpoint.
  int64_t save_counter() const;
  void set_save_counter(int64_t count);

  /// Adds a part, as assigning an attribute does in Python.
  /// Throws  as the constructor.
  void add_part(const std::string& name, CheckpointPart part);
  /// The part of that name, or null.
  const CheckpointPart* part(const std::string& name) const;
  /// The strategy whose workers save and restore together.
  Strategy& strategy() const;

 private:
  friend class CheckpointManager;
  /// What the chief does before the files of a checkpoint are written, and when all workers know
  /// that they are complete. Either may run on another thread when this object is gone.
  struct ChiefWork {
    std::function<void()> prepare = {}, publish = {};
  };
  void write_with(const std::string& prefix, const WorkerSaveOptions& where, ChiefWork work,
                  const CheckpointOptions& options) const;

  Parts parts_;
  Variable save_counter_;
  Strategy* strategy_ = nullptr;  // null: the current one
  std::shared_ptr<checkpoint_internal::BackgroundJob> job_;
};

}  // namespace train
}  // namespace distribute
