#pragma once
/// A slot of an optimizer that is cut into slices, of which each worker keeps its own.

#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/collective/communicator.hpp>
#include <distribute/strategy/distributed_variable.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace distribute::strategy_internal {

/// The workers that share out a slot; a worker's slice is that of its replicas together.
struct SlotWorkers {
  std::shared_ptr<collective::Communicator> group;
  int replicas_per_worker = 1;
};

/// Looks to its readers like a whole variable: reading gathers it from all workers, which must do
/// so together; writing keeps this worker's slice. It may outlive the strategy, though it can only
/// be read while the workers are connected. Replicas write their own slices at the same time.
class ShardedSlot final : public StrategySlot {
 public:
  /// `options` are those of a slot: they give the shape and the number that fills it.
  ShardedSlot(const VariableOptions& options, const Strategy& owner, SlotWorkers workers);

  const Strategy* owner() const override { return owner_; }
  /// The elements of the block of which slices are cut, padding included.
  int64_t block_size() const;
  /// This worker's elements of the block, from number begin() on.
  float* elements() { return elements_.data(); }
  int64_t begin() const { return begin_; }
  int64_t local_size() const { return int64_t(elements_.size()); }
  /// Cuts the slices of a block in this layout from now on.
  /// Blocks  until all workers have called it, if the layout is another one.
  void arrange(const LayoutPtr& layout);

  /// Blocks  until all workers have called it.
  /// Throws  FailedPreconditionError in a replica.
  DISTRIBUTE_INLINE Tensor read() const override;
  DISTRIBUTE_INLINE void assign(const Tensor& value) override;
  DISTRIBUTE_INLINE void assign_add(const Tensor& delta) override;
  DISTRIBUTE_INLINE void assign_sub(const Tensor& delta) override;
  Tensor component(int) const override { return read(); }
  void set_component(int, Tensor value) override { assign(value); }
  Shape shape() const override { return shape_; }
  DType dtype() const override { return DType::Float32; }
  DISTRIBUTE_INLINE std::string device() const override;

 private:
  std::vector<int64_t> counts() const;  // by worker
  void cut(float first_value);
  Tensor gather() const;
  template <typename Fn>
  void change(const Tensor& value, Fn&& fn);

  const Strategy* const owner_;
  const SlotWorkers workers_;
  const Shape shape_;
  LayoutPtr layout_;  // null: row-major
  std::vector<float> elements_;
  int64_t begin_ = 0;
};

/// Whether a variable about to be made is a slot, which begins with one number everywhere.
bool is_slot(const VariableOptions& options);

}  // namespace distribute::strategy_internal
