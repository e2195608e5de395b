#include "flag_rule.hpp"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace distribute_tools {

std::string alternatives(const std::vector<std::string>& words) {
  if (words.size() < 2) return absl::StrJoin(words, "");
  return absl::StrCat(absl::StrJoin(words.begin(), words.end() - 1, ", "), " or ", words.back());
}

std::string FlagRule::range() const {
  if (!known.empty()) return alternatives(known);
  if (as_interval) return absl::StrCat("in [", low, ", ", high, without_high ? ")" : "]");
  if (!std::isfinite(low)) return "";
  const std::string from = absl::StrCat(without_low ? "greater than " : "at least ", low);
  return high < 1e6 ? absl::StrCat(from, " and at most ", high) : from;
}

/// "--strategy=multi_worker or --api=horovod"; with "true" alone, "--elastic".
std::string conditions(const FlagRule& rule) {
  std::vector<std::string> all;
  for (const auto& [flag, values] : rule.with)
    all.push_back(values == std::vector<std::string>{"true"}
                      ? absl::StrCat("--", flag)
                      : absl::StrCat("--", flag, "=", alternatives(values)));
  return alternatives(all);
}

std::string FlagRule::help(const std::string& text) const {
  std::string all = with.empty() ? text : absl::StrCat("with ", conditions(*this), ": ", text);
  // Every number of 0 and more goes without saying.
  if (const std::string words = range(); !words.empty() && words != "at least 0")
    absl::StrAppend(&all, " [", known.empty() ? words : absl::StrJoin(known, "|"), "]");
  return all;
}

bool FlagRule::takes(double number) const {
  return (without_low ? number > low : number >= low) &&
         (without_high ? number < high : number <= high);
}

std::string problem_of(const std::string& flag, const std::string& value, const FlagRule& rule) {
  const auto& known = rule.known;
  if (known.empty() || std::find(known.begin(), known.end(), value) != known.end()) return "";
  const std::string nearest = nearest_of(value, known);
  return absl::StrCat("--", flag, "=", value, " is unknown; ",
                      nearest.empty() ? "" : absl::StrCat("did you mean ", nearest, "? "),
                      "it takes ", absl::StrJoin(known, ", "));
}

std::string problem_of(const std::string& flag, double value, const FlagRule& rule) {
  if (rule.takes(value)) return "";
  // A number out of all bounds that help does not mention.
  const bool beyond = value > rule.high && rule.range().find("at most") == std::string::npos;
  return absl::StrCat("--", flag, " must be ", rule.range(),
                      beyond && !rule.as_interval ? absl::StrCat(" and at most ", rule.high) : "");
}

std::string misplaced(const std::string& flag, const FlagRule& rule,
                      const std::map<std::string, std::string>& values) {
  std::string without;
  for (const auto& [other, wanted] : rule.with) {
    const auto found = values.find(other);
    if (found == values.end()) return "";  // not known yet
    if (std::find(wanted.begin(), wanted.end(), found->second) != wanted.end()) return "";
    if (without.empty()) without = absl::StrCat("--", other, "=", found->second);
  }
  return without.empty() ? ""
                         : absl::StrCat("--", flag, " does nothing with ", without, "; it is for ",
                                        conditions(rule));
}

/// Insertions, deletions, replacements and exchanges of neighbours that make one word of the other.
size_t distance_of(const std::string& a, const std::string& b) {
  std::vector<size_t> older, last, row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    older = std::exchange(last, row);
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      row[j + 1] = std::min({last[j] + (a[i] != b[j]), last[j + 1] + 1, row[j] + 1});
      if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j])
        row[j + 1] = std::min(row[j + 1], older[j - 1] + 1);
    }
  }
  return row[b.size()];
}

std::string nearest_of(const std::string& word, const std::vector<std::string>& names) {
  std::string nearest, longer;
  size_t least = 1 + std::max<size_t>(1, word.size() / 4);
  for (const std::string& name : names) {
    if (name.starts_with(word)) longer = longer.empty() ? name : word;  // the word: of several
    if (const size_t distance = distance_of(word, name); distance < least) {
      least = distance;
      nearest = name;
    }
  }
  return nearest.empty() && longer != word ? longer : nearest;
}

}  // namespace distribute_tools
