#pragma once
#include <distribute/collective/detail/combine.hpp>
#include <distribute/collective/detail/sum_order.hpp>
#include <distribute/collective/detail/tree_reduction.hpp>

#include <algorithm>
#include <bit>

namespace distribute::collective {

/// A join of two branches as one rank sees it.
struct DoublingJoin {
  int level = 0;          // of the tree
  bool left = false;      // this rank's branch
  int from = 0, to = -1;  // ranks: the other branch's partial result comes from, this one goes to
  std::vector<int> forward;  // ranks of this branch that get the other's partial result from here
  bool from_rank = false;    // whether the other branch is one rank
};

/// Lists the joins of a rank, from its own elements to the root. Left rank i exchanges with right
/// rank i; the rest of the left get the right's partial result through those.
DISTRIBUTE_INLINE std::vector<DoublingJoin> doubling_joins(int rank, int ranks) {
  std::vector<DoublingJoin> joins;
  for (int first = 0; ranks > 1;) {
    const int left = left_ranks(ranks), right = ranks - left, i = rank - first;
    DoublingJoin join;
    join.level = int(std::bit_width(unsigned(ranks - 1)));
    join.left = i < left;
    join.from = join.to = join.left ? rank + left : rank - left;
    join.from_rank = (join.left ? right : left) == 1;
    if (join.left && i >= right) {
      join.from = rank - right * int(std::bit_floor(unsigned(i / right)));
      join.to = -1;
    }
    int next = right;
    while (next <= i) next *= 2;
    for (; join.left && i + next < left; next *= 2) join.forward.push_back(rank + next);
    if (!join.left) first += left;
    ranks = join.left ? left : right;
    joins.push_back(std::move(join));
  }
  std::reverse(joins.begin(), joins.end());
  return joins;
}

/// The memory and the messages of reduce_by_doubling().
class Doubling {
 public:
  Doubling(Messages& messages, Scratch& scratch, const Operation& operation)
      : messages_(messages),
        operation_(operation),
        joins_(doubling_joins(messages.rank(), messages.size())),
        bytes_(operation.count * size_of(operation.dtype)),
        wide_(operation.count * size_of(accumulator_of(operation.dtype))),
        memory_(scratch.take(2 * int64_t(joins_.size()) * wide_)),
        has_come_(joins_.size(), false) {}

  void run() {
    for (size_t j = 0; j < joins_.size(); ++j)
      messages_.receive(joins_[j].from, tag(j), bytes_at(other(j), 0, other_bytes(j)));
    Branch mine = {operation_.input, true};
    for (size_t j = 0; j < joins_.size(); ++j) {
      if (joins_[j].to >= 0)
        messages_.send(joins_[j].to, tag(j), bytes_at(mine.data, 0, j == 0 ? bytes_ : wide_), true);
      while (!has_come_[j]) handle(messages_.next());
      const Branch others = {other(j), joins_[j].from_rank};
      combine_branches(operation_.op, operation_.dtype, joins_[j].left ? mine : others,
                       joins_[j].left ? others : mine, sum(j), operation_.count);
      mine = {sum(j), false};
    }
    messages_.finish();
    if (operation_.output)
      finish(operation_.op, operation_.dtype, mine.data, operation_.output, operation_.count,
             messages_.size());
  }

 private:
  uint64_t tag(size_t j) const { return tag_of(0, joins_[j].level); }
  std::byte* other(size_t j) const { return memory_ + 2 * int64_t(j) * wide_; }
  std::byte* sum(size_t j) const { return other(j) + wide_; }
  int64_t other_bytes(size_t j) const { return joins_[j].from_rank ? bytes_ : wide_; }

  void handle(const Messages::Event& event) {
    for (size_t j = 0; j < joins_.size() && !event.sent; ++j) {
      if (tag(j) != event.tag) continue;
      has_come_[j] = true;
      for (int to : joins_[j].forward)
        messages_.send(to, tag(j),
                       bytes_at(static_cast<const std::byte*>(other(j)), 0, other_bytes(j)), true);
    }
  }

  Messages& messages_;
  const Operation& operation_;
  const std::vector<DoublingJoin> joins_;
  const int64_t bytes_, wide_;
  std::byte* const memory_;
  std::vector<bool> has_come_;
};

DISTRIBUTE_INLINE void reduce_by_doubling(Messages& messages, Scratch& scratch,
                                          const Operation& operation) {
  Doubling(messages, scratch, operation).run();
}

}  // namespace distribute::collective
