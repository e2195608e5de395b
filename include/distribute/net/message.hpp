#pragma once
/// Messages between tasks: a struct names its members once, in `fields`, for encoding and parsing.
///
///   struct Greeting {
///     uint64_t session = 0;
///     std::string name;
///     void fields(net::FieldVisitor& visit) {
///       visit("session", session)("name", name, 256);  // of at most 256 bytes
///     }
///   };
///   const std::string bytes = net::encode_message(Greeting{7, "a"});
///   const absl::StatusOr<Greeting> greeting = net::parse_message<Greeting>(bytes, "greeting");
///
/// Numbers are little-endian; texts and lists have their length in front. The tests read and write
/// every message through the same `fields`, and docs/protocol.md is written from them.

#include <distribute/base/config.hpp>
#include <distribute/net/detail/field_visitor.hpp>
#include <distribute/net/detail/message_fields.hpp>

#include <absl/status/statusor.h>

#include <string>
#include <string_view>

namespace distribute::net {

/// A reference to a message, or to a member of one, without its type.
class FieldsRef {
 public:
  template <Field T>
  explicit FieldsRef(T& value)
      : value_(&value), visit_([](void* it, FieldVisitor& visit) {
          FieldsOf<T>::visit(visit, *static_cast<T*>(it));
        }) {}
  void visit(FieldVisitor& visitor) const { visit_(value_, visitor); }

 private:
  void* value_;
  void (*visit_)(void*, FieldVisitor&);
};

/// Appends the message to `bytes`.
void append_fields(std::string& bytes, const FieldsRef& message);
/// Parses a message.
/// Errors  InvalidArgument that names the message, `what`, and the member, when there are too few
///         or too many bytes, or a value is over its limit. Memory is allocated only for bytes that
///         are there.
absl::Status parse_fields(std::string_view bytes, const char* what, const FieldsRef& message);

/// Encodes the message. `message` does not change.
template <Field T>
std::string encode_message(const T& message) {
  std::string bytes;
  append_fields(bytes, FieldsRef(const_cast<T&>(message)));
  return bytes;
}

/// Parses a message. Members that are string_views point into `bytes`.
/// Errors  as parse_fields().
template <Field T>
absl::StatusOr<T> parse_message(std::string_view bytes, const char* what) {
  T message{};
  absl::Status status = parse_fields(bytes, what, FieldsRef(message));
  if (!status.ok()) return status;
  return message;
}

}  // namespace distribute::net
