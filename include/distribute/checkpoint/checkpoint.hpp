#pragma once
/// Saves and restores the state of objects by the names of their attributes.

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

/// Holds the options of one save. Source  tf.train.CheckpointOptions
struct CheckpointOptions {
  /// Makes save() return once the values are taken; a thread of low priority writes them while
  /// training continues. Taking them costs no copy: the next update copies the tensors it changes,
  /// so memory holds the saved values a second time until they are written. Errors are thrown by
  /// the next save, restore or sync(). Workers other than the chief then write nothing.
  bool enable_async = false;
  /// Functions called on the chief with the prefix when its files are complete, by the writing
  /// thread.
  std::vector<std::function<void(const std::string& prefix)>> experimental_write_callbacks = {};
  /// The version of Keras that is to restore the optimizer: 3, or 2 (tf_keras, TensorFlow 2.11 to
  /// 2.15), which lists an optimizer's variables in another order. Both find models, and this
  /// library restores either form.
  int keras_version = 3;
};

/// State that is not a variable, such as the position of an iterator; saved as one tensor.
struct TensorState {
  std::function<Tensor()> save;
  std::function<void(const Tensor&)> restore;
  /// Saves each worker's own state, not the chief's for all. If the number of workers differs from
  /// that of the save it is not restored, and a warning says so.
  bool per_worker = false;
};

/// Makes the TensorState, one per worker, of an object with state() and restore(), such as
/// data::Iterator or DistributedIterator. The object must outlive the checkpoint.
template <typename T>
requires requires(T& object, const Tensor& saved) {
  { object.state() } -> std::convertible_to<Tensor>;
  object.restore(saved);
}
TensorState state_of(T& object) {
  return {[&object] { return Tensor(object.state()); },
          [&object](const Tensor& saved) { object.restore(saved); }, true};
}

/// An object of a checkpoint, which refers to models and the like: they must outlive it.
struct CheckpointPart : std::variant<const Trackable*, Variable, TensorState> {
  using variant::variant;
  CheckpointPart(const Trackable& object) : variant(&object) {}
  template <std::derived_from<Trackable> T>
  CheckpointPart(const T&& object) = delete;  // would be gone before the first save
};
using CheckpointParts = std::vector<std::pair<std::string, CheckpointPart>>;

}  // namespace distribute::train

namespace distribute {
namespace checkpoint_internal {
class Restoration;
}  // namespace checkpoint_internal
namespace train {

/// Status of restore(). Values for variables that do not exist yet wait until these are created;
/// call the checks again afterwards. The checks need the checkpoint's objects alive. Copies share
/// one state. One thread.
/// Source  tf.train.Checkpoint.restore's status
class LoadStatus {
 public:
  LoadStatus(std::shared_ptr<checkpoint_internal::Restoration> restoration, CheckpointParts parts);

  /// Checks that every value of the file was assigned to a variable, and every variable got a
  /// value.
  /// Throws  FailedPreconditionError that names the first for which this is not true.
  const LoadStatus& assert_consumed() const;
  /// Checks that every variable that exists got a value. Throws as assert_consumed.
  const LoadStatus& assert_existing_objects_matched() const;
  /// Checks that something was restored. Throws as assert_consumed.
  const LoadStatus& assert_nontrivial_match() const;
  /// Suppresses the warning about values that no object took.
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
/// strategy.run. It belongs to the strategy in whose scope it was made, else to the current one.
/// With several workers every worker calls write, save and restore, only the chief writes at the
/// path (others below `workertemp_<task id>`, which they remove), and all read it. These calls
/// return when the chief's files are complete, or throw the same error on all workers.
/// Source  tf.train.Checkpoint
class Checkpoint {
 public:
  using Parts = CheckpointParts;

  /// Takes parts such as {{"model", model}, {"step", step}, {"iterator", state_of(iterator)}}.
  /// Throws  InvalidArgumentError for a name used twice, for "save_counter", and for null objects.
  explicit Checkpoint(Parts parts);
  /// Makes the parts "model" and "optimizer".
  Checkpoint(const Trackable& model, const Trackable& optimizer);
  explicit Checkpoint(const Trackable& model);

  /// Writes PREFIX.index and PREFIX.data-00000-of-00001, both or neither; returns the prefix.
  /// Throws  what BundleWriter throws, with the path; FailedPreconditionError in a replica; the
  ///          error of an earlier save in the background.
  std::string write(const std::string& prefix, const CheckpointOptions& options = {}) const;
  /// Writes PREFIX-N, where N is the next number, and the directory's `checkpoint` file.
  std::string save(const std::string& prefix, const CheckpointOptions& options = {});
  /// Waits for a save in the background, if there is one. Every worker calls it.
  /// Throws  its error, on all workers.
  void sync() const;
  /// Assigns the values of the file to the variables, all of them or, when one cannot be read or
  /// does not fit, none; variables and parts created later get theirs at their creation. A file
  /// without object graph is matched by the variables' names.
  /// Throws  what BundleReader throws; InvalidArgumentError when shape or dtype differ;
  ///          FailedPreconditionError in a replica.
  LoadStatus restore(const std::string& prefix) const;
  /// Restores what write() has written; the same as restore(), since write() saves the
  /// save_counter, too. TensorFlow has both names.
  LoadStatus read(const std::string& prefix) const;

  /// Returns the number of the last save, 0 before the first; it is a part of the checkpoint.
  int64_t save_counter() const;
  void set_save_counter(int64_t count);

  /// Adds a part, as assigning an attribute does in Python.
  /// Throws  as the constructor.
  void add_part(const std::string& name, CheckpointPart part);
  /// Returns the part of that name, or null.
  const CheckpointPart* part(const std::string& name) const;
  /// Returns the strategy whose workers save and restore together.
  Strategy& strategy() const;

 private:
  friend class CheckpointManager;
  /// Actions of the chief before the files of a checkpoint are written, and after all workers know
  /// that they are complete. Either may run on another thread when this object is destroyed.
  struct ChiefWork {
    std::function<void()> prepare = {}, publish = {};
  };
  void write_with(const std::string& prefix, const WorkerSaveOptions& where, ChiefWork work,
                  const CheckpointOptions& options) const;

  Parts parts_;
  Variable save_counter_;
  Strategy* strategy_ = nullptr;  // null: the current strategy
  std::shared_ptr<checkpoint_internal::BackgroundJob> job_;
};

}  // namespace train
}  // namespace distribute
