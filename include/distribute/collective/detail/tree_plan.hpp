#pragma once
/// Plans of recursive halving and doubling: which piece goes to whom.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <vector>

namespace distribute::collective {

/// An array's elements from begin * count to end * count.
struct ArrayRange {
  /// A fraction of an array.
  struct Edge {
    int64_t above = 0, below = 1;
    int64_t of(int64_t count) const { return count * above / below; }
    bool operator<(const Edge& other) const { return above * other.below < other.above * below; }
  };
  Edge begin, end = {1, 1};

  /// Returns place `index` of an array cut into `places` equal ones.
  static ArrayRange place(int index, int places) { return {{index, places}, {index + 1, places}}; }
  int64_t count_of(int64_t count) const { return end.of(count) - begin.of(count); }
  bool holds(const ArrayRange& other) const { return !(other.begin < begin || end < other.end); }
};

/// One holder's part in sums of arrays that several holders have: ranks, or hosts with the sums of
/// their ranks. The holders of a branch of the tree of sum_order.hpp share out its array, each has
/// the sum of one range. Where two branches join, the holders of both share out the array anew: a
/// holder sends the pieces of its range to the new owners, and adds what it gets. So a rank sends
/// half of the array at the first join, a quarter at the next, and so on. Results go back along the
/// same ways.
/// Source  Thakur, Rabenseifner & Gropp 2005; the ranges of ranks that are not a power of two are
///         this library's.
class TreePlan {
 public:
  struct Piece {
    int holder = 0;  // who gets or sends it
    ArrayRange range;
  };
  /// A branch at a join, as far as this holder takes part.
  struct Side {
    int step = -1, leaf = -1;  // what gives this holder's range of the branch; both -1: others
    bool is_rank = false;      // whether the branch is one rank
    ArrayRange held;           // this holder's range of the branch
    bool whole = false;        // whether that holds the range of the join
    std::vector<Piece> gives, gets;
    bool is_mine() const { return step >= 0 || leaf >= 0; }
  };
  /// A join. Two holders share at most one join of a level.
  struct Step {
    int level = 0;
    int parent = -1, parent_side = 0;
    ArrayRange mine;
    Side sides[2];
  };
  /// Ranks whose sum this holder has by itself.
  struct Leaf {
    int first = 0, ranks = 0;
    int parent = -1, parent_side = 0;
  };

  /// `holder_of_rank` never falls. `root_order` tells who gets which range of the whole sum, by
  /// default the order in which joins interleave the holders.
  TreePlan(const std::vector<int>& holder_of_rank, int me, const std::vector<int>& root_order = {});
  /// Makes the plan of `ranks` ranks that hold one array each.
  static TreePlan of_ranks(int ranks, int me);

  /// Returns the joins of this holder, those of branches before their parents; the last is the
  /// root. There are none with a single holder.
  const std::vector<Step>& steps() const { return steps_; }
  const std::vector<Leaf>& leaves() const { return leaves_; }
  /// Returns the holders by the ranges of the whole sum that they have.
  const std::vector<int>& root_order() const { return root_order_; }
  ArrayRange root_range() const { return steps_.back().mine; }

 private:
  struct Node;
  Node build(int first, int ranks, const std::vector<int>& order);
  Node join(const Node& left, const Node& right, int first, int ranks,
            const std::vector<int>& order);
  void connect(Side& side, const Node& branch, const Node& joined, ArrayRange mine) const;

  const std::vector<int> holders_;
  const int me_;
  std::vector<Step> steps_;
  std::vector<Leaf> leaves_;
  std::vector<int> root_order_;
};

}  // namespace distribute::collective
