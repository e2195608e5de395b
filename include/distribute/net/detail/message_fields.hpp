#pragma once
/// Sends numbers, texts, lists and structs in messages.

#include <distribute/base/config.hpp>
#include <distribute/net/detail/field_visitor.hpp>

#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace distribute::net_internal {

template <typename T>
inline constexpr net::NumberType kNumberType{
    int(sizeof(T)), std::is_same_v<T, bool>       ? "bool"
                    : std::is_floating_point_v<T> ? (sizeof(T) == 4 ? "float32" : "float64")
                    : std::is_signed_v<T>         ? (sizeof(T) == 1   ? "int8"
                                                     : sizeof(T) == 2 ? "int16"
                                                     : sizeof(T) == 4 ? "int32"
                                                                      : "int64")
                                                  : (sizeof(T) == 1   ? "uint8"
                                                     : sizeof(T) == 2 ? "uint16"
                                                     : sizeof(T) == 4 ? "uint32"
                                                                      : "uint64")};

/// A type whose vectors are sent as one block.
template <typename T>
inline constexpr bool kIsBlock = std::is_arithmetic_v<T> && !std::is_same_v<T, bool> &&
                                 sizeof(T) <= 8 && std::endian::native == std::endian::little;

/// The smallest number of bytes of a T in a message.
template <typename T>
inline constexpr uint64_t kItemBytes = std::is_arithmetic_v<T> ? sizeof(T) : 1;

/// Shows a list of any container: `item(i)` shows item i, which may be new, to the visitor.
template <typename Item>
void visit_list(net::FieldVisitor& visit, size_t size, uint64_t item_bytes, Item&& item) {
  const uint64_t count = visit.list(size, item_bytes, visit.take_limit());
  for (uint64_t i = 0; i < count && visit.ok(); ++i) item(i);
}

}  // namespace distribute::net_internal

namespace distribute::net {

template <std::integral T>
struct FieldsOf<T> {
  static void visit(FieldVisitor& visit, T& value) {
    constexpr uint64_t kMask = UINT64_MAX >> (64 - 8 * sizeof(T));
    constexpr uint64_t kGreatest = std::same_as<T, bool> ? 1 : kMask;
    const uint64_t most = visit.take_limit();
    auto bits = uint64_t(value) & kMask;
    visit.number(bits, net_internal::kNumberType<T>, most < kGreatest ? most : kGreatest);
    if (visit.fills()) value = T(bits);
  }
};

template <std::floating_point T>
requires(sizeof(T) <= 8) struct FieldsOf<T> {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  static void visit(FieldVisitor& visit, T& value) {
    uint64_t bits = std::bit_cast<Bits>(value);
    visit.take_limit();
    visit.number(bits, net_internal::kNumberType<T>, UINT64_MAX);
    if (visit.fills()) value = std::bit_cast<T>(Bits(bits));
  }
};

template <>
struct FieldsOf<std::string> {
  static void visit(FieldVisitor& visit, std::string& value) {
    std::string_view view = value;
    visit.text(view, visit.take_limit());
    if (visit.fills()) value = view;
  }
};

template <typename T>
requires requires(T& value, FieldVisitor& visit) { value.fields(visit); }
struct FieldsOf<T> {
  static void visit(FieldVisitor& visit, T& value) {
    visit.take_limit();
    value.fields(visit);
  }
};

template <Field T>
struct FieldsOf<std::vector<T>> {
  static void visit(FieldVisitor& visit, std::vector<T>& values) {
    if constexpr (net_internal::kIsBlock<T>) {
      const uint64_t size = visit.list(values.size(), sizeof(T), visit.take_limit());
      if (visit.fills()) values.resize(size);
      visit.block(std::as_writable_bytes(std::span(values)), net_internal::kNumberType<T>);
    } else {
      if (visit.fills()) values.clear();
      net_internal::visit_list(visit, values.size(), net_internal::kItemBytes<T>, [&](size_t i) {
        if (visit.fills()) values.emplace_back();
        visit_item(visit, values, i);
      });
    }
  }

 private:
  static void visit_item(FieldVisitor& visit, std::vector<T>& values, size_t i) {
    if constexpr (std::same_as<T, bool>) {
      bool value = values[i];
      visit("[]", value);
      if (visit.fills()) values[i] = value;
    } else {
      visit("[]", values[i]);
    }
  }
};

template <Field T, size_t N>
struct FieldsOf<std::array<T, N>> {
  static void visit(FieldVisitor& visit, std::array<T, N>& values) {
    visit.take_limit();
    if constexpr (net_internal::kIsBlock<T>)
      visit.block(std::as_writable_bytes(std::span(values)), net_internal::kNumberType<T>);
    else
      for (T& value : values) visit("[]", value);
  }
};

template <Field T>
struct FieldsOf<std::optional<T>> {
  static void visit(FieldVisitor& visit, std::optional<T>& value) {
    bool given = value.has_value();
    visit("given", given);
    if (visit.fills()) value = given ? std::optional<T>(T{}) : std::nullopt;
    if (given) visit("value", *value);
  }
};

template <Field A, Field B>
struct FieldsOf<std::pair<A, B>> {
  static void visit(FieldVisitor& visit, std::pair<A, B>& value) {
    visit("first", value.first);
    visit("second", value.second);
  }
};

template <Field... Ts>
requires(sizeof...(Ts) > 0) struct FieldsOf<std::tuple<Ts...>> {
  static void visit(FieldVisitor& visit, std::tuple<Ts...>& value) {
    std::apply([&](Ts&... parts) { (visit("part", parts), ...); }, value);
  }
};

template <Field K, Field V>
struct FieldsOf<std::map<K, V>> {
  static void visit(FieldVisitor& visit, std::map<K, V>& values) {
    auto next = values.begin();
    if (visit.fills()) values.clear();
    net_internal::visit_list(visit, values.size(), 1, [&](size_t) {
      std::pair<K, V> value;
      if (!visit.fills()) value = *next++;
      visit("[]", value);
      if (visit.fills()) values.insert(std::move(value));
    });
  }
};

}  // namespace distribute::net
