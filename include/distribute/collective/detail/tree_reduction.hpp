#pragma once
/// Collectives of many ranks in log(n) steps, over messages.

#include <distribute/base/config.hpp>
#include <distribute/collective/detail/message_tools.hpp>
#include <distribute/collective/detail/messages.hpp>
#include <distribute/collective/detail/tree_plan.hpp>
#include <distribute/collective/detail/tree_sum.hpp>
#include <distribute/collective/operation.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace distribute::collective {

/// Cuts the array into sections and sums each with a TreeSum, a few at once: while one waits for
/// messages others add. A ReduceScatter has no way back, but each rank sends its range of a sum to
/// the ranks whose parts lie there. An AllGather begins with the same messages, the other way
/// round.
/// Units   bytes on the wire per rank: 2 (n-1)/n * size for AllReduce and Reduce; partial results
/// of
///         16-bit floats go as float32.
class TreeReduction {
 public:
  /// `operation` is AllReduce, Reduce, ReduceScatter or AllGather; `plan` is TreePlan::of_ranks().
  TreeReduction(Messages& messages, Scratch& scratch, const TreePlan& plan,
                const Operation& operation, int64_t section_bytes);
  void run();

 private:
  static constexpr uint32_t kDeal = 0;
  static constexpr int64_t kWindow = 4;  // sections in progress

  /// A range of a section's result that is in one rank's part of the array; positions count the
  /// elements of the array.
  struct Deal {
    int owner = 0, part = 0;  // ranks: of the range of the sum, and of the part
    int64_t begin = 0, end = 0;
  };

  bool deals() const { return operation_.kind != Collective::AllReduce && !reduces_whole(); }
  bool reduces_whole() const { return operation_.kind == Collective::Reduce; }
  int64_t begin_of(int64_t section) const { return section * section_; }
  int64_t count_of(int64_t section) const;
  /// Returns the deals of a section that this rank sends or gets.
  std::vector<Deal> deals_of(int64_t section) const;
  void advance();
  void enter(int64_t section);
  void summed(int64_t section);
  void expect_deals(int64_t section);
  void send_deals(int64_t section);
  void dealt(int64_t section);
  void handle(const Messages::Event& event);
  std::byte* result(int64_t section);
  std::byte* part_place(int64_t element);
  TreeSum& sum_of(int64_t section) { return sums_[size_t(section % kWindow)]; }
  int64_t& missing_deals(int64_t section) { return missing_deals_[size_t(section % kWindow)]; }

  Messages& messages_;
  const TreePlan& plan_;
  const Operation& operation_;
  const int rank_, ranks_;
  const int64_t width_, count_, section_, sections_;
  Parts parts_;
  int64_t memory_bytes_ = 0, result_bytes_ = 0;  // of a section
  std::byte* memory_ = nullptr;
  std::deque<TreeSum> sums_;
  std::vector<int64_t> missing_deals_;
  int64_t low_ = 0, entered_ = 0;  // all sections below low_ are done, those below entered_ begun
};

/// Sums by recursive doubling: at each join of the tree both branches exchange their whole partial
/// results, so that after log2(n) messages all ranks have computed the result. Where the right
/// branch has fewer ranks, those of the left pass its partial result on.
/// Units   bytes on the wire per rank: log2(n) * size.
void reduce_by_doubling(Messages& messages, Scratch& scratch, const Operation& operation);

}  // namespace distribute::collective
