#pragma once
#include <distribute/collective/detail/sum_order.hpp>
#include <distribute/collective/detail/tree_plan.hpp>

#include <algorithm>
#include <bit>
#include <numeric>

namespace distribute::collective {

/// A branch of the tree: its holders by their ranges.
struct TreePlan::Node {
  std::vector<int> order = {};
  int position = -1;  // this holder's in `order`
  bool is_rank = false;
  int step = -1, leaf = -1;

  ArrayRange range(int index) const { return ArrayRange::place(index, int(order.size())); }
};

/// Merges two lists evenly: with equal lengths one of each in turn, so that the range of a pair is
/// cut in half. The holder that both may have, `shared`, has one place.
DISTRIBUTE_INLINE std::vector<int> interleave(const std::vector<int>& left,
                                              const std::vector<int>& right, int shared) {
  std::vector<int> result;
  bool has_shared = false;
  const auto add = [&](int holder) {
    if (holder != shared || !has_shared) result.push_back(holder);
    has_shared = has_shared || holder == shared;
  };
  for (size_t l = 0, r = 0; l < left.size() || r < right.size();)
    if (r == right.size() ||
        (l < left.size() && (2 * l + 1) * right.size() <= (2 * r + 1) * left.size()))
      add(left[l++]);
    else
      add(right[r++]);
  return result;
}

DISTRIBUTE_INLINE TreePlan::TreePlan(const std::vector<int>& holder_of_rank, int me,
                                     const std::vector<int>& root_order)
    : holders_(holder_of_rank), me_(me) {
  root_order_ = build(0, int(holders_.size()), root_order).order;
  for (size_t s = 0; s < steps_.size(); ++s)
    for (int side : {0, 1}) {
      const Side& one = steps_[s].sides[side];
      if (one.step >= 0)
        steps_[size_t(one.step)].parent = int(s), steps_[size_t(one.step)].parent_side = side;
      if (one.leaf >= 0)
        leaves_[size_t(one.leaf)].parent = int(s), leaves_[size_t(one.leaf)].parent_side = side;
    }
}

DISTRIBUTE_INLINE TreePlan TreePlan::of_ranks(int ranks, int me) {
  std::vector<int> holders(static_cast<size_t>(ranks));
  std::iota(holders.begin(), holders.end(), 0);
  return TreePlan(holders, me);
}

DISTRIBUTE_INLINE TreePlan::Node TreePlan::build(int first, int ranks,
                                                 const std::vector<int>& order) {
  const int holder = holders_[size_t(first)];
  if (holder != holders_[size_t(first + ranks - 1)]) {
    const int left = left_ranks(ranks);
    const Node a = build(first, left, {});
    return join(a, build(first + left, ranks - left, {}), first, ranks, order);
  }
  Node node{.order = {holder}, .position = holder == me_ ? 0 : -1, .is_rank = ranks == 1};
  if (holder == me_) {
    node.leaf = int(leaves_.size());
    leaves_.push_back({.first = first, .ranks = ranks});
  }
  return node;
}

DISTRIBUTE_INLINE TreePlan::Node TreePlan::join(const Node& left, const Node& right, int first,
                                                int ranks, const std::vector<int>& order) {
  const int shared = holders_[size_t(first + left_ranks(ranks) - 1)];  // if it goes on to the right
  Node node{.order = order.empty() ? interleave(left.order, right.order, shared) : order};
  const auto at = std::find(node.order.begin(), node.order.end(), me_);
  if (at == node.order.end()) return node;
  node.position = int(at - node.order.begin());
  node.step = int(steps_.size());
  Step step;
  step.level = int(std::bit_width(unsigned(ranks - 1)));
  step.mine = node.range(node.position);
  connect(step.sides[0], left, node, step.mine);
  connect(step.sides[1], right, node, step.mine);
  steps_.push_back(std::move(step));
  return node;
}

/// Lists the pieces in which `range` is cut by the ranges of a branch's holders, without `me`.
DISTRIBUTE_INLINE std::vector<TreePlan::Piece> pieces_of(const ArrayRange& range,
                                                         const std::vector<int>& order, int me) {
  std::vector<TreePlan::Piece> pieces;
  const int places = int(order.size());
  for (int i = int(range.begin.of(places)); i < places; ++i) {
    const ArrayRange other = ArrayRange::place(i, places);
    if (!(other.begin < range.end)) break;
    const ArrayRange both = {std::max(range.begin, other.begin), std::min(range.end, other.end)};
    if (order[size_t(i)] != me && both.begin < both.end) pieces.push_back({order[size_t(i)], both});
  }
  return pieces;
}

DISTRIBUTE_INLINE void TreePlan::connect(Side& side, const Node& branch, const Node& joined,
                                         ArrayRange mine) const {
  side.is_rank = branch.is_rank;
  side.step = branch.step;
  side.leaf = branch.leaf;
  if (side.is_mine()) {
    side.held = branch.range(branch.position);
    side.gives = pieces_of(side.held, joined.order, me_);
    side.whole = side.held.holds(mine);
  }
  side.gets = pieces_of(mine, branch.order, me_);
}

}  // namespace distribute::collective
