#pragma once
#include <distribute/autograd/detail/accumulate.hpp>
#include <distribute/base/error.hpp>
#include <distribute/strategy/detail/sharded_buckets.hpp>

#include <cstring>

namespace distribute::strategy_internal {

/// Waits for operations in progress, which use the counts.
DISTRIBUTE_INLINE ShardedBuckets::~ShardedBuckets() {
  settle();
  for (const collective::Work& work : weights_) {
    try {
      work.wait();
    } catch (const Error&) {  // thrown already where the weights were needed
    }
  }
}

DISTRIBUTE_INLINE int64_t ShardedBuckets::elements(size_t slot) const {
  return slots_->bytes(slot) / int64_t(sizeof(float));
}

DISTRIBUTE_INLINE void ShardedBuckets::plan(std::span<const VariableUpdate> updates) {
  GradientBuckets::plan(updates);
  const int ranks = group_->size();
  update_of_.resize(updates.size());
  for (size_t u = 0; u < updates.size(); ++u) update_of_[slot_of_[u]] = u;
  places_.assign(updates.size() * size_t(ranks), 0);
  counts_.assign(buckets_.size(), std::vector<int64_t>(size_t(ranks), 0));
  weights_.assign(buckets_.size(), {});
  for (const Bucket& bucket : buckets_) {
    int64_t at = bucket.begin;
    for (int r = 0; r < ranks; ++r)
      for (size_t slot = bucket.first; slot < bucket.last; ++slot) {
        const Share share = share_of(elements(slot), r, ranks);
        places_[slot * size_t(ranks) + size_t(r)] = at;
        at += (share.end - share.begin) * int64_t(sizeof(float));
        counts_[index_of(bucket)][size_t(r)] += share.end - share.begin;
      }
  }
}

DISTRIBUTE_INLINE std::vector<Tensor> ShardedBuckets::forms() const {
  const std::vector<Tensor> by_slot =
      slots_->gradients({static_cast<std::byte*>(memory_->data()), size_t(bytes_)});
  std::vector<Tensor> result;
  for (const size_t slot : slot_of_) result.push_back(by_slot[slot]);
  return result;
}

DISTRIBUTE_INLINE BucketPiece ShardedBuckets::piece(size_t slot, int rank, char* memory) const {
  const Share share = share_of(elements(slot), rank, group_->size());
  const int64_t at = places_[slot * size_t(group_->size()) + size_t(rank)];
  return {update_of_[slot], share.begin, share.end - share.begin,
          reinterpret_cast<float*>(memory + at)};
}

DISTRIBUTE_INLINE void ShardedBuckets::store(size_t slot, const Tensor& gradient) {
  const Tensor arranged = in_layout(gradient, slots_->layout(slot));
  const auto* from = reinterpret_cast<const float*>(arranged.array().bytes());
  for (int r = 0; r < group_->size(); ++r) {
    const BucketPiece to = piece(slot, r, static_cast<char*>(memory_->data()));
    std::memcpy(to.values, from + to.begin, size_t(to.count) * sizeof(float));
  }
}

/// Sums of bfloat16 numbers come to the end of a bucket's sums, of which this rank's own, as
/// floats, take at most the first half and a little more.
DISTRIBUTE_INLINE int64_t ShardedBuckets::narrow_place(const Bucket& bucket) const {
  const int64_t own = counts_[index_of(bucket)][size_t(group_->rank())];
  return (bytes_ + bucket.end - own * int64_t(sizeof(bfloat16))) & ~int64_t{3};
}

DISTRIBUTE_INLINE void ShardedBuckets::launch(Bucket& bucket) {
  auto* const memory = static_cast<char*>(memory_->data());
  const std::vector<int64_t>& counts = counts_[index_of(bucket)];
  if (options_.bfloat16_gradients)
    bucket.work = group_->reduce_scatter_async(narrowed(bucket), memory + narrow_place(bucket),
                                               counts, DType::BFloat16);
  else
    bucket.work = group_->reduce_scatter_async(
        memory + bucket.begin, memory + bytes_ + bucket.begin, counts, DType::Float32);
}

DISTRIBUTE_INLINE void ShardedBuckets::finish(Bucket& bucket) {
  bucket.work.wait();
  if (options_.bfloat16_gradients)
    widen(bytes_ + bucket.begin, narrow_place(bucket),
          counts_[index_of(bucket)][size_t(group_->rank())]);
}

/// A rank's own sums lie at the beginning of the bucket's, one after the other.
DISTRIBUTE_INLINE std::vector<BucketPiece> ShardedBuckets::pieces(size_t bucket) const {
  std::vector<BucketPiece> mine;
  char* at = static_cast<char*>(memory_->data()) + bytes_ + buckets_[bucket].begin;
  for (size_t slot = buckets_[bucket].first; slot < buckets_[bucket].last; ++slot) {
    mine.push_back(piece(slot, group_->rank(), nullptr));
    mine.back().values = reinterpret_cast<float*>(at);
    at += mine.back().count * int64_t(sizeof(float));
  }
  return mine;
}

DISTRIBUTE_INLINE void ShardedBuckets::gather(size_t bucket) {
  auto* const memory = static_cast<char*>(memory_->data()) + buckets_[bucket].begin;
  weights_[bucket] =
      group_->all_gather_async(memory + bytes_, memory, counts_[bucket], DType::Float32);
}

DISTRIBUTE_INLINE std::vector<BucketPiece> ShardedBuckets::gathered(size_t bucket, int first,
                                                                    int last) {
  weights_[bucket].wait();
  std::vector<BucketPiece> theirs;
  for (size_t slot = buckets_[bucket].first; slot < buckets_[bucket].last; ++slot)
    for (int r = 0; r < group_->size(); ++r)
      if (r < first || r >= last)
        theirs.push_back(piece(slot, r, static_cast<char*>(memory_->data())));
  return theirs;
}

}  // namespace distribute::strategy_internal
