#pragma once
/// What a flag takes and where it applies, said once beside the flag: help, checks and errors of a
/// table of flags come from it.

#include <distribute/base/exit_status.hpp>

#include <concepts>
#include <limits>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace distribute_tools {

/// Of a flag that tasks of a job have to be started with alike.
enum class Agreement { None, Value, Given };

/// Made by the functions below: at_least(1).agreed().only_with("strategy", {"parameter_server"}).
struct FlagRule {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool without_low = false, without_high = false, as_interval = false;
  std::vector<std::string> known = {};  // texts; none: any
  /// Applies only where one of these flags has one of its values.
  std::vector<std::pair<std::string, std::vector<std::string>>> with = {};
  Agreement agreement = Agreement::None;

  FlagRule at_most(double most) { return high = most, *this; }
  FlagRule open() { return without_high = true, *this; }  // an interval without its end
  FlagRule agreed() { return agreement = Agreement::Value, *this; }
  FlagRule agreed_if_given() { return agreement = Agreement::Given, *this; }
  /// Called again: or with that one.
  FlagRule only_with(const std::string& flag, std::vector<std::string> values) {
    return with.emplace_back(flag, std::move(values)), *this;
  }

  /// "at least 1", "in [0, 1)", "adam, sgd or rmsprop"; "" where everything is taken.
  std::string range() const;
  /// Help of the flag: what it takes, where it applies, and `text`.
  std::string help(const std::string& text) const;
  bool takes(double number) const;
};

inline FlagRule any() { return {}; }
inline FlagRule at_least(double least) { return {.low = least}; }
inline FlagRule above(double limit) { return {.low = limit, .without_low = true}; }
inline FlagRule in_range(double low, double high) {
  return {.low = low, .high = high, .as_interval = true};
}
template <std::convertible_to<std::string>... Texts>
FlagRule one_of(Texts... texts) {
  return {.known = {texts...}};
}

/// "--steps must be at least 1"; "" for a value that the rule takes.
std::string problem_of(const std::string& flag, const std::string& value, const FlagRule& rule);
std::string problem_of(const std::string& flag, double value, const FlagRule& rule);
template <typename T>
std::string problem_of(const std::string& flag, const T& value, const FlagRule& rule) {
  if constexpr (std::is_arithmetic_v<T>)
    return problem_of(flag, double(value), rule);
  else
    return "";
}

/// "--rho does nothing with --optimizer=sgd; it is for --optimizer=rmsprop"; "" where it applies.
/// `values`: of the flags that others depend on, as texts.
std::string misplaced(const std::string& flag, const FlagRule& rule,
                      const std::map<std::string, std::string>& values);

/// "a, b or c".
std::string alternatives(const std::vector<std::string>& words);

/// Of names that are alike, the nearest to `word`, or the only one that `word` begins; "" when none
/// is near.
std::string nearest_of(const std::string& word, const std::vector<std::string>& names);

using distribute::with_short_words;

}  // namespace distribute_tools
