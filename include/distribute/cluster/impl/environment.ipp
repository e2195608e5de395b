#pragma once
#include <distribute/base/error.hpp>
#include <distribute/cluster/detail/quoted_untrusted_text.hpp>
#include <distribute/cluster/environment.hpp>

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
  const char* value = std::getenv(name.c_str());
  return value ? std::optional<std::string>(value) : std::nullopt;
}

DISTRIBUTE_INLINE std::optional<int> Environment::integer(const std::string& name) const {
  const std::optional<std::string> text = (*this)(name);
  if (!text) return std::nullopt;
  const std::optional<int> value = cluster_internal::parse_int(*text);
  if (value) return value;
  throw InvalidArgumentError(name + " must be a whole number, not " +
                             cluster_internal::shown(*text));
}

}  // namespace distribute
