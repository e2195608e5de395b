#pragma once
/// Turns structures that a program declares, such as `struct Example { Tensor image, label; }`,
/// into lists of tensors.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace distribute::data {

namespace data_internal {

/// One more than the largest number of fields of a structure.
inline constexpr size_t kTooManyFields = 9;

struct AnyField {
  template <typename T>
  operator T() const;  // used only for counting
};
struct TensorField {
  template <std::same_as<Tensor> T>
  operator T() const;
};

template <typename Field, size_t>
using FieldAt = Field;

template <typename T, typename Field, size_t... I>
constexpr bool can_be_made(std::index_sequence<I...>) {
  return requires { T{FieldAt<Field, I>()...}; };
}

/// The largest number of fields of type `Field` that `T` can be initialized with.
template <typename T, typename Field, size_t N = kTooManyFields>
constexpr size_t count_fields() {
  if constexpr (N == 0)
    return 0;
  else if constexpr (can_be_made<T, Field>(std::make_index_sequence<N>()))
    return N;
  else
    return count_fields<T, Field, N - 1>();
}

template <typename T>
constexpr bool has_tensors_alone() {
  if constexpr (std::is_aggregate_v<T> && std::is_class_v<T>) {
    constexpr size_t count = count_fields<T, AnyField>();
    return count > 0 && count < kTooManyFields && count == count_fields<T, TensorField>() &&
           sizeof(T) == count * sizeof(Tensor);
  } else {
    return false;
  }
}

/// Gives references to the fields, in order.
template <typename T>
auto tie_fields(T& value) {
  constexpr size_t count = count_fields<std::remove_const_t<T>, AnyField>();
  if constexpr (count == 1) {
    auto& [a] = value;
    return std::tie(a);
  } else if constexpr (count == 2) {
    auto& [a, b] = value;
    return std::tie(a, b);
  } else if constexpr (count == 3) {
    auto& [a, b, c] = value;
    return std::tie(a, b, c);
  } else if constexpr (count == 4) {
    auto& [a, b, c, d] = value;
    return std::tie(a, b, c, d);
  } else if constexpr (count == 5) {
    auto& [a, b, c, d, e] = value;
    return std::tie(a, b, c, d, e);
  } else if constexpr (count == 6) {
    auto& [a, b, c, d, e, f] = value;
    return std::tie(a, b, c, d, e, f);
  } else if constexpr (count == 7) {
    auto& [a, b, c, d, e, f, g] = value;
    return std::tie(a, b, c, d, e, f, g);
  } else {
    auto& [a, b, c, d, e, f, g, h] = value;
    return std::tie(a, b, c, d, e, f, g, h);
  }
}

}  // namespace data_internal

/// A structure without constructors that has one to eight tensors and nothing else.
template <typename T>
concept TensorAggregate = data_internal::has_tensors_alone<std::remove_cv_t<T>>();

}  // namespace distribute::data
