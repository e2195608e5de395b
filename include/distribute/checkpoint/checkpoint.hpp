#pragma once
/// Saves and restores the state of objects, by the names of their attributes.

#include <distribute/autograd/trackable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace distribute::train {

/// Options of one save. Source  tf.train.CheckpointOptions
struct CheckpointOptions {
  /// Returns once the values are taken; a thread of low priority writes them while training goes
  /// on. Taking costs no copy: the next update copies what it changes, so memory holds the saved
  /// values a second time until they are written. Errors come from the next save, restore or
  /// sync(). Workers other than the chief write nothing then.
  bool enable_async = false;
  /// Called on the chief with the prefix when its files are complete, by the thread that wrote.
  std::vector<std::function<void(const std::string& prefix)>> experimental_write_callbacks = {};
  /// The Keras that is to restore the optimizer: 3, or 2 (tf_keras, TensorFlow 2.11 to 2.15), which
  /// lists an optimizer's variables in another order. Models are found by both, and this library
  /// restores either form.
  int keras_version = 3;
};

/// State that is no variable, such as the position of an iterator: saved as one tensor.
struct TensorState {
  std::function<Tensor()> save;
  std::function<void(const Tensor&)> restore;
  /// Each worker's own is saved, not the chief's for all. With another number of workers than it
  /// was saved by it is not restored, and a warning says so.
  bool per_worker = false;
};

/// TensorState of anything with state() and restore(), such as data::Iterator or
/// DistributedIterator; each worker's own. It must outlive the checkpoint.
template <typename T>
requires requires(T& object, const Tensor& saved) {
  { object.state() } -> std::convertible_to<Tensor>;
  object.restore(saved);
}
TensorState state_of(T& object) {
  return {[&object] { return Tensor(object.state()); },
          [&object](const Tensor& saved) { object.restore(saved); }, true};
}

using CheckpointPart = std::variant<const Trackable*, Variable, TensorState>;
using CheckpointParts = std::vector<std::pair<std::string, CheckpointPart>>;

}  // namespace distribute::train

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

  /// Takes parts such as {{"model", &model}, {"step", step}, {"iterator", state_of(iterator)}}.
  /// Throws  InvalidArgumentError for a name used twice, for "save_counter", and for none objects.
  explicit Checkpoint(Parts parts);
  /// Makes the parts "model" and "optimizer".
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
