#pragma once
/// The element of every dataset: a short tuple of tensors, such as features and labels.

#include <distribute/base/config.hpp>
#include <distribute/data/detail/aggregate.hpp>
#include <distribute/tensor/tensor.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace distribute::data {

/// An element as tensors by name. Source  the dict that iterating a tf.data.Dataset gives
using TensorMap = std::map<std::string, Tensor>;
/// Names of components, shared by many elements: one name for each component, "" for a component
/// without one. Null when no component has a name.
using ComponentNames = std::shared_ptr<const std::vector<std::string>>;

/// A tuple of tensors, which is cheap to copy. `auto [x, y] = batch;` takes the first two
/// components. Before `batch()` the same type holds one example. An absent component is an empty
/// tensor. A batch converts implicitly to a structure with the same number of tensors, in the order
/// of the components, and with names to a TensorMap. Functions of datasets and of `Strategy::run`
/// may take either in place of a Batch.
/// Source  the tuple, dict or dataclass that iterating a tf.data.Dataset gives
struct Batch {
  Tensor x = {};
  Tensor y = {};
  std::vector<Tensor> more = {};  // third and later components, such as sample weights
  ComponentNames names = {};

  /// Returns the number of components, 1 or more once `x` is set.
  size_t size() const { return more.empty() ? (y ? 2 : (x ? 1 : 0)) : 2 + more.size(); }
  const Tensor& operator[](size_t i) const { return i == 0 ? x : i == 1 ? y : more.at(i - 2); }
  Tensor& operator[](size_t i) { return i == 0 ? x : i == 1 ? y : more.at(i - 2); }
  /// Gives the component with this name.
  /// Throws  InvalidArgumentError that lists the existing names.
  const Tensor& operator[](std::string_view name) const;

  /// Makes a batch of these components in this order, with or without names.
  static Batch from_components(std::vector<Tensor> components, ComponentNames names = {});
  std::vector<Tensor> components() const;
  /// Gives a batch of other components with the same names.
  Batch with_components(std::vector<Tensor> components) const {
    return from_components(std::move(components), names);
  }

  /// Throws  InvalidArgumentError when a component has no name.
  operator TensorMap() const;
  /// Throws  InvalidArgumentError when it has another number of tensors.
  template <TensorAggregate T>
  operator T() const {
    T result;
    std::apply([&](auto&... fields) { copy_to({&fields...}); }, data_internal::tie_fields(result));
    return result;
  }
  /// Assigns the components to `fields`. Throws  InvalidArgumentError for another number.
  void copy_to(const std::vector<Tensor*>& fields) const;
};

/// The overloads of to_batch() take what an element can be made of, and what a `map` function may
/// return. The components of a map are in the order of their names, as in TensorFlow.
inline Batch to_batch(Batch batch) { return batch; }
inline Batch to_batch(Tensor x) { return Batch{.x = std::move(x)}; }
Batch to_batch(const TensorMap& map);
template <TensorAggregate T>
Batch to_batch(const T& value) {
  return std::apply([](const auto&... fields) { return Batch::from_components({fields...}); },
                    data_internal::tie_fields(value));
}
template <std::same_as<Tensor>... T>
Batch to_batch(const std::tuple<T...>& value) {
  return std::apply([](const auto&... parts) { return Batch::from_components({parts...}); }, value);
}
inline Batch to_batch(const std::pair<Tensor, Tensor>& value) {
  return Batch{.x = value.first, .y = value.second};
}
template <typename T>
concept ElementValue = requires(const T& value) {
  to_batch(value);
};

namespace data_internal {

template <size_t kCount, typename Function>
auto call_with_tensors(const Function& function, const Batch& element) {
  std::array<Tensor, kCount> parts;
  std::apply([&](auto&... part) { element.copy_to({&part...}); }, parts);
  return std::apply(function, parts);
}

/// Returns what a predicate gave.
/// Throws  InvalidArgumentError for a tensor that is not one bool.
bool is_true(const Tensor& kept);

/// Calls a function of a Batch, of what a Batch converts to, or of as many tensors as the element
/// has: up to four.
template <typename Function>
auto call_with_element(const Function& function, const Batch& element) {
  using T = Tensor&;
  if constexpr (std::invocable<const Function&, const Batch&>)
    return function(element);
  else if constexpr (std::invocable<const Function&, T>)
    return call_with_tensors<1>(function, element);
  else if constexpr (std::invocable<const Function&, T, T>)
    return call_with_tensors<2>(function, element);
  else if constexpr (std::invocable<const Function&, T, T, T>)
    return call_with_tensors<3>(function, element);
  else if constexpr (std::invocable<const Function&, T, T, T, T>)
    return call_with_tensors<4>(function, element);
}

}  // namespace data_internal

/// Joins the names of all these elements' components; null when no component has a name.
ComponentNames join_names(const std::vector<Batch>& parts);

template <size_t I>
const Tensor& get(const Batch& batch) {  // for structured bindings
  return batch[I];
}
template <size_t I>
Tensor& get(Batch& batch) {  // for structured bindings
  return batch[I];
}
template <size_t I>
Tensor&& get(Batch&& batch) {  // for structured bindings
  return std::move(batch[I]);
}

/// Gives rows [begin, end) of every component without a copy. Strategies split batches over
/// replicas with it. No tape follows it.
Batch rows(const Batch& batch, int64_t begin, int64_t end);
/// Gives the size of the first axis, which all components share.
/// Throws  InvalidArgumentError for scalars ("call `batch` first") or sizes that differ.
int64_t batch_size(const Batch& batch);
/// Joins the components of `parts` along the first axis.
/// Throws  InvalidArgumentError when their other axes, dtypes or number differ.
Batch concat_rows(const std::vector<Batch>& parts);
/// Joins the examples along a new first axis. Throws  what concat_rows() throws.
Batch stack_rows(const std::vector<Batch>& examples);

}  // namespace distribute::data

template <>
struct std::tuple_size<distribute::data::Batch> : std::integral_constant<size_t, 2> {};
template <size_t I>
struct std::tuple_element<I, distribute::data::Batch> {
  using type = distribute::Tensor;
};
