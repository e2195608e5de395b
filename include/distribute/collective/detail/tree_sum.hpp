#pragma once
/// One sum by recursive halving, and the way back of its result by recursive doubling.

#include <distribute/base/config.hpp>
#include <distribute/collective/detail/combine.hpp>
#include <distribute/collective/detail/messages.hpp>
#include <distribute/collective/detail/tree_plan.hpp>
#include <distribute/collective/operation.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace distribute::collective {

/// One sum: the array's size, and where its results go.
struct TreeTask {
  int64_t number = 0;           // of the sum within its operation, for tags
  int64_t count = 0;            // elements of the whole array
  int ranks = 0;                // of the whole operation, for Mean
  std::byte* memory = nullptr;  // of TreeSum::memory_bytes() for the partial results
  /// The whole result in the operation's dtype; of a sum without a way back this holder's range.
  std::byte* result = nullptr;
  std::function<int(int holder)> rank_of;
};

/// One end of a sum over a tree. The owner passes the events of its messages to it. An object
/// serves one sum after the other.
class TreeSum {
 public:
  static constexpr uint32_t kUp = 16, kDown = 17;  // flows of tags
  /// Which ways of the array are wanted.
  enum class Ways : uint8_t { Both, Up, Down };

  /// `up` and `down` are borrowed; down's holders are up's, each with one leaf, and both have the
  /// same root_order().
  TreeSum(Messages& messages, const TreePlan& up, const TreePlan& down, ReductionOp op, DType dtype,
          Ways ways);
  /// Returns the bytes of TreeTask::memory for arrays of at most `count` elements.
  static int64_t memory_bytes(const TreePlan& up, DType dtype, int64_t count);
  /// Whether an event belongs to a TreeSum, and to the one of which number.
  static bool owns(const Messages::Event& event) { return flow_of(event.tag) >= kUp; }
  static int64_t number_of_sum(const Messages::Event& event) { return number_of(event.tag) >> 6; }

  /// Sets the memory for all messages.
  void begin(TreeTask task);
  /// Gives the elements of a leaf of `up`: a partial result, or one rank's elements if the leaf is
  /// one rank. Returns whether this holder's range of the sum is complete now.
  bool supply(int leaf, const std::byte* elements);
  /// Handles one of its events. Returns as supply().
  bool handle(const Messages::Event& event);
  /// Sends this holder's range of the result, which is in its place, on the way back.
  void descend();
  /// Whether all messages have come and were sent.
  bool done() const { return pending_ == 0; }

 private:
  /// A value of this holder: its range of a branch, or of a join.
  struct Value {
    Branch branch;
    ArrayRange range;
  };
  struct Join {
    int missing = 0;  // what it waits for
    std::byte* sides[2] = {nullptr,
                           nullptr};  // memory of this range of a branch, unless it is whole
    std::byte* sum = nullptr;
    Value own[2];  // this holder's ranges of the branches
    int missing_result[2] = {0, 0};
  };

  void expect(size_t step);
  bool provide(size_t step, int side, const Value& value);
  bool arrived(size_t step);
  bool join(size_t step);
  void pass_down(size_t step);
  void settle(size_t step, int side);
  size_t step_of(const TreePlan& plan, const Messages::Event& event) const;
  uint64_t tag(uint32_t flow, const TreePlan::Step& step, int side) const;
  int64_t elements(const ArrayRange& range) const { return range.count_of(task_.count); }
  int64_t width_of(bool is_rank) const { return is_rank ? width_ : sum_width_; }

  Messages& messages_;
  const TreePlan &up_, &down_;
  const ReductionOp op_;
  const DType dtype_;
  const Ways ways_;
  const int64_t width_, sum_width_;
  TreeTask task_;
  std::vector<Join> joins_, results_;  // of the steps of up_ and down_
  int64_t pending_ = 0;                // messages that have not come, or not been sent
};

}  // namespace distribute::collective
