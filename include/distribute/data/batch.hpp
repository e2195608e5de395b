#pragma once
/// The element of every dataset: a small tuple of tensors, for supervised data features and labels.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

namespace distribute::data {

/// A tuple of tensors; a cheap value. `auto [x, y] = batch;` takes the first two components.
/// Before `batch()` the same type holds one example. Absent components are "none".
/// Source  the tuple that iterating a tf.data.Dataset gives
struct Batch {
  Tensor x = {};
  Tensor y = {};
  std::vector<Tensor> more = {};  // third and later components, such as sample weights

  /// Number of components, 1 or more once `x` is set.
  size_t size() const { return more.empty() ? (y ? 2 : (x ? 1 : 0)) : 2 + more.size(); }
  const Tensor& operator[](size_t i) const { return i == 0 ? x : i == 1 ? y : more.at(i - 2); }
  Tensor& operator[](size_t i) { return i == 0 ? x : i == 1 ? y : more.at(i - 2); }

  /// The tuple with these components.
  static Batch from_components(std::vector<Tensor> components);
  std::vector<Tensor> components() const;
};

template <size_t I>
const Tensor& get(const Batch& batch) {
  return batch[I];
}
template <size_t I>
Tensor& get(Batch& batch) {
  return batch[I];
}
template <size_t I>
Tensor&& get(Batch&& batch) {
  return std::move(batch[I]);
}

/// Rows [begin, end) of every component; shares memory. How a batch is split over replicas.
Batch rows(const Batch& batch, int64_t begin, int64_t end);
/// Size of the first axis, which all components share.
/// Throws  InvalidArgumentError for scalars ("call `batch` first") or sizes that differ.
int64_t batch_size(const Batch& batch);
/// Components joined along the first axis.
/// Throws  InvalidArgumentError when their other axes, dtypes or number differ.
Batch concat_rows(const std::vector<Batch>& parts);
/// Examples joined along a new first axis. Throws as concat_rows.
Batch stack_rows(const std::vector<Batch>& examples);

}  // namespace distribute::data

template <>
struct std::tuple_size<distribute::data::Batch> : std::integral_constant<size_t, 2> {};
template <size_t I>
struct std::tuple_element<I, distribute::data::Batch> {
  using type = distribute::Tensor;
};
