#pragma once
#include <distribute/autograd/detail/accumulate.hpp>
#include <distribute/autograd/detail/lazy_product.hpp>
#include <distribute/autograd/detail/recorded_step.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/device/detail/cuda_memory.hpp>
#include <distribute/device/detail/cuda_module.hpp>
#include <distribute/device/detail/kernel_arguments.hpp>
#include <distribute/device/detail/prepared_values.hpp>
#include <distribute/device/detail/transposed_filter_cache.hpp>
#include <distribute/replica/detail/gradient_reducer.hpp>
#include <distribute/replica/detail/sum_rows.hpp>
#include <distribute/replica/replica_context.hpp>

#include <algorithm>
#include <cstring>

namespace distribute {

DISTRIBUTE_INLINE kernels::UpdateNumbers GpuUpdate::numbers() const {
  kernels::UpdateNumbers now{{}, decay, average_momentum};
  for (size_t i = 0; i < formula.numbers.size(); ++i) now.row[i] = formula.numbers[i];
  return now;
}

DISTRIBUTE_INLINE Tensor ReplicaContext::all_reduce(ReduceOp op, const Tensor& value) {
  return all_reduce(op, std::span(&value, 1))[0];
}

DISTRIBUTE_INLINE void ReplicaContext::merge(const std::function<void()>& fn) {
  merge_untyped([&](std::span<void* const>) { fn(); }, nullptr);
}

DISTRIBUTE_INLINE void ReplicaContext::update(std::span<const VariableUpdate> updates,
                                              bool gradients_are_reduced,
                                              const UpdateKernel& kernel) {
  gradient_reducer().update(updates, gradients_are_reduced, kernel);
}

DISTRIBUTE_INLINE ReplicaContext* get_replica_context() {
  const auto& modes = replica_internal::mode_stack();
  return modes.empty() ? &replica_internal::default_replica_context() : modes.back().replica;
}

DISTRIBUTE_INLINE bool in_cross_replica_context() { return get_replica_context() == nullptr; }

DISTRIBUTE_INLINE int current_num_replicas_in_sync() {
  if (const ReplicaContext* replica = get_replica_context()) return replica->num_replicas_in_sync();
  const SyncGroup* group = replica_internal::mode_stack().back().group;
  return group ? group->num_replicas_in_sync() : 1;
}

namespace replica_internal {

DISTRIBUTE_INLINE GradientReducer& reducer_of(ReplicaContext& replica) {
  return replica.gradient_reducer();
}

DISTRIBUTE_INLINE std::vector<Mode>& mode_stack() {
  return base_internal::in_thread_context<base_internal::ContextPlace{4, 0, true},
                                          std::vector<Mode>>();
}

DISTRIBUTE_INLINE ModeScope::ModeScope(const Mode& mode) { mode_stack().push_back(mode); }
DISTRIBUTE_INLINE ModeScope::~ModeScope() { mode_stack().pop_back(); }

DISTRIBUTE_INLINE void check_update(const VariableUpdate& update) {
  const Shape shape = update.variable.shape();
  const auto check = [&](const char* what, const Shape& its_shape, DType dtype) {
    if (dtype == DType::Float32 && its_shape == shape) return;
    throw InvalidArgumentError(str_cat("update of variable '", update.variable.name(),
                                       "': variable, slots and gradient must be ", "float32 ",
                                       to_string(shape), ", the ", what, " is ", name_of(dtype),
                                       " ", to_string(its_shape)));
  };
  check("variable", shape, update.variable.dtype());
  for (const Variable& slot : update.slots) check("slot", slot.shape(), slot.dtype());
  check("gradient", update.gradient.shape(), update.gradient.dtype());
}

DISTRIBUTE_INLINE UpdateTarget::UpdateTarget(const VariableUpdate& update, int first, int count)
    : UpdateTarget(update) {  // so that after an error the destructor stores what was taken
  first_ = first;
  count_ = count;
  take_again();
}

DISTRIBUTE_INLINE void UpdateTarget::take_again() {
  pointers_.clear();
  const LayoutPtr own = update_.variable.impl().component(first_).layout();
  const LayoutPtr& wanted = update_.gradient.layout();
  const LayoutPtr layout = wanted && wanted->holds_elements() ? wanted : own;
  const Device device = update_device(update_, first_);
  take(update_.variable, layout, device);
  for (const Variable& slot : update_.slots) take(slot, layout, device);
  size_ = tensors_[0].array().buffer->bytes() / int64_t(sizeof(float));
  if (!layout) size_ = tensors_[0].num_elements();
}

DISTRIBUTE_INLINE void UpdateTarget::take(const Variable& variable, const LayoutPtr& layout,
                                          Device device) {
  VariableImpl& impl = variable.impl();
  Tensor& value = tensors_.emplace_back(impl.component(first_));  // an error stores it again
  for (int i = 0; i < count_; ++i) impl.set_component(first_ + i, Tensor());
  if (is_gpu(device)) value = value.to(device);
  if (!same_layout(value.layout(), layout)) value = in_layout(value, layout);
  RecordedStep* const recording = RecordedStep::current();
  if (!(recording ? recording->may_write(impl, value) : value.unique())) {
    Tensor copy = Tensor::empty(value.shape(), value.dtype(), value.device(), value.layout());
    const int64_t bytes = std::min(copy.array().buffer->bytes(),
                                   value.array().buffer->bytes() - value.array().offset_bytes);
    copy_bytes(copy.array().bytes(), copy.device(), value.array().bytes(), value.device(), bytes);
    value = std::move(copy);
  }
  device_internal::forget_prepared(value.array());
  pointers_.push_back(value.array().data<float>());
}

DISTRIBUTE_INLINE void UpdateTarget::store() {
  if (tensors_.empty()) return;
  const auto give = [&](const Variable& variable, const Tensor& written) {
    const Tensor value = written.renamed();
    for (int i = 0; i < count_; ++i) variable.impl().set_component(first_ + i, value);
    if (count_ > 1 && value.shape().rank() > 1) device_internal::keep_prepared(value.array());
  };
  for (size_t i = 0; i < tensors_.size(); ++i)  // an error may have left out some slots
    give(i == 0 ? update_.variable : update_.slots[i - 1], tensors_[i]);
  tensors_.clear();
}

DISTRIBUTE_INLINE std::vector<UpdateSlice> slice_updates(std::span<const UpdateTarget> targets) {
  constexpr int64_t kSlice = 16384;
  std::vector<UpdateSlice> slices;
  for (size_t t = 0; t < targets.size(); ++t) {
    const int64_t slice = autograd_internal::update_slice(targets[t].gradient(), kSlice);
    for (int64_t begin = 0; begin < targets[t].size(); begin += slice)
      slices.push_back({t, begin, std::min(slice, targets[t].size() - begin)});
  }
  return slices;
}

/// Sums rows that occur several times, so that each row is updated once.
DISTRIBUTE_INLINE void update_rows(const VariableUpdate& update, size_t index,
                                   const UpdateTarget& target, const UpdateKernel& kernel) {
  const IndexedSlices slices = indexed_slices(update.gradient);
  const auto rows = slices.indices.data<int64_t>();
  const int64_t width = slices.values.num_elements() / std::max<int64_t>(int64_t(rows.size()), 1);
  std::vector<float*> slots(update.slots.size());
  sum_rows(rows, slices.values.data<float>().data(), width, [&](int64_t row, const float* sum) {
    for (size_t s = 0; s < slots.size(); ++s) slots[s] = target.slots()[s] + row * width;
    kernel(index, target.weights() + row * width, slots.data(), sum, width);
  });
}

DISTRIBUTE_INLINE Device update_device(const VariableUpdate& update, int replica) {
  const Device device = update.variable.impl().component(replica).device();
  return is_gpu(device) ? device : update.gradient.device();
}

inline constexpr char kUpdateText[] =
#include <distribute/device/kernels/update.cu.inc>
    ;
inline constexpr size_t kUpdatesPerLaunch = 48;

/// Applies up to kUpdatesPerLaunch updates of one GPU in one launch.
DISTRIBUTE_INLINE void launch_updates(std::span<const VariableUpdate> updates, int replica,
                                      const GpuUpdate& gpu, std::span<const size_t> numbers) {
  const Device device = update_device(updates[0], replica);
  device_internal::TransposedFilterCache& filters =
      device_internal::transposed_filter_cache(device);
  filters.end_pass();  // drops the weights, which can then be written in place
  kernels::UpdateArguments arguments{};
  std::vector<UpdateTarget> targets;
  std::vector<Tensor> gradients;
  targets.reserve(updates.size());
  int64_t blocks = 0;
  for (size_t i = 0; i < updates.size(); ++i) {
    gradients.push_back(updates[i].gradient.to(device).row_major());
    const UpdateTarget& target = targets.emplace_back(updates[i], replica, 1);
    const size_t slots = updates[i].slots.size() - (gpu.keeps_average ? 1 : 0);
    arguments.weights[i] = target.weights();
    for (size_t s = 0; s < slots; ++s) arguments.slots[i][s] = target.slots()[s];
    if (gpu.keeps_average) arguments.average[i] = target.slots()[slots];
    arguments.gradient[i] = gradients.back().array().data<float>();
    arguments.count[i] = target.size();
    arguments.end[i] = blocks += (target.size() + 1023) / 1024;
    arguments.decays[i] = numbers[i] < gpu.decays.size() && gpu.decays[numbers[i]];
  }
  arguments.variables = int32_t(updates.size());
  arguments.coupled_decay = gpu.coupled_decay;
  arguments.numbers = gpu.numbers();
  arguments.current = gpu.current;
  if (blocks)
    launch_kernel(device, {kUpdateText, "update", gpu.formula.rows, gpu.formula.row},
                  {.grid_x = unsigned(blocks)}, arguments);
  filters.end_pass();  // another thread may have begun a pass
  for (UpdateTarget& target : targets) target.store();
}

/// Groups updates with equal numbers, and applies the group of the first update first.
DISTRIBUTE_INLINE void update_in_groups(std::span<const VariableUpdate> updates, int replica,
                                        const GpuUpdate& gpu, size_t first) {
  std::vector<bool> done(updates.size(), false);
  for (size_t begin = 0; begin < updates.size(); ++begin) {
    if (done[begin]) continue;
    GpuUpdate one = gpu;
    one.formula.numbers = gpu.own.at(first + begin).numbers;
    one.decay = gpu.own[first + begin].decay;
    std::vector<VariableUpdate> group;
    std::vector<size_t> numbers;
    for (size_t i = begin; i < updates.size() && group.size() < kUpdatesPerLaunch; ++i) {
      if (done[i] || gpu.own.at(first + i) != gpu.own[first + begin]) continue;
      done[i] = true;
      group.push_back(updates[i]);
      numbers.push_back(first + i);
    }
    launch_updates(group, replica, one, numbers);
  }
}

/// Applies the updates of one replica that happen on its GPU.
DISTRIBUTE_INLINE void update_on_gpu(std::span<const VariableUpdate> updates, int replica,
                                     const GpuUpdate& gpu, size_t first) {
  if (gpu.formula.row.empty())
    throw UnimplementedError(
        "this optimizer has no formula for GPUs, as its kernel is a mere function: place its "
        "variables on the CPU");
  if (!gpu.own.empty()) return update_in_groups(updates, replica, gpu, first);
  for (size_t begin = 0; begin < updates.size(); begin += kUpdatesPerLaunch) {
    const auto part = updates.subspan(begin, std::min(kUpdatesPerLaunch, updates.size() - begin));
    std::vector<size_t> numbers;
    for (size_t i = 0; i < part.size(); ++i) numbers.push_back(first + begin + i);
    launch_updates(part, replica, gpu, numbers);
  }
}

DISTRIBUTE_INLINE void update_component(std::span<const VariableUpdate> updates, int replica,
                                        const UpdateKernel& kernel, size_t first) {
  for (const VariableUpdate& update : updates) check_update(update);
  if (!updates.empty() && is_gpu(update_device(updates[0], replica)))
    return update_on_gpu(updates, replica, kernel.gpu(), first);
  std::vector<UpdateTarget> targets;
  std::vector<Tensor> gradients;
  for (const VariableUpdate& update : updates) {
    targets.emplace_back(update, replica, 1);
    const bool sparse = is_indexed_slices(update.gradient);
    gradients.push_back(sparse ? Tensor() : in_layout(update.gradient, targets.back().layout()));
  }
  const std::vector<UpdateSlice> slices = slice_updates(targets);
  parallel_for(int64_t(slices.size()), 1, [&](int64_t begin, int64_t end) {
    std::vector<float*> slots;
    for (int64_t i = begin; i < end; ++i) {
      const UpdateSlice& slice = slices[size_t(i)];
      const UpdateTarget& target = targets[slice.target];
      if (!gradients[slice.target]) continue;
      slots.assign(target.slots(), target.slots() + updates[slice.target].slots.size());
      for (float*& slot : slots) slot += slice.begin;
      kernel(first + slice.target, target.weights() + slice.begin, slots.data(),
             gradients[slice.target].array().data<float>() + slice.begin, slice.count);
    }
  });
  for (size_t t = 0; t < targets.size(); ++t) {
    if (!gradients[t]) update_rows(updates[t], first + t, targets[t], kernel);
    targets[t].store();
  }
}

}  // namespace replica_internal

}  // namespace distribute
