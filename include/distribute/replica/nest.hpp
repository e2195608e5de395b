#pragma once
/// Nested structures of tensors: maps, vectors, tuples and aggregates, as tf.nest has them.

#include <distribute/base/config.hpp>
#include <distribute/replica/detail/fields.hpp>
#include <distribute/tensor/tensor.hpp>

#include <concepts>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace distribute {

namespace replica_internal {

template <typename T>
concept MapLike = requires(T& value) {
  typename T::mapped_type;
  value.begin()->second;
};
/// A list: a vector, an array or a data::Batch.
template <typename T>
concept ListLike = !MapLike<T> && requires(T & value) {
  value.size();
  value[size_t{}];
};
template <typename T>
concept TupleLike = !ListLike<T> && requires {
  std::tuple_size<T>::value;
};
template <typename T>
concept RecordLike =
    std::is_aggregate_v<T> && std::is_class_v<T> && !ListLike<T> && !MapLike<T> && !TupleLike<T>;

template <typename T>
constexpr bool is_nest();

template <typename T, size_t... I>
constexpr bool is_nest_of_parts(std::index_sequence<I...>) {
  return sizeof...(I) > 0 && (is_nest<std::tuple_element_t<I, T>>() && ...);
}

template <typename T>
constexpr bool is_nest() {
  if constexpr (std::same_as<T, Tensor>)
    return true;
  else if constexpr (MapLike<T>)
    return is_nest<typename T::mapped_type>();
  else if constexpr (ListLike<T>)
    return is_nest<std::remove_cvref_t<decltype(std::declval<T&>()[0])>>();
  else if constexpr (TupleLike<T>)
    return is_nest_of_parts<T>(std::make_index_sequence<std::tuple_size_v<T>>());
  else if constexpr (RecordLike<T>)
    return count_fields<T>() > 0;
  else
    return false;
}

/// Points at the tensors of a structure and names each, such as "['loss'][2]". The structure must
/// outlive it.
class TensorsOf {
 public:
  template <typename T>
  requires(is_nest<T>()) explicit TensorsOf(T& structure) { visit(structure, ""); }
  size_t size() const { return tensors_.size(); }
  const std::vector<std::string>& names() const { return names_; }
  const Tensor& value(size_t i) const { return *tensors_[i]; }
  std::vector<Tensor> values() const;
  /// Replaces the tensors of the structure that have a value by `values`.
  void replace(std::span<const Tensor> values) const;

 private:
  template <typename T>
  void visit(T& value, const std::string& name);
  void add(Tensor& tensor, const std::string& name);

  std::vector<Tensor*> tensors_;
  std::vector<std::string> names_;
};

std::string part_name(const std::string& whole, const std::string& key);
std::string part_name(const std::string& whole, int64_t number);

template <typename T>
void TensorsOf::visit(T& value, const std::string& name) {
  static_assert(is_nest<T>(), "a part of the structure is neither a tensor nor made of tensors");
  if constexpr (std::same_as<T, Tensor>) {
    add(value, name);
  } else if constexpr (MapLike<T>) {
    for (auto& [key, part] : value) visit(part, part_name(name, key));
  } else if constexpr (ListLike<T>) {
    for (size_t i = 0; i < value.size(); ++i) visit(value[i], part_name(name, int64_t(i)));
  } else if constexpr (TupleLike<T>) {
    int64_t number = 0;
    std::apply([&](auto&... parts) { (visit(parts, part_name(name, number++)), ...); }, value);
  } else {
    for_each_field(value, [&](size_t i, auto& part) { visit(part, part_name(name, int64_t(i))); });
  }
}

/// Checks that all structures have the same parts.
/// Throws  InvalidArgumentError that names the part that differs.
void check_same_parts(const char* what, std::span<const TensorsOf> replicas);

}  // namespace replica_internal

/// A map, vector, tuple or aggregate of up to eight members whose parts are tensors, or such
/// structures themselves. A single tensor and a vector of tensors are excluded, as functions take
/// these by overloads of their own. Tensors without a value stay so.
/// Source  tf.nest
template <typename T>
concept NestedTensors = replica_internal::is_nest<T>() && !std::same_as<T, Tensor> &&
                        !std::same_as<T, std::vector<Tensor>>;

}  // namespace distribute
