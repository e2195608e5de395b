#pragma once
/// Compares the type of a function with our declaration of it.

#include <type_traits>

namespace distribute::testing {

/// As many arguments and results, each of the same size.
template <typename A, typename B>
struct SameCall : std::false_type {};
template <typename A, typename... As, typename B, typename... Bs>
struct SameCall<A (*)(As...), B (*)(Bs...)> {
  static constexpr bool value = [] {
    if constexpr (sizeof...(As) == sizeof...(Bs))
      return sizeof(A) == sizeof(B) &&
             ((sizeof(As) == sizeof(Bs) && std::is_pointer_v<As> == std::is_pointer_v<Bs>)&&...);
    else
      return false;
  }();
};

}  // namespace distribute::testing
