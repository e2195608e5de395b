#pragma once
#include <distribute/autograd/op_trace.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/ops/cast.hpp>
#include <distribute/ops/random.hpp>
#include <distribute/replica/replica_context.hpp>

#include <algorithm>
#include <atomic>
#include <mutex>

namespace distribute::nn {

/// What replica threads share while a module is built.
struct Module::State {
  std::atomic<bool> built{false};
  std::atomic<bool> called{false};
  std::mutex mutex;  // guards building (threads of different contexts), `input` and `output`
  InputSpec input;   // of the first call
  Shape output;      // of the first call, for summary()
};

DISTRIBUTE_INLINE Module::Module(std::string name)
    : name_(std::move(name)), state_(std::make_unique<State>()) {}
DISTRIBUTE_INLINE Module::~Module() = default;
DISTRIBUTE_INLINE Module::Module(Module&&) noexcept = default;
DISTRIBUTE_INLINE Module& Module::operator=(Module&&) noexcept = default;

DISTRIBUTE_INLINE Tensor Module::operator()(const Tensor& x, CallOptions options) {
  ensure_built(x.shape());
  const autograd_internal::TracedLayer layer(path_);
  Tensor y = call(autocast(x), options);
  if (!state_->called.load(std::memory_order_relaxed) && y) {
    const std::lock_guard lock(state_->mutex);
    if (!state_->called.load()) {
      state_->input = {x.shape(), x.dtype()};
      state_->output = y.shape();
      state_->called = true;
    }
  }
  return y;
}

DISTRIBUTE_INLINE Tensor Module::autocast(const Tensor& x) const {
  return is_floating(x.dtype()) ? cast(x, policy_.compute_dtype()) : x;
}

DISTRIBUTE_INLINE void Module::set_dtype_policy(const Policy& policy) {
  policy_ = policy;
  for (auto& [name, part] : children_) part->set_dtype_policy(policy);
}

DISTRIBUTE_INLINE void Module::ensure_built(const Shape& input) {
  if (state_->built.load(std::memory_order_acquire)) return;
  // Nobody builds before every replica has come here, so all of them take this branch.
  if (ReplicaContext* replica = get_replica_context())
    replica->merge([&](std::span<void* const>) { build_once(input); }, nullptr);
  else
    build_once(input);
}

DISTRIBUTE_INLINE void Module::build_once(const Shape& input) {
  const std::lock_guard lock(state_->mutex);
  if (state_->built.load(std::memory_order_relaxed)) return;
  weights_.clear();  // of a first attempt that failed
  build(input);
  state_->built.store(true, std::memory_order_release);
}

DISTRIBUTE_INLINE void Module::build(const Shape&) {}
DISTRIBUTE_INLINE bool Module::built() const { return state_->built.load(); }
DISTRIBUTE_INLINE std::vector<Tensor> Module::own_losses() const { return {}; }

DISTRIBUTE_INLINE std::string Module::name() const { return name_.empty() ? kind() : name_; }

DISTRIBUTE_INLINE void Module::set_name(std::string name) {
  if (is_part_)
    throw FailedPreconditionError(str_cat("module '", path_, "' is part of another one"));
  name_ = std::move(name);
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

DISTRIBUTE_INLINE Variable Module::add_weight(const std::string& name, const Shape& shape,
                                              const Initializer& initializer,
                                              VariableOptions options) {
  options.name = path_to(name);
  // One seed for all copies: a strategy may ask for the value more than once.
  const uint64_t seed = random::next_seed();
  const auto first_value = [=, name = options.name](nn::InitialRows rows) {
    try {
      return initializer(shape, seed, rows);
    } catch (const InvalidArgumentError& error) {
      throw InvalidArgumentError(str_cat("weight '", name, "': ", error.what()));
    }
  };
  options.shape = shape;
  options.initial_rows = [=](int64_t begin, int64_t end) { return first_value({begin, end}); };
  Variable weight([=] { return first_value({}); }, options);
  restore_created(name, weight);
  weights_.push_back({name, weight});
  return weight;
}

DISTRIBUTE_INLINE void Module::add_child(std::string name, std::unique_ptr<Module> part) {
  if (name.empty()) name = part->name_;
  if (name.empty()) name = unused_name(part->kind());
  if (has_child(name))
    throw InvalidArgumentError(str_cat("module '", this->name(), "' has a part '", name,
                                       "' already; names within a module must differ"));
  part->name_ = name;
  part->is_part_ = true;
  part->set_path(path_.empty() ? name : path_ + "/" + name);
  if (!trainable_) part->set_trainable(false);
  children_.emplace_back(std::move(name), std::move(part));
  restore_added(children_.back().first, *children_.back().second);
}

DISTRIBUTE_INLINE void Module::set_path(const std::string& path) {
  path_ = path;
  for (auto& [name, part] : children_) part->set_path(path + "/" + name);
}

DISTRIBUTE_INLINE std::string Module::path_to(const std::string& weight) const {
  if (!path_.empty()) return path_ + "/" + weight;
  return children_.empty() ? name() + "/" + weight : weight;
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

/// `wanted`: 1 the trainable ones, 0 the others, -1 all.
DISTRIBUTE_INLINE void Module::collect(std::vector<Variable>& all, int wanted) const {
  for (const NamedVariable& weight : weights_) {
    const bool trains = trainable_ && weight.variable.trainable();
    if (wanted >= 0 && trains != (wanted == 1)) continue;
    const std::vector<Variable> shards = with_parts({weight.variable});
    all.insert(all.end(), shards.begin(), shards.end());
  }
  for (const auto& [name, part] : children_) part->collect(all, wanted);
}

DISTRIBUTE_INLINE std::vector<Variable> Module::variables() const {
  std::vector<Variable> all;
  collect(all, -1);
  return all;
}
DISTRIBUTE_INLINE std::vector<Variable> Module::trainable_variables() const {
  std::vector<Variable> all;
  collect(all, 1);
  return all;
}
DISTRIBUTE_INLINE std::vector<Variable> Module::non_trainable_variables() const {
  std::vector<Variable> all;
  collect(all, 0);
  return all;
}

DISTRIBUTE_INLINE int64_t Module::count_params() const {
  int64_t count = 0;
  for (const Variable& weight : variables()) count += weight.shape().num_elements();
  return count;
}

DISTRIBUTE_INLINE std::vector<Tensor> Module::losses() const {
  std::vector<Tensor> terms = own_losses();
  for (const auto& [name, part] : children_)
    for (Tensor& term : part->losses()) terms.push_back(std::move(term));
  return terms;
}

DISTRIBUTE_INLINE std::vector<Trackable::NamedVariable> Module::own_variables() const {
  return weights_;
}

DISTRIBUTE_INLINE std::vector<Trackable::Child> Module::children() const {
  std::vector<Child> parts;
  for (const auto& [name, part] : children_) parts.push_back({name, part.get()});
  return parts;
}

namespace nn_internal {

DISTRIBUTE_INLINE std::string padded(std::string text, size_t width) {
  text.resize(std::max(text.size() + 1, width), ' ');
  return text;
}

}  // namespace nn_internal

DISTRIBUTE_INLINE void Module::summarize(std::string& table, const std::string& indent) const {
  for (const auto& [name, part] : children_) {
    const std::string shape = part->state_->called ? to_string(part->state_->output) : "?";
    table += nn_internal::padded(indent + name + " (" + part->kind() + ")", 42);
    table += nn_internal::padded(shape, 26) + str_cat(part->count_params()) + "\n";
    part->summarize(table, indent + "  ");
  }
}

DISTRIBUTE_INLINE std::string Module::summary() const {
  std::string table = nn_internal::padded("Layer (kind)", 42) +
                      nn_internal::padded("Output shape", 26) + "Parameters\n";
  summarize(table, "");
  int64_t trained = 0;
  for (const Variable& weight : trainable_variables()) trained += weight.shape().num_elements();
  return table + str_cat("Total ", count_params(), ", trainable ", trained, "\n");
}

}  // namespace distribute::nn
