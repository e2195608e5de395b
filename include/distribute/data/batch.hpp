#pragma once
/// The element of every dataset: a small tuple of tensors, for supervised data features and labels.

#include <distribute/base/config.hpp>
#include <distribute/data/detail/aggregate.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace distribute::data {

/// An element by names. Source  the dict that iterating a tf.data.Dataset gives
using TensorMap = std::map<std::string, Tensor>;
/// One name per component, "" where it has none; null where none has. Names of components, which
/// many elements share.
using ComponentNames = std::shared_ptr<const std::vector<std::string>>;

/// A batch is a tuple of tensors; a cheap value. `auto [x, y] = batch;` takes the first two
/// components. Before `batch()` the same type holds one example. Absent components are "none". It
/// converts by itself to a structure of as many tensors, component by component in order, and with
/// names to a TensorMap: functions of datasets and of `Strategy::run` may take either in its place.
/// Source  the tuple, dict or dataclass that iterating a tf.data.Dataset gives
struct Batch {
  Tensor x = {};
  Tensor y = {};
  std::vector<Tensor> more = {};  // third and later components, such as sample weights
  ComponentNames names = {};

  /// Number of components, 1 or more once `x` is set.
  size_t size() const { return more.empty() ? (y ? 2 : (x ? 1 : 0)) : 2 + more.size(); }
  const Tensor& operator[](size_t i) const { return i == 0 ? x : i == 1 ? y : more.at(i - 2); }
  Tensor& operator[](size_t i) { return i == 0 ? x : i == 1 ? y : more.at(i - 2); }
  /// The component of that name.
  /// Throws  InvalidArgumentError, with the names there are.
  const Tensor& operator[](std::string_view name) const;

  /// A batch of these components in this order, with these names or none.
  static Batch from_components(std::vector<Tensor> components, ComponentNames names = {});
  std::vector<Tensor> components() const;
  /// Other components under the same names.
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

/// What an element can be made of, and what a `map` function may return.
/// The components of a map come in the order of their names, as in TensorFlow.
inline Batch to_batch(Batch batch) { return batch; }
inline Batch to_batch(Tensor x) { return Batch{.x = std::move(x)}; }
Batch to_batch(const TensorMap& map);
template <TensorAggregate T>
Batch to_batch(const T& value) {
  return std::apply([](const auto&... fields) { return Batch::from_components({fields...}); },
                    data_internal::tie_fields(value));
}
template <typename T>
concept ElementValue = requires(const T& value) {
  to_batch(value);
};

/// The names of all these elements' components behind each other; null where none has one.
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

/// Rows [begin, end) of every component; shares memory. How a batch is split over replicas.
Batch rows(const Batch& batch, int64_t begin, int64_t end);
/// Size of the first axis, which all components share.
/// Throws  InvalidArgumentError for scalars ("call `batch` first") or sizes that differ.
int64_t batch_size(const Batch& batch);
/// Joins the components of `parts` along the first axis.
/// Throws  InvalidArgumentError when their other axes, dtypes or number differ.
Batch concat_rows(const std::vector<Batch>& parts);
/// Joins the examples along a new first axis. Throws as concat_rows.
Batch stack_rows(const std::vector<Batch>& examples);

}  // namespace distribute::data

template <>
struct std::tuple_size<distribute::data::Batch> : std::integral_constant<size_t, 2> {};
template <size_t I>
struct std::tuple_element<I, distribute::data::Batch> {
  using type = distribute::Tensor;
};
