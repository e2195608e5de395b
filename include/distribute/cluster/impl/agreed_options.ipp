#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/json.hpp>
#include <distribute/cluster/cluster_options.hpp>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace distribute::cluster_internal {

/// Returns the line of `text` that contains the character at `place`; "nothing" behind its end.
DISTRIBUTE_INLINE std::string line_at(const std::string& text, size_t place) {
  const size_t begin = place ? text.rfind('\n', place - 1) + 1 : 0;
  if (begin >= text.size()) return "nothing";
  return text.substr(begin, text.find('\n', begin) - begin);
}

}  // namespace distribute::cluster_internal

namespace distribute {

DISTRIBUTE_INLINE std::string options_text(const AgreedOptions& options) {
  std::string text;
  for (const auto& [name, value] : options) text += name + "=" + value + "\n";
  return text;
}

DISTRIBUTE_INLINE std::string agreed_json(const AgreedOptions& options) {
  nlohmann::json all = options;
  all["version of distribute"] = kVersion;
  return json_text(all);
}

DISTRIBUTE_INLINE void check_same_options(const char* tasks, const OptionsOfTask& one,
                                          const OptionsOfTask& other) {
  const std::string &a = one.options, &b = other.options;
  if (a == b) return;
  const size_t place =
      size_t(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
  throw FailedPreconditionError(str_cat("the ", tasks,
                                        " were started with different flags: ", one.task, " has ",
                                        cluster_internal::line_at(a, place), ", ", other.task, " ",
                                        cluster_internal::line_at(b, place)));
}

}  // namespace distribute
