#pragma once
#include <distribute/base/error.hpp>
#include <distribute/nn/module_saver.hpp>
#include <distribute/optim/adam.hpp>
#include <distribute/optim/loss_scale_optimizer.hpp>
#include <distribute/optim/serialization.hpp>
#include <distribute/saving/detail/optimizer_state.hpp>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace distribute::saving_internal {

using Json = nlohmann::ordered_json;

/// A value that Keras's files have and this library has no use for.
DISTRIBUTE_INLINE Variable unused_variable(const char* name, Tensor value) {
  return Variable(std::make_shared<PlainVariable>(
      std::move(value), VariableOptions{.name = name, .trainable = false}));
}

/// Keras gives it a step count and a learning rate that stay 0.
DISTRIBUTE_INLINE std::vector<Variable> variables_with_scale(const nn::Module& module,
                                                             optim::LossScaleOptimizer& optimizer) {
  std::vector<Variable> all = {unused_variable("iteration", Tensor(int64_t{0})),
                               unused_variable("learning_rate", Tensor(0.0f))};
  for (const auto& [name, variable] : optimizer.own_variables()) all.push_back(variable);
  for (Variable& variable : optimizer_variables(module, optimizer.inner_optimizer()))
    all.push_back(std::move(variable));
  return all;
}

DISTRIBUTE_INLINE std::vector<Variable> optimizer_variables(const nn::Module& module,
                                                            optim::Optimizer& optimizer) {
  if (auto* scaled = dynamic_cast<optim::LossScaleOptimizer*>(&optimizer))
    return variables_with_scale(module, *scaled);
  const std::vector<Variable> trained = with_parts(nn::keras_trainable_variables(module));
  optimizer.build(trained);
  const std::vector<Trackable::SlotVariable> slots = optimizer.slot_variables();
  std::vector<std::string> kinds;
  for (const auto& slot : slots)
    if (std::find(kinds.begin(), kinds.end(), slot.slot_name) == kinds.end())
      kinds.push_back(slot.slot_name);
  std::vector<Variable> all;
  for (const auto& [name, variable] : optimizer.own_variables()) all.push_back(variable);
  for (const auto& group : optim::keras_slots(optimizer.class_name(), kinds))
    for (const Variable& weight : trained)
      for (const optim::KerasSlots& kind : group) {
        const auto slot = std::find_if(slots.begin(), slots.end(), [&](const auto& s) {
          return s.original == weight && s.slot_name == kind.slot;
        });
        if (slot == slots.end())
          throw UnimplementedError(str_cat("'", weight.name(), "' has no ", kind.slot,
                                           " in this process; train::Checkpoint saves optimizers "
                                           "of any strategy"));
        all.push_back(slot->variable);
      }
  if (const auto* nadam = dynamic_cast<const optim::Nadam*>(&optimizer))
    all.push_back(unused_variable("variable", Tensor(nadam->momentum_product())));
  return all;
}

DISTRIBUTE_INLINE std::string optimizer_config(const optim::Optimizer& optimizer) {
  if (optimizer.class_name().empty())
    throw UnimplementedError("the class of the optimizer '" + optimizer.name() +
                             "' has no class_name(), so Keras cannot make it");
  const optim::OptimizerConfig own = optimizer.get_config();
  Json config;
  for (const auto& [name, value] : own.values()) {
    const bool is_none = std::holds_alternative<std::monostate>(value);
    if (name == "dynamic")
      throw UnimplementedError("Keras's LossScaleOptimizer has no scale that stays as it is");
    if (name == "coupled_weight_decay" && !is_none)
      throw UnimplementedError("Keras's optimizers have no coupled_weight_decay");
    if (name == "coupled_weight_decay" || name == "clip_per_replica") continue;
    if (is_none)
      config[name] = nullptr;
    else if (const auto* number = std::get_if<double>(&value))
      config[name] = name == "ema_overwrite_frequency" || name == "dynamic_growth_steps"
                         ? Json(int64_t(*number))
                         : Json(*number);
    else if (const auto* flag = std::get_if<bool>(&value))
      config[name] = *flag;
    else if (const auto* schedule = std::get_if<optim::OptimizerText>(&value);
             schedule && name == "learning_rate")
      config[name] = Json::parse(schedule->json);
    else if (schedule)
      config[name] = Json::parse(optimizer_config(
          dynamic_cast<const optim::LossScaleOptimizer&>(optimizer).inner_optimizer()));
    else if (const auto& text = std::get<std::string>(value); name != "name" || !text.empty())
      config[name] = text;
  }
  return Json({{"module", "keras.optimizers"},
               {"class_name", optimizer.class_name()},
               {"config", std::move(config)},
               {"registered_name", nullptr}})
      .dump();
}

}  // namespace distribute::saving_internal
