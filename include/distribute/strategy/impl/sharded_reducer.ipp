#pragma once
#include <distribute/autograd/detail/accumulate.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/replica/detail/sum_rows.hpp>
#include <distribute/strategy/detail/sharded_reducer.hpp>
#include <distribute/strategy/detail/sharded_slot.hpp>
#include <distribute/strategy/detail/shared_update.hpp>
#include <distribute/strategy/detail/tensor_collectives.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace distribute::strategy_internal {

/// A step of all replicas of this worker: the one copy of the weights, which they write.
struct ShardedReducer::Step {
  std::vector<VariableUpdate> weights;  // without slots; the gradients give layouts alone
  std::vector<replica_internal::UpdateTarget> targets;
  std::vector<std::vector<ShardedSlot*>> slots;  // by update
};

/// A replica brings these to the meeting that begins a step.
struct ShardedReducer::Call {
  std::span<const VariableUpdate> updates;
  std::shared_ptr<Step> step = nullptr;
};

DISTRIBUTE_INLINE ShardedReducer::ShardedReducer(LocalReplicaContext& context, WorkerState& state)
    : GradientReducer({.early = true, .shards_slots = true}),
      context_(context),
      group_(state.group_of(context)),
      buckets_(state.group.replicas[size_t(context.local_replica_id())], state.options),
      local_(context) {}
DISTRIBUTE_INLINE ShardedReducer::~ShardedReducer() = default;

DISTRIBUTE_INLINE void ShardedReducer::ready(const Variable& variable, const Tensor& gradient) {
  if (!sparse_) buckets_.ready(variable, gradient);
}

/// Gives the updates with dense gradients, which tell shapes and layouts.
DISTRIBUTE_INLINE std::vector<VariableUpdate> without_sparse(
    std::span<const VariableUpdate> updates) {
  std::vector<VariableUpdate> dense(updates.begin(), updates.end());
  for (VariableUpdate& update : dense)
    if (is_indexed_slices(update.gradient))
      update.gradient = Tensor::empty(update.gradient.shape(), DType::Float32, Device{});
  return dense;
}

DISTRIBUTE_INLINE void ShardedReducer::update(std::span<const VariableUpdate> updates,
                                              bool gradients_are_reduced,
                                              const UpdateKernel& kernel) {
  sparse_ = has_sparse(updates);
  const bool whole = gradients_are_reduced || sparse_;
  std::vector<Tensor> sums;
  if (whole) {
    buckets_.drop();
    sums = gradients_are_reduced ? gradients_of(updates)
                                 : all_reduce_tensors(group_, ReduceOp::Sum, gradients_of(updates));
    if (updates.empty() || updates[0].slots.empty())
      return local_.update_with(updates, std::move(sums), kernel);
  }
  if (!buckets_.fits(updates)) buckets_.plan(without_sparse(updates));
  update_slices(updates, whole ? &sums : nullptr, kernel);
}

DISTRIBUTE_INLINE void ShardedReducer::update_slices(std::span<const VariableUpdate> updates,
                                                     const std::vector<Tensor>* whole,
                                                     const UpdateKernel& kernel) {
  if (!whole) buckets_.take(updates);  // first, so that all ranks have begun the same sums
  Call call{updates};
  replicas().meet(replica(), "update", call, [&](replica_internal::Meeting<Call> calls) {
    for (size_t r = 1; r < calls.size(); ++r)
      if (!buckets_.fits(calls[r].updates))
        throw InvalidArgumentError(str_cat("update: replica ", r, " updates other variables than ",
                                           "replica 0", replicas().notes()));
    const std::shared_ptr<Step> step = begin(updates);
    calls.for_each([&](Call& one) { one.step = step; });
  });
  for (size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    if (!whole) buckets_.wait_for_sums(bucket);
    compute(*call.step, buckets_.pieces(bucket), whole, kernel);
    buckets_.gather(bucket);
  }
  for (size_t bucket = 0; bucket < buckets_.size(); ++bucket) receive(*call.step, bucket);
  buckets_.end();
  replicas().meet(replica(), "update", [&] { call.step->targets.clear(); });
}

/// Gives all copies of a variable one tensor in this layout.
DISTRIBUTE_INLINE void share_in_layout(const Variable& variable, const LayoutPtr& layout) {
  VariableImpl& impl = variable.impl();
  const Tensor value = impl.component(0);
  const bool same = same_layout(value.layout(), layout);
  if (same && is_shared(variable)) return;
  const Tensor one = (same ? value : in_layout(value, layout)).renamed();
  for (int i = 0; i < impl.num_components(); ++i) impl.set_component(i, one);
}

/// Takes the weights, and brings the slots into the layouts of the plan: replica 0 does it while
/// the others wait.
DISTRIBUTE_INLINE std::shared_ptr<ShardedReducer::Step> ShardedReducer::begin(
    std::span<const VariableUpdate> updates) {
  context_.check_owner(updates);
  auto step = std::make_shared<Step>();
  const std::vector<Tensor> forms = buckets_.forms();
  step->targets.reserve(updates.size());
  for (size_t u = 0; u < updates.size(); ++u) {
    replica_internal::check_update(updates[u]);
    step->weights.push_back({updates[u].variable, {}, forms[u]});
    std::vector<ShardedSlot*>& slots = step->slots.emplace_back();
    for (const Variable& slot : updates[u].slots) {
      slots.push_back(dynamic_cast<ShardedSlot*>(&slot.impl()));
      if (!slots.back())
        throw InvalidArgumentError(str_cat("shard_optimizer_state: slot '", slot.name(),
                                           "' is a variable that was made ",
                                           "whole; make slots by the optimizer"));
      slots.back()->arrange(forms[u].layout());
    }
  }
  for (const VariableUpdate& one : step->weights) {
    share_in_layout(one.variable, one.gradient.layout());
    step->targets.emplace_back(one, 0, one.variable.impl().num_components());
  }
  return step;
}

/// Some neighbouring elements of one variable, with what an optimizer changes there.
struct SlicePart {
  size_t update;
  int64_t begin, count;  // elements of the variable's block
  float* weights;
  std::vector<float*> slots;

  SlicePart from(int64_t skipped, int64_t size) const {
    SlicePart part{update, begin + skipped, size, weights + skipped, slots};
    for (float*& slot : part.slots) slot += skipped;
    return part;
  }
};

/// Updates the part of each row of a sparse gradient that lies in the slice.
DISTRIBUTE_INLINE void update_sparse_slice(const SlicePart& slice, const Tensor& gradient,
                                           const UpdateKernel& kernel) {
  const IndexedSlices rows = indexed_slices(gradient);
  const auto indices = rows.indices.data<int64_t>();
  const int64_t width = rows.values.num_elements() / std::max<int64_t>(int64_t(indices.size()), 1);
  const int64_t slice_end = slice.begin + slice.count;
  replica_internal::sum_rows(indices, rows.values.data<float>().data(), width,
                             [&](int64_t row, const float* sum) {
                               const int64_t begin = std::max(row * width, slice.begin);
                               const int64_t end = std::min((row + 1) * width, slice_end);
                               if (begin >= end) return;
                               SlicePart part = slice.from(begin - slice.begin, end - begin);
                               kernel(part.update, part.weights, part.slots.data(),
                                      sum + (begin - row * width), part.count);
                             });
}

/// Applies the kernel to a slice, in parts that threads share.
DISTRIBUTE_INLINE void update_slice(const SlicePart& slice, const float* gradient,
                                    const UpdateKernel& kernel) {
  constexpr int64_t kPart = 16384;
  parallel_for((slice.count + kPart - 1) / kPart, 1, [&](int64_t first, int64_t last) {
    const int64_t begin = first * kPart, end = std::min(last * kPart, slice.count);
    SlicePart part = slice.from(begin, end - begin);
    kernel(part.update, part.weights, part.slots.data(), gradient + begin, part.count);
  });
}

/// Updates this replica's pieces of a bucket, and writes the new weights where the sums were.
DISTRIBUTE_INLINE void ShardedReducer::compute(const Step& step,
                                               std::span<const BucketPiece> pieces,
                                               const std::vector<Tensor>* whole,
                                               const UpdateKernel& kernel) const {
  for (const BucketPiece& piece : pieces) {
    SlicePart slice{piece.update,
                    piece.begin,
                    piece.count,
                    step.targets[piece.update].weights() + piece.begin,
                    {}};
    for (ShardedSlot* slot : step.slots[piece.update])
      slice.slots.push_back(slot->elements() + (piece.begin - slot->begin()));
    const LayoutPtr& layout = step.targets[piece.update].layout();
    if (!whole) {
      update_slice(slice, piece.values, kernel);
    } else if (const Tensor& sum = (*whole)[piece.update]; is_indexed_slices(sum) && !layout) {
      update_sparse_slice(slice, sum, kernel);
    } else {
      const Tensor arranged = in_layout(is_indexed_slices(sum) ? sum.row_major() : sum, layout);
      update_slice(slice, reinterpret_cast<const float*>(arranged.array().bytes()) + piece.begin,
                   kernel);
    }
    std::memcpy(piece.values, slice.weights, size_t(piece.count) * sizeof(float));
  }
}

/// Writes the weights that other workers have updated; the replicas of this one share the work.
DISTRIBUTE_INLINE void ShardedReducer::receive(const Step& step, size_t bucket) {
  const int local = replicas().size(), first = group_.rank() - replica();
  const std::vector<BucketPiece> pieces = buckets_.gathered(bucket, first, first + local);
  for (size_t i = size_t(replica()); i < pieces.size(); i += size_t(local)) {
    const BucketPiece& piece = pieces[i];
    std::memcpy(step.targets[piece.update].weights() + piece.begin, piece.values,
                size_t(piece.count) * sizeof(float));
  }
}

}  // namespace distribute::strategy_internal
