#pragma once
/// JSON: values whose members are sorted, and text from outside, parsed with limits; its errors
/// name the source and show the place.

#include <distribute/base/config.hpp>

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace distribute {

/// Parses `text`; the result is_discarded() when it is not JSON.
nlohmann::json json_of(const std::string& text);

/// Formats one line, or lines indented by `indent` spaces a level; bytes that are not UTF-8 become
/// U+FFFD.
std::string json_text(const nlohmann::json& value, int indent = -1);

}  // namespace distribute

namespace distribute::untrusted {

struct JsonMember;

/// One JSON value. Thread-compatible.
struct JsonValue {
  enum class Kind { Null, Boolean, Number, String, Array, Object };

  Kind kind = Kind::Null;
  bool is_integer = false;          // a number without fraction and exponent
  std::string text;                 // string; number as written; true, false
  std::vector<JsonValue> items;     // array
  std::vector<JsonMember> members;  // object, in the order of the text

  /// Returns whether the value is of the kind in the function's name.
  bool is_null() const { return kind == Kind::Null; }
  bool is_string() const { return kind == Kind::String; }
  bool is_array() const { return kind == Kind::Array; }
  bool is_object() const { return kind == Kind::Object; }
  /// Returns the member of an object; null for a missing one and for other kinds.
  const JsonValue* find(std::string_view name) const;
  /// Returns a text for errors: "the number 5", "a list of 3".
  std::string describe() const;
};

/// A key of an object and its value.
struct JsonMember {
  std::string key;
  JsonValue value;
};

/// Largest depth of nested values, and largest number of values of a text.
inline constexpr int kMaxJsonDepth = 100;
inline constexpr int kMaxJsonValues = 1'000'000;

/// Parses JSON.
/// Throws  InvalidArgumentError, with `source` in front, for text that is not JSON, names a member
///          of an object twice, or exceeds the limits.
JsonValue parse_json(std::string_view text, const std::string& source);

/// Returns the value, which must be a string without control characters.
/// Throws  InvalidArgumentError; `place` names the value.
const std::string& string_of(const JsonValue& value, const std::string& place);
/// Returns the value, which must be an object.
const JsonValue& object_of(const JsonValue& value, const std::string& place);
/// Converts as Python's int(): numbers lose their fraction, strings may hold a number, true is 1.
int int_of(const JsonValue& value, const std::string& place);

}  // namespace distribute::untrusted
