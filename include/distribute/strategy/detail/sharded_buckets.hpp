#pragma once
/// Buckets of gradients whose sums each rank gets in part, and of weights that come back.

#include <distribute/base/config.hpp>
#include <distribute/strategy/detail/gradient_buckets.hpp>
#include <distribute/strategy/detail/reduction.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace distribute::strategy_internal {

/// The slice that one rank has of one variable: elements of the variable's block, and where they
/// are in a bucket.
struct BucketPiece {
  size_t update;         // number of the update
  int64_t begin, count;  // elements of the block
  float* values;         // in memory of this replica
};

/// Buckets of gradients for optimizers whose slots are cut into slices. They are filled in the same
/// order as without slices, but each is arranged by ranks: the slices of rank 0 of all its
/// variables, then those of rank 1, and so on. So one operation reduce-scatters a bucket, and one
/// gathers it. One replica thread.
class ShardedBuckets final : public GradientBuckets {
 public:
  ShardedBuckets(const std::shared_ptr<collective::Communicator>& group,
                 const CommunicationOptions& options)
      : GradientBuckets(group, group, options) {}
  DISTRIBUTE_INLINE ~ShardedBuckets() override;

  /// Does what GradientBuckets::plan() does, for dense gradients or their shapes alone.
  void plan(std::span<const VariableUpdate> updates);
  size_t size() const { return buckets_.size(); }
  const LayoutPtr& layout(size_t update) const { return slots_->layout(slot_of_[update]); }
  /// Gradients without values in the planned layouts, by update.
  std::vector<Tensor> forms() const;

  /// Begins the sums that ready() has not begun.
  void take(std::span<const VariableUpdate> updates) { take_all(updates); }
  /// Waits for the sums of a bucket; pieces() then has those of this rank.
  void wait_for_sums(size_t bucket) { finish(buckets_[bucket]); }
  /// This rank's pieces of a bucket: its sums, which the new weights replace.
  std::vector<BucketPiece> pieces(size_t bucket) const;
  /// Sends the weights that were written into pieces() to all ranks.
  void gather(size_t bucket);
  /// Waits for the weights; gives the pieces of all ranks except [first, last).
  std::vector<BucketPiece> gathered(size_t bucket, int first, int last);
  /// Ends the step.
  void end() { begin_step(); }

 protected:
  DISTRIBUTE_INLINE void store(size_t slot, const Tensor& gradient) override;
  DISTRIBUTE_INLINE void launch(Bucket& bucket) override;
  DISTRIBUTE_INLINE void finish(Bucket& bucket) override;

 private:
  size_t index_of(const Bucket& bucket) const { return size_t(&bucket - buckets_.data()); }
  int64_t elements(size_t slot) const;
  BucketPiece piece(size_t slot, int rank, char* memory) const;
  int64_t narrow_place(const Bucket& bucket) const;

  std::vector<size_t> update_of_;             // slot -> update
  std::vector<int64_t> places_;               // of slot s and rank r, at s * ranks + r: bytes
  std::vector<std::vector<int64_t>> counts_;  // by bucket and rank: elements
  std::vector<collective::Work> weights_;     // by bucket
};

}  // namespace distribute::strategy_internal
