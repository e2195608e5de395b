#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/platforms/slurm_cluster_resolver.hpp>

#include <charconv>
#include <cstdint>

namespace distribute::cluster_internal {

/// Reads a hostlist from left to right; every error shows the whole list.
class HostlistReader {
 public:
  explicit HostlistReader(std::string_view list) : list_(list) {}
  std::vector<std::string> read();

 private:
  std::vector<std::string> read_part();
  std::vector<std::string> read_bracket();
  void read_range(std::vector<std::string>& out);
  std::string_view read_digits();
  void check_count(size_t hosts) const {
    if (hosts > size_t(kMaxSlurmHosts)) fail(str_cat("more than ", kMaxSlurmHosts, " hosts"));
  }
  char next() const { return at_ < list_.size() ? list_[at_] : '\0'; }
  [[noreturn]] void fail(const std::string& reason) const {
    throw InvalidArgumentError(str_cat("Invalid hostlist format ", untrusted::shown(list_),
                                       ", at character ", at_, ": ", reason));
  }

  std::string_view list_;
  size_t at_ = 0;
};

DISTRIBUTE_INLINE std::vector<std::string> HostlistReader::read() {
  std::vector<std::string> hosts;
  while (true) {
    for (std::string& host : read_part()) hosts.push_back(std::move(host));
    check_count(hosts.size());
    if (at_ == list_.size()) return hosts;
    ++at_;  // the comma
  }
}

/// Reads text and brackets up to a comma or the end, and gives the product of the brackets, in
/// which the left one changes slowest.
DISTRIBUTE_INLINE std::vector<std::string> HostlistReader::read_part() {
  std::vector<std::string> names = {""};
  const size_t start = at_;
  while (at_ < list_.size() && next() != ',') {
    const char c = next();
    if (names.front().size() > 255) fail("the name is too long for a host");
    if (c == '[') {
      const std::vector<std::string> numbers = read_bracket();
      check_count(names.size() * numbers.size());
      std::vector<std::string> product;
      for (const std::string& name : names)
        for (const std::string& number : numbers) product.push_back(name + number);
      names = std::move(product);
    } else if (c == ']' || static_cast<unsigned char>(c) <= 0x20 || c == 0x7f) {
      fail("unexpected " + untrusted::shown(std::string_view(&c, 1)));
    } else {
      ++at_;
      for (std::string& name : names) name += c;
    }
  }
  if (at_ == start) fail("a host without a name");
  return names;
}

DISTRIBUTE_INLINE std::vector<std::string> HostlistReader::read_bracket() {
  std::vector<std::string> numbers;
  do {
    ++at_;  // the bracket or the comma
    read_range(numbers);
  } while (next() == ',');
  if (next() != ']') fail("expected ']', ',' or '-'");
  ++at_;
  return numbers;
}

DISTRIBUTE_INLINE void HostlistReader::read_range(std::vector<std::string>& out) {
  const std::string_view first = read_digits();
  std::string_view last = first;
  if (next() == '-') {
    ++at_;
    last = read_digits();
  }
  int64_t from = 0, to = 0;
  std::from_chars(first.data(), first.data() + first.size(), from);
  std::from_chars(last.data(), last.data() + last.size(), to);
  if (to < from) fail(str_cat("the range ", first, "-", last, " runs backwards"));
  check_count(out.size() + size_t(to - from) + 1);
  for (; from <= to; ++from) {
    const std::string number = std::to_string(from);
    out.push_back(std::string(first.size() - std::min(first.size(), number.size()), '0') + number);
  }
}

DISTRIBUTE_INLINE std::string_view HostlistReader::read_digits() {
  const size_t start = at_;
  while (next() >= '0' && next() <= '9') ++at_;
  if (at_ == start) fail("expected a number");
  if (at_ - start > 18) fail("the number is too long");
  return list_.substr(start, at_ - start);
}

}  // namespace distribute::cluster_internal

namespace distribute {

DISTRIBUTE_INLINE std::vector<std::string> expand_hostlist(std::string_view hostlist) {
  return cluster_internal::HostlistReader(hostlist).read();
}

DISTRIBUTE_INLINE std::vector<int> expand_tasks_per_node(std::string_view list) {
  const auto fail = [&](const std::string& reason) {
    throw InvalidArgumentError("Invalid tasks-per-node list format " + untrusted::shown(list) +
                               ": " + reason);
  };
  const auto number = [&](std::string_view digits) {
    int value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (digits.empty() || digits[0] == '-' || error != std::errc() ||
        end != digits.data() + digits.size() || value > 1'000'000)
      fail("expected N or N(xK), numbers up to 1000000");
    return value;
  };
  std::vector<int> counts;
  while (true) {
    const size_t comma = list.find(',');
    const std::string_view item = list.substr(0, comma);
    const size_t open = item.find("(x");
    const bool repeated = open != std::string_view::npos;
    if (repeated && !item.ends_with(')')) fail("a bracket is not closed");
    const int tasks = number(item.substr(0, open));
    const int times = repeated ? number(item.substr(open + 2, item.size() - open - 3)) : 1;
    if (counts.size() + size_t(times) > size_t(kMaxSlurmHosts)) fail("too many nodes");
    counts.insert(counts.end(), size_t(times), tasks);
    if (comma == std::string_view::npos) return counts;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace distribute
