#pragma once
#include <distribute/autograd/op_trace.hpp>
#include <distribute/base/detail/type_names.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/nn/detail/module_state.hpp>
#include <distribute/nn/detail/summary_table.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/replica/replica_context.hpp>
#include <distribute/tensor/detail/tensor_hints.hpp>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <typeinfo>

namespace distribute::nn {

DISTRIBUTE_INLINE Module::Module(std::string name) : state_(new State(*this)) {
  if (!name.empty()) give_name(name);
}
DISTRIBUTE_INLINE Module::~Module() = default;

DISTRIBUTE_INLINE Module::Module(Module&& other) noexcept : Trackable(other) {
  *this = std::move(other);
}

DISTRIBUTE_INLINE Module& Module::operator=(Module&& other) noexcept {
  Trackable::operator=(other);
  policy_ = std::move(other.policy_);
  name_ = std::move(other.name_);
  path_ = std::move(other.path_);
  trainable_ = other.trainable_;
  name_in_path_ = other.name_in_path_;
  weights_ = std::move(other.weights_);
  children_ = std::move(other.children_);
  state_ = std::move(other.state_);
  if (!state_) return *this;
  state_->self = this;
  if (!state_->named) state_->names->move(state_->place, *this);
  return *this;
}

DISTRIBUTE_INLINE Tensor get_keras_mask(const Tensor& x) {
  return x ? TensorHints::of(x).mask : Tensor();
}

namespace nn_internal {

/// Whether it says for each step of y whether it counts.
DISTRIBUTE_INLINE bool is_mask_of(const Tensor& mask, const Tensor& y) {
  const Shape &steps = mask.shape(), &all = y.shape();
  if (steps.rank() >= all.rank()) return false;
  for (int i = 0; i < steps.rank(); ++i)
    if (steps[i] != all[i]) return false;
  return true;
}

DISTRIBUTE_INLINE Tensor with_mask(const Tensor& y, const Tensor& mask, const Tensor& x) {
  const Tensor old = get_keras_mask(y), wanted = mask && is_mask_of(mask, y) ? mask : Tensor();
  if (old ? wanted && wanted.id() == old.id() : !wanted) return y;
  const bool is_new = !old && !(x && y.id() == x.id());
  Tensor masked = is_new ? y : reshape(y, y.shape());
  TensorHints::of(masked).mask = wanted;
  return masked;
}

}  // namespace nn_internal

DISTRIBUTE_INLINE Tensor Module::operator()(const Tensor& x, CallOptions options) {
  ensure_built(x.shape());
  const RunningCall running(*this);
  const autograd_internal::TracedLayer layer(path_);
  const Tensor own = get_keras_mask(x);
  if (!options.mask) options.mask = own;
  const Masked result = masked_call(nn_internal::with_mask(autocast(x), own), std::move(options));
  const Tensor y = nn_internal::with_mask(result.value, result.mask, x);
  note_call(x, y);
  penalize(y);
  return y;
}

DISTRIBUTE_INLINE void Module::reset_states() {
  reset_own_states();
  for (size_t i = 0; i < num_children(); ++i) child(i).reset_states();
}

DISTRIBUTE_INLINE Masked Module::call_with_mask(const Tensor& x, CallOptions options) {
  const Tensor y = (*this)(x, std::move(options));
  return {y, get_keras_mask(y)};
}

DISTRIBUTE_INLINE Masked Module::masked_call(const Tensor& x, CallOptions options) {
  const Tensor y = call(x, options), own = get_keras_mask(y);
  return {y, own || !supports_masking() ? own : options.mask};
}

DISTRIBUTE_INLINE Tensor Module::enter(std::span<const Tensor> inputs,
                                       const std::function<Tensor()>& compute) {
  if (inputs.empty()) throw InvalidArgumentError(str_cat("module '", name(), "': no inputs"));
  if (!built()) {
    std::vector<Shape> shapes;
    for (const Tensor& x : inputs) shapes.push_back(x.shape());
    ensure_built_for(shapes);
  }
  const RunningCall running(*this);
  const autograd_internal::TracedLayer layer(path_);
  const Tensor y = compute();
  note_call(inputs[0], y);
  penalize(y);
  return y;
}

/// Records input and output of the first call.
DISTRIBUTE_INLINE void Module::note_call(const Tensor& x, const Tensor& y) {
  if (state_->called.load(std::memory_order_relaxed) || !y) return;
  const std::lock_guard lock(state_->mutex);
  if (state_->called.load()) return;
  state_->input = {x.shape(), x.dtype()};
  state_->output = y.shape();
  state_->called = true;
}

DISTRIBUTE_INLINE Tensor Module::autocast(const Tensor& x) const {
  return is_floating(x.dtype()) ? cast(x, policy_.compute_dtype()) : x;
}

DISTRIBUTE_INLINE void Module::set_dtype_policy(const Policy& policy) {
  policy_ = policy;
  for (auto& [name, part] : children_) part->set_dtype_policy(policy);
}

DISTRIBUTE_INLINE void Module::ensure_built(const Shape& input) {
  ensure_built_for(std::span(&input, 1));
}

DISTRIBUTE_INLINE void Module::ensure_built_for(std::span<const Shape> inputs) {
  if (state_->built.load(std::memory_order_acquire)) return;
  // Layers are built once every replica has come here, so all of them take this branch.
  if (ReplicaContext* replica = get_replica_context())
    replica->merge([&] { build_once(inputs); });
  else
    build_once(inputs);
}

DISTRIBUTE_INLINE void Module::build_once(std::span<const Shape> inputs) {
  const std::lock_guard lock(state_->mutex);
  if (state_->built.load(std::memory_order_relaxed)) return;
  weights_.clear();  // of a first attempt that failed
  path_ = path();
  build_all(inputs);
  state_->built.store(true, std::memory_order_release);
}

DISTRIBUTE_INLINE void Module::build(const Shape&) {}
DISTRIBUTE_INLINE void Module::build_all(std::span<const Shape> inputs) { build(inputs[0]); }
DISTRIBUTE_INLINE bool Module::built() const { return state_->built.load(); }
DISTRIBUTE_INLINE std::vector<Tensor> Module::own_losses() const { return {}; }

DISTRIBUTE_INLINE bool Module::named() const { return state_->named; }
DISTRIBUTE_INLINE void Module::mark_named() { state_->named = true; }
DISTRIBUTE_INLINE uint64_t Module::place() const { return state_->place; }
DISTRIBUTE_INLINE void Module::set_place(uint64_t place) { state_->place = place; }

DISTRIBUTE_INLINE std::string Module::name() const {
  if (!state_->named) state_->names->name_up_to(state_->place);
  return name_;
}

DISTRIBUTE_INLINE void Module::give_name(const std::string& name) {
  if (name.find('/') != std::string::npos)
    throw InvalidArgumentError(
        str_cat("Argument `name` cannot contain character `/`. Received: name=", name));
  if (!state_->named) state_->names->remove(state_->place);
  name_ = name;
  state_->named = state_->was_given_a_name = true;
}

DISTRIBUTE_INLINE void Module::set_name(std::string name) {
  if (state_->parent)
    throw FailedPreconditionError(str_cat("module '", path(), "' is part of another one"));
  give_name(name);
}

DISTRIBUTE_INLINE std::string Module::path() const {
  const std::string around = state_->parent ? state_->parent->self->path() : std::string();
  if (!adds_name() || (!state_->parent && !name_in_path_)) return around;
  return around.empty() ? name() : around + "/" + name();
}

/// The module whose parts this one's name must differ from; null for the outermost one.
DISTRIBUTE_INLINE const Module* Module::scope_owner() const {
  const State* around = state_->parent;
  while (around && !around->self->adds_name()) around = around->parent;
  return around ? around->self : nullptr;
}

/// Whether a part, or an element of a list that is one, has this name.
DISTRIBUTE_INLINE bool Module::scope_has(const std::string& name) const {
  return std::any_of(children_.begin(), children_.end(), [&](const auto& entry) {
    const Module& part = *entry.second;
    return part.adds_name() ? part.named() && part.name_ == name : part.scope_has(name);
  });
}

DISTRIBUTE_INLINE void Module::list_unnamed(std::vector<Module*>& all) {
  if (!named()) all.push_back(this);
  for (auto& [edge, part] : children_) part->list_unnamed(all);
}

DISTRIBUTE_INLINE size_t Module::num_children() const { return children_.size(); }

DISTRIBUTE_INLINE Module& Module::child(size_t index) const { return *children_[index].second; }

DISTRIBUTE_INLINE void Module::number_parts_in_order() {
  std::vector<Module*> ordered;
  for (auto& [edge, part] : children_) {
    std::vector<Module*> below;
    part->list_unnamed(below);
    std::erase_if(below, [&](const Module* m) { return m->state_->names != state_->names; });
    std::sort(below.begin(), below.end(),
              [](const Module* a, const Module* b) { return a->place() < b->place(); });
    ordered.insert(ordered.end(), below.begin(), below.end());
  }
  state_->names->reorder(ordered);
}

DISTRIBUTE_INLINE std::optional<Shape> Module::output_shape() const {
  const std::lock_guard lock(state_->mutex);
  return state_->called ? std::optional(state_->output) : std::nullopt;
}

DISTRIBUTE_INLINE std::optional<InputSpec> Module::input_spec() const {
  const std::lock_guard lock(state_->mutex);
  return state_->called ? std::optional(state_->input) : std::nullopt;
}

DISTRIBUTE_INLINE void Module::set_trainable(bool trainable) {
  trainable_ = trainable;
  for (auto& [name, part] : children_) part->set_trainable(trainable);
}

/// Throws  InvalidArgumentError where paths of weights would become the same.
DISTRIBUTE_INLINE void Module::check_names(const Module& part) const {
  if (!part.adds_name()) {
    for (const auto& [edge, element] : part.children_) check_names(*element);
    return;
  }
  const Module* owner = adds_name() ? this : scope_owner();
  if (part.named() && (scope_has(part.name_) || (owner && owner->scope_has(part.name_))))
    throw InvalidArgumentError(str_cat("module '", name_.empty() ? kind() : name_, "' has a part '",
                                       part.name_, "' already; names within a module must differ"));
}

DISTRIBUTE_INLINE void Module::add_child(std::string name, std::unique_ptr<Module> part) {
  if (!name.empty()) part->give_name(name);
  check_names(*part);
  const std::string edge = part->state_->was_given_a_name ? part->name_ : unused_name(part->kind());
  if (has_child(edge))
    throw InvalidArgumentError(str_cat("module '", name_.empty() ? kind() : name_, "' has a part '",
                                       edge, "' already; names within a module must differ"));
  adopt(edge, std::move(part));
}

DISTRIBUTE_INLINE void Module::add_element(std::unique_ptr<Module> part) {
  check_names(*part);
  adopt(str_cat(children_.size()), std::move(part));
}

DISTRIBUTE_INLINE void Module::adopt(std::string edge, std::unique_ptr<Module> part) {
  part->state_->parent = state_.get();
  if (!trainable_) part->set_trainable(false);
  children_.emplace_back(std::move(edge), std::move(part));
  restore_added(children_.back().first, *children_.back().second);
}

DISTRIBUTE_INLINE std::string Module::path_to(const std::string& weight) const {
  return path_.empty() ? weight : path_ + "/" + weight;
}

DISTRIBUTE_INLINE bool Module::has_child(const std::string& name) const {
  return std::any_of(children_.begin(), children_.end(),
                     [&](const auto& entry) { return entry.first == name; });
}

DISTRIBUTE_INLINE std::string Module::unused_name(const std::string& kind) const {
  std::string name = kind;
  for (int i = 1; has_child(name); ++i) name = str_cat(kind, "_", i);
  return name;
}

DISTRIBUTE_INLINE bool Module::trains(const Variable& own) const {
  for (const auto& [name, part] : children_)
    for (const NamedVariable& shared : state_->shared)
      if (shared.variable == own) return trainable_ && part->trains(own);
  const auto& frozen = state_->frozen;
  return trainable_ && own.trainable() &&
         std::find(frozen.begin(), frozen.end(), own.impl().id()) == frozen.end();
}

DISTRIBUTE_INLINE void Module::freeze(const Variable& own) {
  state_->frozen.push_back(own.impl().id());
}

DISTRIBUTE_INLINE std::string Module::kind() const {
  return nn_internal::kind_of_class(base_internal::class_name(typeid(*this)));
}

DISTRIBUTE_INLINE void clear_session() { nn_internal::ModuleNames::of_this_thread()->reset(); }

}  // namespace distribute::nn
