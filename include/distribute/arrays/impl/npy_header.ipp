#pragma once
#include <distribute/arrays/detail/npy_header.hpp>
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>

#include <algorithm>
#include <charconv>
#include <system_error>

namespace distribute::arrays::arrays_internal {

inline constexpr std::string_view kMagic = "\x93NUMPY";

/// Reads the text of a Python dict with the keys descr, fortran_order and shape, in any order.
class NpyHeaderParser {
 public:
  NpyHeaderParser(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  NpyHeader parse() {
    NpyHeader header;
    bool has_descr = false, has_order = false, has_shape = false;
    take('{');
    while (!next_is('}')) {
      const std::string key = string();
      take(':');
      if (key == "descr" && !has_descr)
        header.descr = descr(), has_descr = true;
      else if (key == "fortran_order" && !has_order)
        header.fortran_order = truth(), has_order = true;
      else if (key == "shape" && !has_shape)
        header.shape = sizes(), has_shape = true;
      else
        fail(str_cat("the key '", untrusted::printable(key, 40), "'"));
      if (!next_is('}')) take(',');
    }
    take('}');
    if (at() < text_.size()) fail("text behind the dict");
    if (!has_descr || !has_order || !has_shape) fail("no descr, fortran_order or shape");
    return header;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw DataLossError(str_cat(name_, ": the head of this .npy file has ", what));
  }
  size_t at() {
    position_ = std::min(text_.find_first_not_of(" \t\n", position_), text_.size());
    return position_;
  }
  bool next_is(char wanted) { return at() < text_.size() && text_[position_] == wanted; }
  void take(char wanted) {
    if (!next_is(wanted)) fail(str_cat("no '", std::string(1, wanted), "' at byte ", position_));
    ++position_;
  }
  std::string string() {
    const char quote = next_is('"') ? '"' : '\'';
    take(quote);
    const size_t end = text_.find(quote, position_);
    if (end == std::string_view::npos) fail("a string without an end");
    const std::string value(text_.substr(position_, end - position_));
    position_ = end + 1;
    return value;
  }
  std::string descr() {
    if (next_is('['))
      throw InvalidArgumentError(
          str_cat(name_, ": an array of records; save its columns as arrays of their own"));
    return string();
  }
  bool truth() {
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(at(), word.size()) != word) continue;
      position_ += word.size();
      return value;
    }
    fail("a fortran_order that is neither True nor False");
  }
  int64_t size() {
    int64_t value = -1;
    const char* const begin = text_.data() + at();
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc() || value < 0) fail("a shape with what is no size");
    position_ += size_t(end - begin);
    if (next_is('L')) ++position_;  // as Python 2 wrote it
    return value;
  }
  std::vector<int64_t> sizes() {
    std::vector<int64_t> shape;
    take('(');
    while (!next_is(')')) {
      shape.push_back(size());
      if (!next_is(')')) take(',');
    }
    take(')');
    return shape;
  }

  std::string_view text_;
  const std::string& name_;
  size_t position_ = 0;
};

DISTRIBUTE_INLINE NpyHeader parse_npy_header(std::string_view bytes, const std::string& name) {
  constexpr size_t kBefore = 8;  // magic and version
  if (bytes.substr(0, kMagic.size()) != kMagic)
    throw DataLossError(str_cat(name, ": no .npy file: it does not begin with \\x93NUMPY"));
  const auto byte = [&](size_t at) { return at < bytes.size() ? uint8_t(bytes[at]) : 0; };
  const int version = byte(kMagic.size());
  if (bytes.size() >= kBefore && (version < 1 || version > 3))
    throw DataLossError(str_cat(name, ": version ", version, " of .npy is not known"));
  const size_t width = version == 1 ? 2 : 4, begin = kBefore + width;
  size_t length = 0;
  for (size_t i = 0; i < width; ++i) length |= size_t(byte(kBefore + i)) << (8 * i);
  if (bytes.size() < begin || bytes.size() - begin < length)
    throw DataLossError(str_cat(name, ": this .npy file is cut off in its head"));
  NpyHeader header = NpyHeaderParser(bytes.substr(begin, length), name).parse();
  header.size = begin + length;
  return header;
}

DISTRIBUTE_INLINE std::string encode_npy_header(const NpyHeader& header) {
  std::string shape;
  for (const int64_t size : header.shape) shape += str_cat(size, ", ");
  if (header.shape.size() > 1) shape.resize(shape.size() - 2);
  if (header.shape.size() == 1) shape.pop_back();  // "(3,)"
  std::string text = str_cat("{'descr': '", header.descr,
                             "', 'fortran_order': ", header.fortran_order ? "True" : "False",
                             ", 'shape': (", shape, "), }");
  const size_t before = kMagic.size() + 4, whole = (before + text.size() + 1 + 63) / 64 * 64;
  text.resize(whole - before - 1, ' ');
  text += '\n';
  return str_cat(kMagic, std::string("\x01\x00", 2), std::string(1, char(text.size() & 255)),
                 std::string(1, char(text.size() >> 8)), text);
}

}  // namespace distribute::arrays::arrays_internal
