#pragma once
#include <distribute/base/error.hpp>
#include <distribute/nn/lora.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/replica/replica_context.hpp>

#include <algorithm>
#include <set>

namespace distribute::nn {

DISTRIBUTE_INLINE void LoraLayer::check_lora(int64_t rank) const {
  if (rank < 1)
    throw InvalidArgumentError(
        str_cat("enable_lora: '", name(), "': rank must be at least 1, got ", rank));
  if (lora_enabled())
    throw FailedPreconditionError("lora is already enabled. This can only be done once per layer.");
  const LoraTarget target = lora_target();
  if (!target.weight)
    throw FailedPreconditionError("Cannot enable lora on a layer that isn't yet built.");
  if (target.constrained)
    throw InvalidArgumentError(
        str_cat("Lora is incompatible with ", target.name,
                " constraints. In order to enable lora on this layer, remove the `", target.name,
                "_constraint` argument."));
}

DISTRIBUTE_INLINE void LoraLayer::enable_lora(int64_t rank, LoraOptions options) {
  check_lora(rank);
  if (ReplicaContext* replica = get_replica_context())
    replica->merge([&] { add_matrices(rank, options); });
  else
    add_matrices(rank, options);
}

DISTRIBUTE_INLINE void LoraLayer::build_lora(const std::optional<int64_t>& rank,
                                             const std::optional<double>& alpha) {
  if (!rank) return;
  check_lora(*rank);
  add_matrices(*rank, {.lora_alpha = alpha});
}

DISTRIBUTE_INLINE void LoraLayer::add_matrices(int64_t rank, const LoraOptions& options) {
  const LoraTarget target = lora_target();
  const Shape shape = target.weight.shape();
  const std::string name = str_cat("lora_", target.name);
  const Variable a =
      add_weight(name + "_a", shape.with(shape.rank() - 1, rank), options.a_initializer);
  lora_b_ = add_weight(name + "_b", {rank, shape[-1]}, options.b_initializer);
  lora_alpha_ = options.lora_alpha.value_or(double(rank));
  freeze(target.weight);
  lora_a_ = a;
}

DISTRIBUTE_INLINE void LoraLayer::freeze_all_but_matrices() {
  for (const NamedVariable& own : own_variables())
    if (own.variable != lora_a_ && own.variable != lora_b_ && trains(own.variable))
      freeze(own.variable);
}

DISTRIBUTE_INLINE Tensor LoraLayer::lora_product(const Tensor& x) const {
  const Shape& shape = x.shape();
  const Tensor product = matmul(reshape(x, {-1, shape[-1]}), lora_b_.value());
  const double scale = lora_alpha_ / double(lora_rank());
  return reshape(scale == 1 ? product : product * float(scale),
                 shape.with(shape.rank() - 1, product.shape()[1]));
}

DISTRIBUTE_INLINE Tensor LoraLayer::with_lora(const Variable& weight) const {
  const Tensor value = weight.value();
  return lora_enabled() ? value + cast(lora_product(lora_a_.value()), value.dtype()) : value;
}

DISTRIBUTE_INLINE std::vector<Tensor> LoraLayer::penalties(const Regularizer& on_kernel,
                                                           const Variable& kernel,
                                                           const Regularizer& on_bias,
                                                           const Variable& bias) const {
  if (!lora_enabled()) return nn_internal::penalties(on_kernel, kernel, on_bias, bias);
  std::vector<Tensor> terms = nn_internal::penalties({}, {}, on_bias, bias);
  for (const Variable& matrix : {lora_a_, lora_b_})
    for (Tensor& term : nn_internal::penalties(on_kernel, matrix, {}, {}))
      terms.push_back(std::move(term));
  return terms;
}

DISTRIBUTE_INLINE std::vector<LoraLayer*> enable_lora(Module& model, int64_t rank,
                                                      const EnableLoraOptions& options) {
  const auto& wanted = options.target_layer_names;
  std::vector<LoraLayer*> layers;
  std::set<std::string> others;
  std::vector<Module*> all = model.submodules();
  all.push_back(&model);
  for (Module* part : all) {
    auto* layer = dynamic_cast<LoraLayer*>(part);
    if (!layer) continue;
    if (std::find(wanted.begin(), wanted.end(), layer->name()) != wanted.end())
      layers.push_back(layer);
    else
      others.insert(layer->name());
  }
  if (layers.empty()) {
    std::string names;
    for (const std::string& name : others) names += (names.empty() ? "" : ", ") + name;
    throw InvalidArgumentError(
        str_cat("enable_lora: '", model.name(), "' has no layer with one of the ",
                "target_layer_names; its layers that could have one are: ", names));
  }
  for (const LoraLayer* layer : layers) layer->check_lora(rank);
  for (LoraLayer* layer : layers) layer->enable_lora(rank, {.lora_alpha = options.lora_alpha});
  model.set_trainable(false);
  for (LoraLayer* layer : layers) {
    layer->set_trainable(true);
    layer->freeze_all_but_matrices();
  }
  return layers;
}

DISTRIBUTE_INLINE std::vector<const LoraLayer*> lora_layers(const Module& model) {
  std::vector<const LoraLayer*> layers;
  const auto* own = dynamic_cast<const LoraLayer*>(&model);
  if (own && own->lora_enabled()) layers.push_back(own);
  for (const auto& [name, part] : model.children())
    for (const LoraLayer* layer : lora_layers(dynamic_cast<const Module&>(*part)))
      layers.push_back(layer);
  return layers;
}

}  // namespace distribute::nn
