#pragma once
#include <distribute/collective/detail/tree_reduction.hpp>

#include <algorithm>

namespace distribute::collective {

DISTRIBUTE_INLINE TreeSum::Ways ways_of(Collective kind) {
  if (kind == Collective::ReduceScatter) return TreeSum::Ways::Up;
  return kind == Collective::AllGather ? TreeSum::Ways::Down : TreeSum::Ways::Both;
}

DISTRIBUTE_INLINE TreeReduction::TreeReduction(Messages& messages, Scratch& scratch,
                                               const TreePlan& plan, const Operation& operation,
                                               int64_t section_bytes)
    : messages_(messages),
      plan_(plan),
      operation_(operation),
      rank_(messages.rank()),
      ranks_(messages.size()),
      width_(size_of(operation.dtype)),
      count_(operation.counts.empty() ? operation.count : total(operation.counts)),
      section_(std::max<int64_t>(1, section_bytes / width_)),
      sections_(std::max<int64_t>(1, (count_ + section_ - 1) / section_)),
      parts_(operation.counts, 1),
      missing_deals_(size_t(kWindow), 0) {
  const int64_t most = std::min(section_, count_);
  const bool drops = reduces_whole() && rank_ != operation.peer;
  if (drops) result_bytes_ = most * width_;
  if (operation.kind == Collective::ReduceScatter)
    result_bytes_ = (plan.root_range().count_of(most) + 1) * width_;
  result_bytes_ = (result_bytes_ + 63) / 64 * 64;
  if (operation.kind != Collective::AllGather)
    memory_bytes_ = TreeSum::memory_bytes(plan, operation.dtype, most);
  memory_ = scratch.take(kWindow * (memory_bytes_ + result_bytes_));
  for (int64_t i = 0; i < std::min(kWindow, sections_); ++i)
    sums_.emplace_back(messages, plan, plan, operation.op, operation.dtype,
                       ways_of(operation.kind));
}

DISTRIBUTE_INLINE int64_t TreeReduction::count_of(int64_t section) const {
  return std::min(section_, count_ - begin_of(section));
}

/// Returns memory for a section's result: of the whole section, or of this rank's range.
DISTRIBUTE_INLINE std::byte* TreeReduction::result(int64_t section) {
  if (result_bytes_ > 0)
    return memory_ + kWindow * memory_bytes_ + section % kWindow * result_bytes_;
  return static_cast<std::byte*>(operation_.output) + begin_of(section) * width_;
}

/// Returns the place of an element of the array in the memory of this rank's part.
DISTRIBUTE_INLINE std::byte* TreeReduction::part_place(int64_t element) {
  const int64_t skipped = (element - parts_.begin(rank_)) * width_;
  if (operation_.kind == Collective::ReduceScatter)
    return static_cast<std::byte*>(operation_.output) + skipped;
  return static_cast<std::byte*>(operation_.output) + element * width_;
}

DISTRIBUTE_INLINE std::vector<TreeReduction::Deal> TreeReduction::deals_of(int64_t section) const {
  std::vector<Deal> deals;
  const int64_t begin = begin_of(section), count = count_of(section);
  for (int place = 0, part = 0; place < ranks_; ++place) {
    const int owner = plan_.root_order()[size_t(place)];
    const ArrayRange range = ArrayRange::place(place, ranks_);
    const int64_t from = begin + range.begin.of(count), to = begin + range.end.of(count);
    while (part > 0 && parts_.begin(part) > from) --part;
    for (; part < ranks_ && parts_.begin(part) < to; ++part) {
      const Deal deal = {owner, part, std::max(from, parts_.begin(part)),
                         std::min(to, parts_.begin(part) + parts_.count(part))};
      if (deal.begin < deal.end && (owner == rank_ || part == rank_)) deals.push_back(deal);
    }
    if (part == ranks_) --part;
  }
  return deals;
}

DISTRIBUTE_INLINE void TreeReduction::enter(int64_t section) {
  TreeSum& sum = sum_of(section);
  sum.begin({.number = section,
             .count = count_of(section),
             .ranks = ranks_,
             .memory = memory_ + section % kWindow * memory_bytes_,
             .result = result(section),
             .rank_of = [](int holder) { return holder; }});
  if (deals()) expect_deals(section);
  if (operation_.kind == Collective::AllGather) return send_deals(section);
  const auto* input = static_cast<const std::byte*>(operation_.input);
  if (sum.supply(0, input + begin_of(section) * width_)) summed(section);
}

/// This rank's range of a section is summed.
DISTRIBUTE_INLINE void TreeReduction::summed(int64_t section) {
  deals() ? send_deals(section) : sum_of(section).descend();
}

/// A ReduceScatter sends from ranges to parts, an AllGather from parts to ranges.
DISTRIBUTE_INLINE void TreeReduction::expect_deals(int64_t section) {
  const bool scatters = operation_.kind == Collective::ReduceScatter;
  missing_deals(section) = 1;
  for (const Deal& deal : deals_of(section)) {
    if (deal.owner == deal.part) continue;
    ++missing_deals(section);
    if ((scatters ? deal.part : deal.owner) != rank_) continue;
    messages_.receive(scatters ? deal.owner : deal.part, tag_of(kDeal, section),
                      bytes_at(part_place(deal.begin), 0, (deal.end - deal.begin) * width_));
  }
}

DISTRIBUTE_INLINE void TreeReduction::send_deals(int64_t section) {
  const bool scatters = operation_.kind == Collective::ReduceScatter;
  const int64_t first = begin_of(section) + plan_.root_range().begin.of(count_of(section));
  for (const Deal& deal : deals_of(section)) {
    const int64_t bytes = (deal.end - deal.begin) * width_;
    if ((scatters ? deal.owner : deal.part) != rank_) continue;
    const std::byte* from =
        scatters ? result(section) + (deal.begin - first) * width_ : part_place(deal.begin);
    if (deal.owner != deal.part)
      messages_.send(scatters ? deal.part : deal.owner, tag_of(kDeal, section),
                     bytes_at(from, 0, bytes));
    else if (scatters)
      copy_bytes(part_place(deal.begin), from, bytes);
  }
  dealt(section);
}

/// Counts a deal that has come or was sent; an AllGather's way back begins with the last.
DISTRIBUTE_INLINE void TreeReduction::dealt(int64_t section) {
  if (--missing_deals(section) == 0 && operation_.kind == Collective::AllGather)
    sum_of(section).descend();
}

DISTRIBUTE_INLINE void TreeReduction::handle(const Messages::Event& event) {
  if (!TreeSum::owns(event)) return dealt(number_of(event.tag));
  const int64_t section = TreeSum::number_of_sum(event);
  if (sum_of(section).handle(event)) summed(section);
}

/// A section that another rank has begun is begun here as soon as its memory is free: its messages
/// would hold up others.
DISTRIBUTE_INLINE void TreeReduction::advance() {
  const auto is_done = [&](int64_t section) {
    return sum_of(section).done() && missing_deals(section) == 0;
  };
  do {
    while (low_ < entered_ && is_done(low_)) ++low_;
    while (entered_ < sections_ && entered_ < low_ + kWindow) enter(entered_++);
  } while (low_ < entered_ && is_done(low_));
}

DISTRIBUTE_INLINE void TreeReduction::run() {
  if (operation_.kind == Collective::AllGather)
    copy_bytes(part_place(parts_.begin(rank_)), operation_.input, parts_.count(rank_) * width_);
  for (advance(); low_ < sections_; advance()) handle(messages_.next());
  messages_.finish();
}

}  // namespace distribute::collective
