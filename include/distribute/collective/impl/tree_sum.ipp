#pragma once
#include <distribute/collective/detail/message_tools.hpp>
#include <distribute/collective/detail/tree_sum.hpp>

#include <algorithm>
#include <utility>

namespace distribute::collective {

/// Returns the bytes of `elements`, up to the next cache line.
DISTRIBUTE_INLINE int64_t whole_lines(int64_t elements, int64_t width) {
  return (elements * width + 63) / 64 * 64;
}

DISTRIBUTE_INLINE TreeSum::TreeSum(Messages& messages, const TreePlan& up, const TreePlan& down,
                                   ReductionOp op, DType dtype, Ways ways)
    : messages_(messages),
      up_(up),
      down_(down),
      op_(op),
      dtype_(dtype),
      ways_(ways),
      width_(size_of(dtype)),
      sum_width_(size_of(accumulator_of(dtype))) {}

DISTRIBUTE_INLINE int64_t TreeSum::memory_bytes(const TreePlan& up, DType dtype, int64_t count) {
  int64_t bytes = 0;
  for (const TreePlan::Step& step : up.steps())  // at most: each branch, and the sum
    bytes += (3 - step.sides[0].whole - step.sides[1].whole) *
             whole_lines(step.mine.count_of(count) + 2, size_of(accumulator_of(dtype)));
  return bytes;
}

DISTRIBUTE_INLINE uint64_t TreeSum::tag(uint32_t flow, const TreePlan::Step& step, int side) const {
  return tag_of(flow, task_.number << 6 | step.level << 1 | side);
}

DISTRIBUTE_INLINE void TreeSum::begin(TreeTask task) {
  task_ = std::move(task);
  pending_ = 0;
  joins_.assign(up_.steps().size(), {});
  results_.assign(down_.steps().size(), {});
  for (size_t s = 0; s < joins_.size() && ways_ != Ways::Down; ++s) expect(s);
  for (size_t s = 0; s < results_.size() && ways_ != Ways::Up; ++s)
    for (int side : {0, 1}) {
      const TreePlan::Step& step = down_.steps()[s];
      const TreePlan::Side& one = step.sides[side];
      for (const TreePlan::Piece& piece : one.gives)  // results come from where the pieces go
        messages_.receive(task_.rank_of(piece.holder), tag(kDown, step, side),
                          bytes_at(task_.result, piece.range.begin.of(task_.count) * width_,
                                   elements(piece.range) * width_));
      results_[s].missing_result[side] = int(one.gives.size()) + 1;
      pending_ += int64_t(one.gives.size() + one.gets.size());
    }
}

/// Assigns memory to a join, and sets it for the pieces of others.
DISTRIBUTE_INLINE void TreeSum::expect(size_t s) {
  const TreePlan::Step& step = up_.steps()[s];
  Join& join = joins_[s];
  const int64_t bytes = whole_lines(elements(step.mine) + 1, sum_width_);
  const auto take = [&] { return std::exchange(task_.memory, task_.memory + bytes); };
  for (int side : {0, 1}) {
    const TreePlan::Side& one = step.sides[side];
    join.missing += int(one.gets.size()) + (one.is_mine() ? 1 : 0);
    pending_ += int64_t(one.gets.size() + one.gives.size());
    if (one.whole) continue;
    join.sides[side] = take();
    if (!one.is_rank || width_ == sum_width_) join.sum = join.sides[side];
    const int64_t width = width_of(one.is_rank), begin = step.mine.begin.of(task_.count);
    for (const TreePlan::Piece& piece : one.gets)
      messages_.receive(
          task_.rank_of(piece.holder), tag(kUp, step, side),
          bytes_at(join.sides[side], (piece.range.begin.of(task_.count) - begin) * width,
                   elements(piece.range) * width));
  }
  if (!join.sum) join.sum = take();
}

DISTRIBUTE_INLINE bool TreeSum::supply(int leaf, const std::byte* elements) {
  const TreePlan::Leaf& one = up_.leaves()[size_t(leaf)];
  return provide(size_t(one.parent), one.parent_side, {{elements, one.ranks == 1}, {}});
}

/// Takes this holder's range of a branch: sends what others get of it, keeps the rest.
DISTRIBUTE_INLINE bool TreeSum::provide(size_t s, int side, const Value& value) {
  const TreePlan::Step& step = up_.steps()[s];
  const TreePlan::Side& one = step.sides[side];
  const int64_t width = width_of(value.branch.is_rank), from = value.range.begin.of(task_.count);
  const auto* bytes = static_cast<const std::byte*>(value.branch.data);
  for (const TreePlan::Piece& piece : one.gives)
    messages_.send(task_.rank_of(piece.holder), tag(kUp, step, side),
                   bytes_at(bytes, (piece.range.begin.of(task_.count) - from) * width,
                            elements(piece.range) * width));
  joins_[s].own[side] = value;
  if (!one.whole) {
    const int64_t begin = std::max(value.range.begin, step.mine.begin).of(task_.count);
    const int64_t end = std::min(value.range.end, step.mine.end).of(task_.count);
    if (begin < end)
      copy_bytes(joins_[s].sides[side] + (begin - step.mine.begin.of(task_.count)) * width,
                 bytes + (begin - from) * width, (end - begin) * width);
  }
  return arrived(s);
}

DISTRIBUTE_INLINE bool TreeSum::arrived(size_t s) { return --joins_[s].missing == 0 && join(s); }

DISTRIBUTE_INLINE bool TreeSum::join(size_t s) {
  const TreePlan::Step& step = up_.steps()[s];
  const Join& join = joins_[s];
  Branch branches[2];
  for (int side : {0, 1}) {
    const TreePlan::Side& one = step.sides[side];
    branches[side] = {join.sides[side], one.is_rank};
    if (!one.whole) continue;
    const int64_t skipped =
        step.mine.begin.of(task_.count) - join.own[side].range.begin.of(task_.count);
    branches[side].data =
        static_cast<const std::byte*>(join.own[side].branch.data) + skipped * width_of(one.is_rank);
  }
  combine_branches(op_, dtype_, branches[0], branches[1], join.sum, elements(step.mine));
  if (step.parent >= 0)
    return provide(size_t(step.parent), step.parent_side, {{join.sum, false}, step.mine});
  const int64_t begin = ways_ == Ways::Up ? 0 : step.mine.begin.of(task_.count);
  finish(op_, dtype_, join.sum, task_.result + begin * width_, elements(step.mine), task_.ranks);
  return true;
}

DISTRIBUTE_INLINE void TreeSum::descend() { pass_down(results_.size() - 1); }

/// This holder has the result's range of a join: it goes to the holders of the branches.
DISTRIBUTE_INLINE void TreeSum::pass_down(size_t s) {
  const TreePlan::Step& step = down_.steps()[s];
  for (int side : {0, 1}) {
    for (const TreePlan::Piece& piece : step.sides[side].gets)
      messages_.send(
          task_.rank_of(piece.holder), tag(kDown, step, side),
          bytes_at(static_cast<const std::byte*>(task_.result),
                   piece.range.begin.of(task_.count) * width_, elements(piece.range) * width_),
          true);
    settle(s, side);
  }
}

DISTRIBUTE_INLINE void TreeSum::settle(size_t s, int side) {
  const TreePlan::Side& one = down_.steps()[s].sides[side];
  if (--results_[s].missing_result[side] == 0 && one.step >= 0) pass_down(size_t(one.step));
}

/// Finds the join by its level and the other holder.
DISTRIBUTE_INLINE size_t TreeSum::step_of(const TreePlan& plan,
                                          const Messages::Event& event) const {
  const bool up = flow_of(event.tag) == kUp;
  const int level = int(number_of(event.tag) >> 1 & 31), side = int(number_of(event.tag) & 1);
  for (size_t s = 0; s < plan.steps().size(); ++s) {
    if (plan.steps()[s].level != level) continue;
    const TreePlan::Side& one = plan.steps()[s].sides[side];
    for (const TreePlan::Piece& piece : up ? one.gets : one.gives)
      if (task_.rank_of(piece.holder) == event.peer) return s;
  }
  throw InternalError(str_cat("a piece of a sum from rank ", event.peer, " belongs to no join"));
}

DISTRIBUTE_INLINE bool TreeSum::handle(const Messages::Event& event) {
  --pending_;
  if (event.sent) return false;
  if (flow_of(event.tag) == kUp) return arrived(step_of(up_, event));
  settle(step_of(down_, event), int(number_of(event.tag) & 1));
  return false;
}

}  // namespace distribute::collective
