#pragma once
#include <distribute/autograd/accumulate.hpp>
#include <distribute/autograd/op_trace.hpp>
#include <distribute/autograd/recorded_step.hpp>
#include <distribute/autograd/variable.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/device/placement.hpp>

namespace distribute {

DISTRIBUTE_INLINE VariableImpl::VariableImpl(VariableOptions options)
    : options_(std::move(options)), id_(process_state().next_variable_id.fetch_add(1)) {
  if (!options_.trainable)
    options_.trainable = options_.synchronization != VariableSynchronization::OnRead;
  // Only of use to whoever makes the variable; kept, they would keep memory alive.
  options_.initial_rows = nullptr;
  options_.initial_number.reset();
  options_.colocate_with = nullptr;
}

DISTRIBUTE_INLINE std::string VariableImpl::device() const {
  return device_internal::full_name(component(0).device());
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

DISTRIBUTE_INLINE PlainVariable::PlainVariable(Tensor initial_value, VariableOptions options)
    : VariableImpl(std::move(options)), value_(initial_value.renamed()) {}

DISTRIBUTE_INLINE void PlainVariable::assign(const Tensor& value) {
  const bool gpu = value_ && is_gpu(value_.device());
  value_ = (gpu ? value.to(value_.device()) : value).renamed();
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

DISTRIBUTE_INLINE std::vector<VariableCreator>& variable_creator_stack() {
  thread_local std::vector<VariableCreator> stack;
  return stack;
}

DISTRIBUTE_INLINE VariableCreatorScope::VariableCreatorScope(VariableCreator creator) {
  variable_creator_stack().push_back(std::move(creator));
}
DISTRIBUTE_INLINE VariableCreatorScope::~VariableCreatorScope() {
  variable_creator_stack().pop_back();
}

namespace autograd_internal {

/// Runs creators [0, depth) innermost first; below all of them stands the plain variable.
DISTRIBUTE_INLINE std::shared_ptr<VariableImpl> create_variable(
    size_t depth, const Variable::Initializer& initial_value, const VariableOptions& options) {
  refuse_in_recording("variable '" + options.name + "' is made");
  if (depth == 0) return std::make_shared<PlainVariable>(initial_value(), options);
  const VariableCreator creator = variable_creator_stack()[depth - 1];
  const auto next = [depth](const Variable::Initializer& value, const VariableOptions& changed) {
    return create_variable(depth - 1, value, changed);
  };
  return creator(next, initial_value, options);
}

}  // namespace autograd_internal

DISTRIBUTE_INLINE Variable::Variable(Initializer initial_value, VariableOptions options)
    : impl_(autograd_internal::create_variable(variable_creator_stack().size(), initial_value,
                                               options)) {}

DISTRIBUTE_INLINE Variable::Variable(const Tensor& initial_value, VariableOptions options)
    : Variable([initial_value] { return initial_value; }, std::move(options)) {}

DISTRIBUTE_INLINE VariableImpl& Variable::impl() const {
  if (!impl_) throw InvalidArgumentError("an empty variable (none) was used");
  if (RecordedStep* step = RecordedStep::current()) step->notice(impl_);
  return *impl_;
}

DISTRIBUTE_INLINE Tensor Variable::value() const {
  Tensor value = impl().read();
  if (trainable()) autograd_internal::variable_accessed(*this, value);
  if (OpTrace* trace = autograd_internal::active_trace()) trace->add_variable(*this, value);
  return value;
}

DISTRIBUTE_INLINE void Variable::check(const char* method, const Tensor& value) const {
  if (value.shape() != shape() || value.dtype() != dtype())
    throw InvalidArgumentError(str_cat(method, ": variable '", name(), "' is ", to_string(shape()),
                                       " ", name_of(dtype()), ", the value is ",
                                       to_string(value.shape()), " ", name_of(value.dtype())));
}

DISTRIBUTE_INLINE void Variable::assign(const Tensor& value) const {
  check("assign", value);
  impl().assign(value);
}
DISTRIBUTE_INLINE void Variable::assign_add(const Tensor& delta) const {
  check("assign_add", delta);
  impl().assign_add(delta);
}
DISTRIBUTE_INLINE void Variable::assign_sub(const Tensor& delta) const {
  check("assign_sub", delta);
  impl().assign_sub(delta);
}

DISTRIBUTE_INLINE void Variable::scatter(ScatterOp op, const IndexedSlices& slices) const {
  autograd_internal::check_scatter(op, name(), shape(), dtype(), slices);
  impl().scatter(op, slices);
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
