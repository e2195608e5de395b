#pragma once
#include <distribute/base/detail/safe_text.hpp>
#include <distribute/base/detail/usage_error.hpp>
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <sys/stat.h>
#include <sys/sysmacros.h>

namespace distribute::untrusted {

DISTRIBUTE_INLINE std::string printable(std::string_view text, size_t most) {
  return base_internal::plain_letters(text, most);
}

/// Throws the error of a file that cannot be read.
[[noreturn]] inline void fail_to_read(const std::string& path, int error) {
  const std::string text = str_cat("cannot read ", printable(path), ": ", std::strerror(error));
  if (error == ENOENT || error == ENOTDIR) throw NotFoundError(text);
  if (error == EACCES || error == EPERM) throw PermissionDeniedError(text);
  throw InvalidArgumentError(text);
}

/// Returns why the file cannot be a small text; "" if it can.
DISTRIBUTE_INLINE std::string no_text_file(const struct stat& file, size_t most) {
  if (S_ISDIR(file.st_mode)) return "it is a directory";
  if (S_ISCHR(file.st_mode) && file.st_rdev == makedev(1, 3)) return "";  // /dev/null
  if (!S_ISREG(file.st_mode)) return "it is a device or a pipe; wanted a file";
  if (uint64_t(file.st_size) <= most) return "";
  return str_cat("it has ", file.st_size, " bytes; at most ", most, " are read");
}

DISTRIBUTE_INLINE std::string read_text_file(const std::string& path, size_t most) {
  struct stat file {};
  if (::stat(path.c_str(), &file) != 0) fail_to_read(path, errno);
  if (const std::string why = no_text_file(file, most); !why.empty())
    throw InvalidArgumentError(str_cat("cannot read ", printable(path), ": ", why));
  std::FILE* const stream = std::fopen(path.c_str(), "rb");
  if (!stream) fail_to_read(path, errno);
  std::string text(most + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), stream));
  const int error = std::ferror(stream) ? errno : 0;
  std::fclose(stream);
  if (error) fail_to_read(path, error);
  return text;
}

DISTRIBUTE_INLINE std::string shown(std::string_view text) {
  constexpr size_t kLimit = 80;
  size_t size = std::min(text.size(), kLimit);
  while (size < text.size() && size > 0 && (text[size] & 0xc0) == 0x80) --size;  // whole UTF-8
  return str_cat("'", base_internal::safe_line(text.substr(0, size)),
                 size < text.size() ? "'..." : "'");
}

DISTRIBUTE_INLINE std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\n\r\f\v";
  const size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

DISTRIBUTE_INLINE std::optional<int> parse_int(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('+') && text.size() > 1 && text[1] != '-') text.remove_prefix(1);
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

DISTRIBUTE_INLINE std::vector<std::string> split_commas(std::string_view text) {
  std::vector<std::string> pieces;
  if (trimmed(text).empty()) return pieces;
  while (true) {
    const size_t comma = text.find(',');
    pieces.emplace_back(trimmed(text.substr(0, comma)));
    if (comma == std::string_view::npos) return pieces;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace distribute::untrusted

namespace distribute {

DISTRIBUTE_INLINE Environment::Environment(std::map<std::string, std::string> variables) {
  reader_ = [variables = std::move(variables)](const std::string& name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

DISTRIBUTE_INLINE std::optional<std::string> Environment::operator()(
    const std::string& name) const {
  if (reader_) return reader_(name);
  const char* const value = std::getenv(name.c_str());
  return value ? std::optional<std::string>(value) : std::nullopt;
}

DISTRIBUTE_INLINE std::string Environment::text(const std::string& name) const {
  return (*this)(name).value_or("");
}

DISTRIBUTE_INLINE void Environment::refuse(const std::string& name, const std::string& value,
                                           const std::string& wanted) {
  throw base_internal::UsageError<InvalidArgumentError>(
      str_cat(name, "=", untrusted::shown(value), ": wanted ", wanted));
}

DISTRIBUTE_INLINE std::optional<int> Environment::integer(const std::string& name) const {
  const std::optional<std::string> given = (*this)(name);
  if (!given) return std::nullopt;
  const std::optional<int> number = untrusted::parse_int(*given);
  if (!number) refuse(name, *given, "a whole number");
  return number;
}

DISTRIBUTE_INLINE std::optional<int> Environment::choice(
    const std::string& name, std::initializer_list<std::string_view> words) const {
  const std::string given = text(name);
  if (given.empty()) return std::nullopt;
  std::string wanted;
  int place = 0;
  for (const std::string_view word : words) {
    if (word == given) return place;
    const bool last = ++place == int(words.size());
    wanted += str_cat(place == 1 ? "" : last ? " or " : ", ", word);
  }
  refuse(name, given, wanted);
}

DISTRIBUTE_INLINE bool Environment::flag(const std::string& name, bool otherwise) const {
  const std::string given = text(name);
  if (given.empty()) return otherwise;
  if (given == "1" || given == "true") return true;
  if (given != "0" && given != "false") refuse(name, given, "0 or 1");
  return false;
}

}  // namespace distribute
