#pragma once
#include <distribute/base/environment.hpp>

#include <cstdlib>
#include <utility>

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
  throw InvalidArgumentError(str_cat(name, "=", untrusted::shown(value), ": wanted ", wanted));
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
