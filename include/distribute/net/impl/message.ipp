#pragma once
#include <distribute/base/error.hpp>
#include <distribute/net/message.hpp>

#include <array>
#include <cstring>

namespace distribute::net {

DISTRIBUTE_INLINE FieldVisitor::~FieldVisitor() = default;

DISTRIBUTE_INLINE FieldVisitor& FieldVisitor::view(const char* name, std::string_view& value,
                                                   uint64_t most) {
  const Name here{name, innermost_};
  innermost_ = &here;
  text(value, most);
  innermost_ = here.outer;
  return *this;
}

DISTRIBUTE_INLINE FieldVisitor& FieldVisitor::rest(const char* name, std::string_view& value) {
  const Name here{name, innermost_};
  innermost_ = &here;
  take_rest(value);
  innermost_ = here.outer;
  return *this;
}

DISTRIBUTE_INLINE std::string FieldVisitor::path() const {
  std::string path;
  for (const Name* name = innermost_; name; name = name->outer) {
    const bool item = path.empty() || path.starts_with("[]");
    path = str_cat(name->name, item ? "" : ".", path);
  }
  return path;
}

}  // namespace distribute::net

namespace distribute::net_internal {

/// Appends the members that it is shown.
class MessageEncoder final : public net::FieldVisitor {
 public:
  explicit MessageEncoder(std::string& bytes) : bytes_(bytes) {}

  DISTRIBUTE_INLINE bool fills() const override { return false; }
  DISTRIBUTE_INLINE void refuse(const std::string&) override {}
  DISTRIBUTE_INLINE void number(uint64_t& bits, const net::NumberType& type, uint64_t) override {
    std::array<char, 8> little;
    for (size_t i = 0; i < little.size(); ++i) little[i] = char(bits >> (8 * i));
    bytes_.append(little.data(), size_t(type.bytes));
  }
  DISTRIBUTE_INLINE void text(std::string_view& value, uint64_t) override {
    put_size(value.size());
    bytes_ += value;
  }
  DISTRIBUTE_INLINE void block(std::span<std::byte> bytes, const net::NumberType&) override {
    bytes_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  DISTRIBUTE_INLINE uint64_t list(uint64_t size, uint64_t, uint64_t) override {
    put_size(size);
    return size;
  }

 private:
  DISTRIBUTE_INLINE void take_rest(std::string_view& value) override { bytes_ += value; }
  DISTRIBUTE_INLINE void put_size(uint64_t size) {
    if (size > UINT32_MAX)
      throw ResourceExhaustedError(
          str_cat(path(), ": ", size, " bytes or items do not fit a message"));
    number(size, {4, "size"}, UINT32_MAX);
  }

  std::string& bytes_;
};

/// Reads bytes that may come from any program. After the first error all further values are 0 or
/// empty.
class MessageParser final : public net::FieldVisitor {
 public:
  MessageParser(std::string_view bytes, const char* what) : left_(bytes), what_(what) {}

  DISTRIBUTE_INLINE bool fills() const override { return true; }
  DISTRIBUTE_INLINE bool ok() const override { return problem_.empty(); }
  DISTRIBUTE_INLINE void refuse(const std::string& why) override {
    const std::string where = path();
    if (problem_.empty()) problem_ = where.empty() ? why : str_cat(where, " ", why);
    left_ = {};
  }
  DISTRIBUTE_INLINE void number(uint64_t& bits, const net::NumberType& type,
                                uint64_t most) override {
    bits = take_number(size_t(type.bytes));
    if (bits <= most) return;
    refuse(str_cat("is ", bits, ", at most ", most, " is known"));
    bits = 0;
  }
  DISTRIBUTE_INLINE void text(std::string_view& value, uint64_t most) override {
    const uint64_t size = take_number(4);
    if (size > most) refuse(str_cat("has ", size, " bytes, at most ", most, " are allowed"));
    value = ok() ? take(size) : std::string_view();
  }
  DISTRIBUTE_INLINE void block(std::span<std::byte> bytes, const net::NumberType&) override {
    const std::string_view from = take(bytes.size());
    if (!from.empty()) std::memcpy(bytes.data(), from.data(), from.size());
  }
  DISTRIBUTE_INLINE uint64_t list(uint64_t, uint64_t item_bytes, uint64_t most) override {
    const uint64_t size = take_number(4);
    if (size > most) refuse(str_cat("has ", size, " items, at most ", most, " are allowed"));
    if (ok() && size > left_.size() / item_bytes)
      refuse(str_cat("ends before its ", size, " items"));
    return ok() ? size : 0;
  }
  DISTRIBUTE_INLINE absl::Status finish() {
    if (ok() && !left_.empty()) problem_ = str_cat(left_.size(), " bytes are left over at its end");
    if (ok()) return absl::OkStatus();
    return absl::InvalidArgumentError(str_cat("a damaged message (", what_, "): ", problem_));
  }

 private:
  DISTRIBUTE_INLINE void take_rest(std::string_view& value) override {
    value = std::exchange(left_, {});
  }
  DISTRIBUTE_INLINE std::string_view take(uint64_t size) {
    if (size > left_.size()) refuse("is cut off");
    if (!ok()) return {};
    const std::string_view bytes = left_.substr(0, size);
    left_.remove_prefix(size);
    return bytes;
  }
  DISTRIBUTE_INLINE uint64_t take_number(size_t size) {
    const std::string_view bytes = take(size);
    uint64_t bits = 0;
    for (size_t i = 0; i < bytes.size(); ++i) bits |= uint64_t(uint8_t(bytes[i])) << (8 * i);
    return bits;
  }

  std::string_view left_;
  const char* what_;
  std::string problem_;
};

}  // namespace distribute::net_internal

namespace distribute::net {

DISTRIBUTE_INLINE void append_fields(std::string& bytes, const FieldsRef& message) {
  net_internal::MessageEncoder encoder(bytes);
  message.visit(encoder);
}

DISTRIBUTE_INLINE absl::Status parse_fields(std::string_view bytes, const char* what,
                                            const FieldsRef& message) {
  net_internal::MessageParser parser(bytes, what);
  message.visit(parser);
  return parser.finish();
}

}  // namespace distribute::net
