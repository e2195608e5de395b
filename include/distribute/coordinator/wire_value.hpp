#pragma once
/// Which values a remote function may take and give, and their bytes on the way.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/data/batch.hpp>
#include <distribute/net/bytes.hpp>
#include <distribute/replica/values.hpp>
#include <distribute/rpc/detail/tensor_codec.hpp>
#include <distribute/tensor/tensor.hpp>

#include <bit>
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace distribute {

namespace coordinator_internal {

/// Specialized for what can travel: write(writer, value) and read(reader).
template <typename T>
struct Wire;

}  // namespace coordinator_internal

/// Tensors, numbers, strings; vectors, maps, tuples, pairs, optionals and PerReplica of them.
template <typename T>
concept WireValue = requires(net::ByteWriter& writer, net::ByteReader& reader, const T& value) {
  coordinator_internal::Wire<T>::write(writer, value);
  { coordinator_internal::Wire<T>::read(reader) } -> std::convertible_to<T>;
};

namespace coordinator_internal {

template <WireValue T>
std::string to_bytes(const T& value) {
  net::ByteWriter writer;
  Wire<T>::write(writer, value);
  return writer.take();
}

/// Throws  DataLossError when the bytes are not such a value's.
template <WireValue T>
T from_bytes(std::string_view bytes) {
  net::ByteReader reader(bytes);
  T value = Wire<T>::read(reader);
  if (!reader.finished()) throw DataLossError("a remote value's bytes are damaged");
  return value;
}

template <std::integral T>
struct Wire<T> {
  static void write(net::ByteWriter& writer, T value) { writer.number(value); }
  static T read(net::ByteReader& reader) { return reader.number<T>(); }
};

template <std::floating_point T>
requires(sizeof(T) <= 8) struct Wire<T> {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  static void write(net::ByteWriter& writer, T value) { writer.number(std::bit_cast<Bits>(value)); }
  static T read(net::ByteReader& reader) { return std::bit_cast<T>(reader.number<Bits>()); }
};

template <>
struct Wire<std::string> {
  static void write(net::ByteWriter& writer, const std::string& value) { writer.text(value); }
  static std::string read(net::ByteReader& reader) { return std::string(reader.text()); }
};

template <>
struct Wire<Tensor> {
  static void write(net::ByteWriter& writer, const Tensor& value) {
    rpc::write_tensor(writer, value);
  }
  static Tensor read(net::ByteReader& reader) { return rpc::read_tensor(reader); }
};

template <WireValue T>
struct Wire<std::vector<T>> {
  static void write(net::ByteWriter& writer, const std::vector<T>& values) {
    writer.number(uint64_t(values.size()));
    for (const T& value : values) Wire<T>::write(writer, value);
  }
  static std::vector<T> read(net::ByteReader& reader) {
    std::vector<T> values;
    for (auto left = reader.number<uint64_t>(); left > 0 && reader.ok(); --left)
      values.push_back(Wire<T>::read(reader));
    return values;
  }
};

template <WireValue T>
struct Wire<PerReplica<T>> {
  static void write(net::ByteWriter& writer, const PerReplica<T>& value) {
    Wire<std::vector<T>>::write(writer, value.values());
  }
  static PerReplica<T> read(net::ByteReader& reader) {
    return PerReplica<T>(Wire<std::vector<T>>::read(reader));
  }
};

template <WireValue T>
struct Wire<std::optional<T>> {
  static void write(net::ByteWriter& writer, const std::optional<T>& value) {
    writer.number(uint8_t(value.has_value()));
    if (value) Wire<T>::write(writer, *value);
  }
  static std::optional<T> read(net::ByteReader& reader) {
    if (!reader.number<uint8_t>()) return std::nullopt;
    return Wire<T>::read(reader);
  }
};

template <WireValue... Ts>
requires(sizeof...(Ts) > 0) struct Wire<std::tuple<Ts...>> {
  static void write(net::ByteWriter& writer, const std::tuple<Ts...>& value) {
    std::apply([&](const Ts&... parts) { (Wire<Ts>::write(writer, parts), ...); }, value);
  }
  static std::tuple<Ts...> read(net::ByteReader& reader) {
    return std::tuple<Ts...>{Wire<Ts>::read(reader)...};  // braces: from left to right
  }
};

template <WireValue A, WireValue B>
struct Wire<std::pair<A, B>> {
  static void write(net::ByteWriter& writer, const std::pair<A, B>& value) {
    Wire<A>::write(writer, value.first);
    Wire<B>::write(writer, value.second);
  }
  static std::pair<A, B> read(net::ByteReader& reader) {
    return std::pair<A, B>{Wire<A>::read(reader), Wire<B>::read(reader)};
  }
};

template <WireValue K, WireValue V>
struct Wire<std::map<K, V>> {
  static void write(net::ByteWriter& writer, const std::map<K, V>& values) {
    writer.number(uint64_t(values.size()));
    for (const auto& value : values) Wire<std::pair<K, V>>::write(writer, value);
  }
  static std::map<K, V> read(net::ByteReader& reader) {
    std::map<K, V> values;
    for (auto left = reader.number<uint64_t>(); left > 0 && reader.ok(); --left)
      values.insert(Wire<std::pair<K, V>>::read(reader));
    return values;
  }
};

template <>
struct Wire<data::Batch> {
  static void write(net::ByteWriter& writer, const data::Batch& batch) {
    Wire<std::vector<Tensor>>::write(writer, batch.components());
    Wire<std::vector<std::string>>::write(writer,
                                          batch.names ? *batch.names : std::vector<std::string>());
  }
  static data::Batch read(net::ByteReader& reader) {
    const auto components = Wire<std::vector<Tensor>>::read(reader);
    auto names = Wire<std::vector<std::string>>::read(reader);
    return data::Batch::from_components(
        components, names.empty() || names.size() != components.size()
                        ? nullptr
                        : std::make_shared<const std::vector<std::string>>(std::move(names)));
  }
};

}  // namespace coordinator_internal

}  // namespace distribute
