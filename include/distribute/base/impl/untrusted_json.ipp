#pragma once
#include <distribute/base/detail/number_text.hpp>
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

namespace distribute::untrusted {

DISTRIBUTE_INLINE const JsonValue* JsonValue::find(std::string_view name) const {
  for (const auto& [key, value] : members)
    if (key == name) return &value;
  return nullptr;
}

DISTRIBUTE_INLINE std::string JsonValue::describe() const {
  switch (kind) {
    case Kind::Null: return "null";
    case Kind::Boolean: return text;
    case Kind::Number: return "the number " + text.substr(0, 40);
    case Kind::String: return "the string " + shown(text);
    case Kind::Array: return str_cat("a list of ", items.size());
    case Kind::Object: return str_cat("an object of ", members.size());
  }
  return "";
}

/// Returns what is wrong with a text and how it is mended; `parser` is the error of the parser,
/// `letter` the last one that it has read, "" behind the end.
DISTRIBUTE_INLINE std::string json_problem(std::string_view parser, std::string_view letter) {
  constexpr std::string_view kQuotes =
      "names and texts stand in double quotes, and a shell takes those away unless single quotes "
      "stand around the whole";
  constexpr std::pair<std::string_view, std::string_view> kProblems[] = {
      {"missing closing quote", "a double quote is missing at the end of a text"},
      {"; expected end of input", "more follows behind the end of the value; remove it"},
      {"unexpected end of input",
       "the text ends before every bracket is closed; add what is missing"},
      {"control character",
       "a line break or another control character stands in a text; write \\n"},
      {"ill-formed UTF-8", "a byte is not UTF-8; write the text in UTF-8"},
      {"surrogate", "\\u begins a pair of two halves, and one half is missing"},
      {"invalid string", "\\ stands before one of \" \\ / b f n r t u; write \\\\ for a single \\"},
      {"number overflow", "the number is too large"},
      {"; expected ':'", "a colon is missing before this place"},
      {"; expected ']'", "a comma or a bracket is missing before this place"},
      {"; expected '}'", "a comma or a bracket is missing before this place"}};
  for (const auto& [phrase, words] : kProblems)
    if (parser.find(phrase) != std::string_view::npos) return std::string(words);
  if (letter == "}" || letter == "]")
    return str_cat("a value or a name is missing before '", letter,
                   "', or a comma stands before it; remove that");
  return std::string(kQuotes);
}

/// Builds a JsonValue from the parser's events; throws at the first that breaks a rule.
class JsonBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  JsonBuilder(std::string_view text, const std::string& source) : text_(text), source_(source) {}
  JsonValue take() { return std::move(root_); }

  bool null() override { return add(JsonValue::Kind::Null, ""); }
  bool boolean(bool value) override {
    return add(JsonValue::Kind::Boolean, value ? "true" : "false");
  }
  bool number_integer(number_integer_t value) override { return integer(std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override { return integer(std::to_string(value)); }
  bool number_float(number_float_t, const string_t& text) override {
    return add(JsonValue::Kind::Number, text);
  }
  bool string(string_t& value) override { return add(JsonValue::Kind::String, value); }
  bool binary(binary_t&) override { return false; }
  bool start_object(size_t) override { return open(JsonValue::Kind::Object); }
  DISTRIBUTE_INLINE bool key(string_t& name) override;
  bool end_object() override { return close(); }
  bool start_array(size_t) override { return open(JsonValue::Kind::Array); }
  bool end_array() override { return close(); }
  DISTRIBUTE_INLINE bool parse_error(size_t at, const std::string&,
                                     const nlohmann::json::exception&) override;

 private:
  JsonValue& place();
  bool add(JsonValue::Kind kind, std::string text);
  bool integer(std::string text);
  bool open(JsonValue::Kind kind);
  bool close();
  [[noreturn]] void fail(const std::string& reason) const {
    throw InvalidArgumentError(source_ + ": " + reason);
  }

  std::string_view text_;
  const std::string& source_;
  JsonValue root_;
  std::vector<JsonValue*> open_;             // from the root to the innermost
  std::vector<std::set<std::string>> keys_;  // of each open object
  int values_ = 0;
};

DISTRIBUTE_INLINE JsonValue& JsonBuilder::place() {
  if (++values_ > kMaxJsonValues) fail(str_cat("more than ", kMaxJsonValues, " values"));
  if (open_.empty()) return root_;
  JsonValue& parent = *open_.back();
  if (parent.is_object()) return parent.members.back().value;
  return parent.items.emplace_back();
}

DISTRIBUTE_INLINE bool JsonBuilder::add(JsonValue::Kind kind, std::string text) {
  JsonValue& value = place();
  value.kind = kind;
  value.text = std::move(text);
  return true;
}

DISTRIBUTE_INLINE bool JsonBuilder::integer(std::string text) {
  JsonValue& value = place();
  value.kind = JsonValue::Kind::Number;
  value.text = std::move(text);
  return value.is_integer = true;
}

DISTRIBUTE_INLINE bool JsonBuilder::open(JsonValue::Kind kind) {
  if (int(open_.size()) >= kMaxJsonDepth)
    fail(str_cat("values are nested more than ", kMaxJsonDepth, " deep"));
  JsonValue& value = place();
  value.kind = kind;
  open_.push_back(&value);
  keys_.emplace_back();
  return true;
}

DISTRIBUTE_INLINE bool JsonBuilder::close() {
  open_.pop_back();
  keys_.pop_back();
  return true;
}

DISTRIBUTE_INLINE bool JsonBuilder::key(string_t& name) {
  if (!keys_.back().insert(name).second)
    fail("the key " + shown(name) + " occurs twice in one object; keep one of them");
  open_.back()->members.push_back({name, JsonValue()});
  return true;
}

DISTRIBUTE_INLINE bool JsonBuilder::parse_error(size_t at, const std::string&,
                                                const nlohmann::json::exception& error) {
  at = std::min(std::max<size_t>(at, 1), text_.size() + 1);  // 1: the first byte
  const std::string_view before = text_.substr(0, at - 1);
  const size_t line = 1 + size_t(std::count(before.begin(), before.end(), '\n'));
  const size_t column = at - (before.rfind('\n') + 1);  // of the first line, npos + 1 is 0
  const size_t from = at > 25 ? std::min(at, text_.size()) - 25 : 0;
  fail(str_cat("not valid JSON at line ", line, ", column ", column, ", near ",
               shown(text_.substr(from, 40)), ": ",
               json_problem(error.what(), text_.substr(at - 1, 1))));
}

DISTRIBUTE_INLINE JsonValue parse_json(std::string_view text, const std::string& source) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    throw InvalidArgumentError(source + ": an empty text is not JSON; unset it, or give {}");
  if (text.starts_with("\xef\xbb\xbf"))
    throw InvalidArgumentError(source + ": begins with a byte order mark; remove it");
  JsonBuilder builder(text, source);
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

DISTRIBUTE_INLINE const std::string& string_of(const JsonValue& value, const std::string& place) {
  if (!value.is_string())
    throw InvalidArgumentError(place + " must be a string, not " + value.describe());
  for (const char c : value.text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      throw InvalidArgumentError(place + " has a control character: " + shown(value.text));
  return value.text;
}

DISTRIBUTE_INLINE const JsonValue& object_of(const JsonValue& value, const std::string& place) {
  if (!value.is_object())
    throw InvalidArgumentError(place + " must be an object, not " + value.describe());
  return value;
}

DISTRIBUTE_INLINE int int_of(const JsonValue& value, const std::string& place) {
  std::optional<int> result;
  if (value.kind == JsonValue::Kind::Boolean) return value.text == "true" ? 1 : 0;
  if (value.is_string() || value.is_integer) {
    result = parse_int(value.text);
  } else if (value.kind == JsonValue::Kind::Number) {
    const double number = std::trunc(base_internal::leading_number(value.text));
    if (std::abs(number) <= std::numeric_limits<int>::max()) result = int(number);
  }
  if (result) return *result;
  throw InvalidArgumentError(place + " must be a whole number of 32 bits, not " + value.describe());
}

}  // namespace distribute::untrusted
