#pragma once
#include <distribute/autograd/detail/accumulate.hpp>
#include <distribute/autograd/detail/recorded_step.hpp>
#include <distribute/autograd/op_trace.hpp>
#include <distribute/autograd/variable.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/device/detail/device_state.hpp>
#include <distribute/device/placement.hpp>
#include <distribute/tensor/detail/unrecorded.hpp>

#include <atomic>

namespace distribute {

namespace autograd_internal {

struct VariableIds {
  std::atomic<uint64_t> next{1};
};

}  // namespace autograd_internal

DISTRIBUTE_INLINE VariableImpl::VariableImpl(VariableOptions options)
    : options_(std::move(options)),
      id_(in_process<autograd_internal::VariableIds>().next.fetch_add(1)) {
  if (!options_.trainable)
    options_.trainable = options_.synchronization != VariableSynchronization::OnRead;
  // These are only used while the variable is made; keeping them would keep memory alive.
  options_.initial_rows = nullptr;
  options_.initial_number.reset();
  options_.colocate_with = nullptr;
}

DISTRIBUTE_INLINE void VariableImpl::set_save_slice_info(SaveSliceInfo info) {
  slice_info_ = std::move(info);
}

DISTRIBUTE_INLINE std::string VariableImpl::device() const {
  return device_internal::full_name(component(0).device());
}

DISTRIBUTE_INLINE std::vector<std::string> VariableImpl::devices() const {
  if (parts().empty()) return {device()};
  std::vector<std::string> all;
  for (const Variable& part : parts()) all.push_back(part.device());
  return all;
}

DISTRIBUTE_INLINE const std::vector<Variable>& VariableImpl::parts() const {
  static const std::vector<Variable> none;
  return none;
}

DISTRIBUTE_INLINE Tensor VariableImpl::read_rows(const Tensor&) const {
  throw UnimplementedError(str_cat("variable '", options_.name, "' is read whole"));
}

DISTRIBUTE_INLINE void VariableImpl::scatter(ScatterOp op, const IndexedSlices&) {
  throw UnimplementedError(str_cat(name_of(op), ": variable '", options_.name,
                                   "' knows no such operation; assign it a whole value"));
}

DISTRIBUTE_INLINE void VariableImpl::scatter_nd(ScatterOp op, const IndexedSlices&) {
  throw UnimplementedError(str_cat(nd_name_of(op), ": variable '", options_.name,
                                   "' belongs to a strategy, which knows rows alone: use ",
                                   name_of(op), ", or assign it a whole value"));
}

DISTRIBUTE_INLINE PlainVariable::PlainVariable(Tensor initial_value, VariableOptions options)
    : VariableImpl(std::move(options)), value_(initial_value.renamed()) {}

DISTRIBUTE_INLINE void PlainVariable::assign(const Tensor& value) {
  value_ = (value_ ? tensor_internal::copied_to(value, value_.device()) : value).renamed();
}
DISTRIBUTE_INLINE void PlainVariable::assign_add(const Tensor& delta) {
  value_ = combine(value_, delta, 1.0f);
}
DISTRIBUTE_INLINE void PlainVariable::assign_sub(const Tensor& delta) {
  value_ = combine(value_, delta, -1.0f);
}

DISTRIBUTE_INLINE void PlainVariable::scatter(ScatterOp op, const IndexedSlices& slices) {
  value_ = autograd_internal::scattered(op, value_, slices);
}

DISTRIBUTE_INLINE void PlainVariable::scatter_nd(ScatterOp op, const IndexedSlices& slices) {
  const Shape shape = value_.shape();
  const Tensor flat = tensor_internal::viewed(value_, slices.dense_shape);
  value_ = tensor_internal::viewed(autograd_internal::scattered(op, flat, slices), shape);
}

DISTRIBUTE_INLINE std::vector<VariableCreator>& variable_creator_stack() {
  return base_internal::in_thread_context<base_internal::ContextPlace{3, 0, true},
                                          std::vector<VariableCreator>>();
}

DISTRIBUTE_INLINE VariableCreatorScope::VariableCreatorScope(VariableCreator creator) {
  variable_creator_stack().push_back(std::move(creator));
}
DISTRIBUTE_INLINE VariableCreatorScope::~VariableCreatorScope() {
  variable_creator_stack().pop_back();
}

namespace autograd_internal {

/// Runs creators [0, depth), innermost first; the last one makes the plain variable.
DISTRIBUTE_INLINE std::shared_ptr<VariableImpl> create_variable(
    size_t depth, const Variable::Initializer& initial_value, const VariableOptions& options) {
  refuse_in_recording("variable '" + options.name + "' is made");
  if (depth == 0) {
    const Tensor first = initial_value();
    if (options.shape && *options.shape != first.shape())
      throw InvalidArgumentError(str_cat("variable '", options.name,
                                         "': the initial value's shape (", to_string(first.shape()),
                                         ") is not compatible with the explicitly supplied `shape` "
                                         "argument (",
                                         to_string(*options.shape), ")"));
    return std::make_shared<PlainVariable>(first, options);
  }
  const VariableCreator creator = variable_creator_stack()[depth - 1];
  const auto next = [depth](const Variable::Initializer& value, const VariableOptions& changed) {
    return create_variable(depth - 1, value, changed);
  };
  return creator(next, initial_value, options);
}

}  // namespace autograd_internal

DISTRIBUTE_INLINE Variable::Variable(Initializer initial_value, VariableOptions options)
    : impl_(autograd_internal::create_variable(variable_creator_stack().size(), initial_value,
                                               options)) {
  if (!device_state().log_device_placement) return;
  for (const std::string& device : impl_->devices())
    device_internal::log_placement("VarHandleOp", device);
}

DISTRIBUTE_INLINE Variable::Variable(const Tensor& initial_value, VariableOptions options)
    : Variable([initial_value] { return initial_value; }, std::move(options)) {}

DISTRIBUTE_INLINE VariableImpl& Variable::impl() const {
  if (!impl_) throw InvalidArgumentError("an empty variable (none) was used");
  if (RecordedStep* step = RecordedStep::current()) step->notice(impl_);
  return *impl_;
}

namespace autograd_internal {

/// Tells tapes and traces that `value` was read.
DISTRIBUTE_INLINE Tensor noticed(const Variable& variable, Tensor value) {
  if (variable.trainable()) variable_accessed(variable, value);
  if (OpTrace* trace = active_trace()) trace->add_variable(variable, value);
  return value;
}

}  // namespace autograd_internal

DISTRIBUTE_INLINE Tensor Variable::value() const {
  return autograd_internal::noticed(*this, impl().read());
}

DISTRIBUTE_INLINE Tensor Variable::read_value() const {
  return autograd_internal::noticed(*this, impl().read_in_own_strategy());
}

DISTRIBUTE_INLINE Tensor Variable::from_number(const char* method, double value) const {
  if (!is_floating(dtype()))
    throw InvalidArgumentError(str_cat(method, ": variable '", name(), "' is ", name_of(dtype()),
                                       ", the value ", value, " is a floating number"));
  impl().check_number(value == 0);
  return fill(Shape{}, float(value), dtype(), Device{});
}

DISTRIBUTE_INLINE Tensor Variable::from_number(const char* method, int64_t value) const {
  if (is_floating(dtype())) return from_number(method, double(value));
  if (dtype() == DType::Bool)
    throw InvalidArgumentError(
        str_cat(method, ": variable '", name(), "' is bool, the value ", value, " is an integer"));
  impl().check_number(value == 0);
  Tensor result = Tensor::empty(Shape{}, dtype(), Device{});
  dispatch(dtype(),
           [&](auto type) { *result.mutable_data<decltype(type)>() = decltype(type)(value); });
  return result;
}

DISTRIBUTE_INLINE Tensor Variable::from_number(const char* method, bool value) const {
  if (dtype() != DType::Bool) return from_number(method, int64_t{value});
  impl().check_number(!value);
  return Tensor(value);
}

DISTRIBUTE_INLINE void Variable::check(const char* method, const Tensor& value) const {
  if (value.shape() != shape() || value.dtype() != dtype())
    throw InvalidArgumentError(str_cat(method, ": variable '", name(), "' is ", to_string(shape()),
                                       " ", name_of(dtype()), ", the value is ",
                                       to_string(value.shape()), " ", name_of(value.dtype())));
}

DISTRIBUTE_INLINE const Variable& Variable::assign(const Tensor& value) const {
  check("assign", value);
  impl().assign(value);
  return *this;
}
DISTRIBUTE_INLINE const Variable& Variable::assign_add(const Tensor& delta) const {
  check("assign_add", delta);
  impl().assign_add(delta);
  return *this;
}
DISTRIBUTE_INLINE const Variable& Variable::assign_sub(const Tensor& delta) const {
  check("assign_sub", delta);
  impl().assign_sub(delta);
  return *this;
}

DISTRIBUTE_INLINE const Variable& Variable::scatter(ScatterOp op,
                                                    const IndexedSlices& slices) const {
  autograd_internal::check_scatter(op, name(), shape(), dtype(), slices);
  impl().scatter(op, slices);
  return *this;
}

DISTRIBUTE_INLINE const Variable& Variable::scatter_nd(ScatterOp op, const Tensor& indices,
                                                       const Tensor& updates) const {
  const auto places = autograd_internal::flat_indices(nd_name_of(op), shape(), indices);
  if (!updates || updates.dtype() != dtype() || updates.shape() != places.outcome)
    throw InvalidArgumentError(
        str_cat(nd_name_of(op), ": variable '", name(), "' is ", to_string(shape()), " ",
                distribute::name_of(dtype()), ", for indices ", to_string(indices.shape()),
                " updates must be ", to_string(places.outcome), ", they are ",
                updates ? to_string(updates.shape()) + " " + distribute::name_of(updates.dtype())
                        : std::string("none")));
  const Shape rows = places.flat.with(0, places.positions.num_elements());
  impl().scatter_nd(op, {tensor_internal::viewed(updates, rows), places.positions, places.flat});
  return *this;
}

DISTRIBUTE_INLINE const Variable& Variable::scatter_nd_sub(const Tensor& i,
                                                           const Tensor& updates) const {
  return scatter_nd(ScatterOp::Sub, i, updates);
}
DISTRIBUTE_INLINE const Variable& Variable::scatter_nd_add(const Tensor& i,
                                                           const Tensor& updates) const {
  return scatter_nd(ScatterOp::Add, i, updates);
}
DISTRIBUTE_INLINE const Variable& Variable::scatter_nd_min(const Tensor& i,
                                                           const Tensor& updates) const {
  return scatter_nd(ScatterOp::Min, i, updates);
}
DISTRIBUTE_INLINE const Variable& Variable::scatter_nd_max(const Tensor& i,
                                                           const Tensor& updates) const {
  return scatter_nd(ScatterOp::Max, i, updates);
}
DISTRIBUTE_INLINE const Variable& Variable::scatter_nd_update(const Tensor& i,
                                                              const Tensor& updates) const {
  return scatter_nd(ScatterOp::Update, i, updates);
}

DISTRIBUTE_INLINE const std::function<Tensor(const Tensor&)>& Variable::constraint() const {
  return impl().options().constraint;
}

DISTRIBUTE_INLINE const std::string& Variable::name() const { return impl().options().name; }
DISTRIBUTE_INLINE Shape Variable::shape() const { return impl().shape(); }
DISTRIBUTE_INLINE DType Variable::dtype() const { return impl().dtype(); }
DISTRIBUTE_INLINE std::string Variable::device() const { return impl().device(); }
DISTRIBUTE_INLINE bool Variable::trainable() const { return *impl().options().trainable; }
DISTRIBUTE_INLINE VariableSynchronization Variable::synchronization() const {
  return impl().options().synchronization;
}
DISTRIBUTE_INLINE VariableAggregation Variable::aggregation() const {
  return impl().options().aggregation;
}

DISTRIBUTE_INLINE std::vector<Variable> with_parts(const std::vector<Variable>& variables) {
  std::vector<Variable> all;
  for (const Variable& variable : variables) {
    const auto& parts = variable.impl().parts();
    if (parts.empty())
      all.push_back(variable);
    else
      all.insert(all.end(), parts.begin(), parts.end());
  }
  return all;
}

}  // namespace distribute
