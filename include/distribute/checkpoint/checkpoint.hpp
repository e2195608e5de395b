#pragma once
/// Saves and restores objects with their variables as TensorFlow's object-based checkpoints.

#include <distribute/autograd/trackable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace distribute::train {

/// State that is no variable, such as the position of an iterator: saved as one tensor.
struct TensorState {
  std::function<Tensor()> save;
  std::function<void(const Tensor&)> restore;
};

/// TensorState of anything with state() and restore(), such as data::Iterator. It must outlive
/// the checkpoint.
template <typename T>
requires requires(T& object, const Tensor& saved) {
  { object.state() } -> std::convertible_to<Tensor>;
  object.restore(saved);
}
TensorState state_of(T& object) {
  return {[&object] { return Tensor(object.state()); },
          [&object](const Tensor& saved) { object.restore(saved); }};
}

/// What became of a restore. Values for variables that do not exist yet wait until these are
/// created; ask again afterwards.
/// Source  tf.train.Checkpoint.restore's status
class LoadStatus {
 public:
  struct State;
  explicit LoadStatus(std::shared_ptr<State> state) : state_(std::move(state)) {}

  /// Every value of the file found its variable, and every variable its value.
  /// Throws  FailedPreconditionError that names the first which did not.
  const LoadStatus& assert_consumed() const;
  /// Every variable that exists got a value. Throws as assert_consumed.
  const LoadStatus& assert_existing_objects_matched() const;
  /// Something was restored. Throws as assert_consumed.
  const LoadStatus& assert_nontrivial_match() const;
  /// No warning about values nobody used.
  const LoadStatus& expect_partial() const;

 private:
  std::shared_ptr<State> state_;
};

/// Named objects that are saved together; they must outlive the checkpoint. One thread.
/// Source  tf.train.Checkpoint
class Checkpoint {
 public:
  using Part = std::variant<const Trackable*, Variable, TensorState>;
  using Parts = std::vector<std::pair<std::string, Part>>;

  /// For example {{"model", &model}, {"step", step}, {"iterator", state_of(iterator)}}.
  /// Throws  InvalidArgumentError for a name used twice, and for "save_counter".
  explicit Checkpoint(Parts parts);
  /// The parts "model" and "optimizer".
  Checkpoint(const Trackable& model, const Trackable& optimizer);
  explicit Checkpoint(const Trackable& model);

  /// Writes PREFIX.index and PREFIX.data-00000-of-00001, both or neither; gives back the prefix.
  /// Throws  what BundleWriter throws, with the path.
  std::string write(const std::string& prefix) const;
  /// Writes PREFIX-N with N counting up, and the directory's `checkpoint` file.
  std::string save(const std::string& prefix);
  /// Gives the variables the values of the file; those created later get theirs when they are. A
  /// file without object graph is matched by the variables' names.
  /// Throws  what BundleReader throws; InvalidArgumentError where shape or dtype differ.
  LoadStatus restore(const std::string& prefix) const;

  int64_t save_counter() const;
  void set_save_counter(int64_t count);

 private:
  Parts parts_;
  Variable save_counter_;
};

}  // namespace distribute::train

#ifdef DISTRIBUTE_HEADER_ONLY
#include <distribute/checkpoint/impl/checkpoint.ipp>
#endif
