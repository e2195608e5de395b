#pragma once
/// Visits the members of an aggregate, such as `struct { Tensor loss; Tensor accuracy; }`.

#include <distribute/base/config.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace distribute::replica_internal {

inline constexpr size_t kMostFields = 8;

/// Converts to any type. It is used only to test whether a conversion compiles.
struct AnyField {
  template <typename T>
  operator T() const;
};

template <typename T, size_t... I>
constexpr bool takes_fields(std::index_sequence<I...>) {
  return requires { T{(void(I), AnyField{})...}; };
}

/// The number of members of an aggregate; 0 when it has none or more than kMostFields.
template <typename T, size_t N = kMostFields>
constexpr size_t count_fields() {
  if constexpr (takes_fields<T>(std::make_index_sequence<kMostFields + 1>()))
    return 0;
  else if constexpr (N == 0 || takes_fields<T>(std::make_index_sequence<N>()))
    return N;
  else
    return count_fields<T, N - 1>();
}

/// Calls fn(number, member) for each.
template <typename T, typename Fn>
void for_each_field(T& value, Fn&& fn) {
  const auto visit = [&]<typename... F>(F&... fields) {
    size_t number = 0;
    (fn(number++, fields), ...);
  };
  constexpr size_t kFields = count_fields<std::remove_cv_t<T>>();
  if constexpr (kFields == 1) {
    auto& [a] = value;
    visit(a);
  } else if constexpr (kFields == 2) {
    auto& [a, b] = value;
    visit(a, b);
  } else if constexpr (kFields == 3) {
    auto& [a, b, c] = value;
    visit(a, b, c);
  } else if constexpr (kFields == 4) {
    auto& [a, b, c, d] = value;
    visit(a, b, c, d);
  } else if constexpr (kFields == 5) {
    auto& [a, b, c, d, e] = value;
    visit(a, b, c, d, e);
  } else if constexpr (kFields == 6) {
    auto& [a, b, c, d, e, f] = value;
    visit(a, b, c, d, e, f);
  } else if constexpr (kFields == 7) {
    auto& [a, b, c, d, e, f, g] = value;
    visit(a, b, c, d, e, f, g);
  } else {
    auto& [a, b, c, d, e, f, g, h] = value;
    visit(a, b, c, d, e, f, g, h);
  }
}

}  // namespace distribute::replica_internal
