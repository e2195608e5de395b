#pragma once
/// Writes the members of a message, which its `fields` shows, as bytes, and reads them.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/net/bytes.hpp>

#include <bit>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace distribute::parameter_server {

/// A struct that shows its members to a visitor in the order in which they travel.
template <typename T, typename Visitor>
concept HasFields = requires(T& message, Visitor& visit) {
  message.fields(visit);
};

/// Appends each member that it is shown.
class FieldWriter {
 public:
  explicit FieldWriter(net::ByteWriter& out) : out_(out) {}

  template <typename T, typename... Limit>
  void operator()(const char*, T& value, Limit...) {
    if constexpr (HasFields<T, FieldWriter>)
      value.fields(*this);
    else if constexpr (std::is_enum_v<T>)
      out_.number(std::underlying_type_t<T>(value));
    else if constexpr (std::same_as<T, float>)
      out_.number(std::bit_cast<uint32_t>(value));
    else if constexpr (std::integral<T>)
      out_.number(value);
    else
      write(value);
  }

 private:
  void write(std::string& text) { out_.text(text); }
  template <typename T>
  void write(std::optional<T>& value) {
    out_.number(uint8_t(value.has_value()));
    if (value) (*this)("", *value);
  }
  template <typename T>
  void write(std::vector<T>& values) {
    out_.number(uint32_t(values.size()));
    for (T value : values) (*this)("", value);
  }

  net::ByteWriter& out_;
};

/// Fills each member that it is shown. What the bytes do not hold, or exceeds its limit, makes
/// ok() false.
class FieldReader {
 public:
  explicit FieldReader(net::ByteReader& in) : in_(in) {}
  bool ok() const { return ok_ && in_.ok(); }

  template <typename T, typename... Limit>
  void operator()(const char*, T& value, Limit... most) {
    if constexpr (HasFields<T, FieldReader>)
      value.fields(*this);
    else if constexpr (std::is_enum_v<T>)
      value = T(in_.number<std::underlying_type_t<T>>());
    else if constexpr (std::same_as<T, float>)
      value = std::bit_cast<float>(in_.number<uint32_t>());
    else if constexpr (std::integral<T>)
      value = in_.number<T>();
    else
      read(value);
    ((ok_ = ok_ && size_of_field(value) <= uint64_t(most)), ...);
  }

 private:
  template <typename T>
  static uint64_t size_of_field(const T& value) {
    if constexpr (requires { value.size(); })
      return value.size();
    else
      return uint64_t(value);
  }
  void read(std::string& text) { text = in_.text(); }
  template <typename T>
  void read(std::optional<T>& value) {
    value.reset();
    if (in_.number<uint8_t>()) (*this)("", value.emplace());
  }
  template <typename T>
  void read(std::vector<T>& values) {
    values.clear();
    for (auto left = in_.number<uint32_t>(); left > 0 && ok(); --left) {
      T value{};
      (*this)("", value);
      values.push_back(std::move(value));
    }
  }

  net::ByteReader& in_;
  bool ok_ = true;
};

/// The message as bytes.
template <typename T>
std::string encode_fields(const T& message) {
  net::ByteWriter out;
  FieldWriter writer(out);
  const_cast<T&>(message).fields(writer);
  return out.take();
}

/// The message that comes next; `what` names it.
/// Throws  InvalidArgumentError where the bytes hold no such message.
template <typename T>
T read_fields(net::ByteReader& in, const char* what) {
  T message{};
  FieldReader reader(in);
  message.fields(reader);
  if (!reader.ok()) throw InvalidArgumentError(str_cat(what, ": a damaged message"));
  return message;
}

}  // namespace distribute::parameter_server
