#pragma once
/// What a checkpoint is made of: objects, variables and other state, each under a name.

#include <distribute/autograd/trackable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <concepts>
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace distribute::train {

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
