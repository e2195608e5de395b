#pragma once
/// The order in which the values of several ranks are combined: a binary tree that depends on their
/// number alone.

#include <distribute/base/config.hpp>

#include <bit>

namespace distribute::collective {

/// Returns how many of `ranks` ranks, at least two, are below the left branch of their tree: the
/// largest power of two that leaves one for the right. So the ranks that differ in their lowest
/// bits alone are combined first: ((0 1)(2 3))((4 5) 6).
constexpr int left_ranks(int ranks) { return int(std::bit_floor(unsigned(ranks - 1))); }

/// Combines the values of the ranks from `first` on in this order: leaf(rank) gives a rank's value,
/// join(left, right) combines two.
template <typename Leaf, typename Join>
auto combine_in_order(int first, int ranks, const Leaf& leaf, const Join& join)
    -> decltype(leaf(first)) {
  if (ranks == 1) return leaf(first);
  const int left = left_ranks(ranks);
  auto sum = combine_in_order(first, left, leaf, join);
  return join(sum, combine_in_order(first + left, ranks - left, leaf, join));
}

}  // namespace distribute::collective
