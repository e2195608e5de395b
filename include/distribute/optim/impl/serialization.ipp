#pragma once
#include <distribute/base/json.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/optim/detail/optimizer_classes.hpp>
#include <distribute/optim/detail/optimizer_text.hpp>
#include <distribute/optim/detail/schedule_text.hpp>
#include <distribute/optim/serialization.hpp>

#include <iterator>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <utility>

namespace distribute::optim {

namespace optim_internal {

using Json = nlohmann::json;
using MakeOptimizer = std::function<std::unique_ptr<Optimizer>(const OptimizerConfig&)>;

/// All classes that deserialize() knows. Thread-safe.
class OptimizerClasses {
 public:
  void add(const std::string& name, MakeOptimizer make) {
    const std::lock_guard lock(mutex_);
    if (!classes_.emplace(name, std::move(make)).second)
      throw AlreadyExistsError(str_cat("the optimizer class '", name, "' is registered already"));
  }
  MakeOptimizer find(const std::string& name) {
    const std::lock_guard lock(mutex_);
    const auto found = classes_.find(name);
    if (found != classes_.end()) return found->second;
    throw InvalidArgumentError(str_cat("deserialize: the optimizer class '", name,
                                       "' is not known here; register_optimizer() makes it so"));
  }

 private:
  std::mutex mutex_;  // guards classes_
  std::map<std::string, MakeOptimizer> classes_{std::begin(kOptimizerClasses),
                                                std::end(kOptimizerClasses)};
};

DISTRIBUTE_INLINE OptimizerConfig config_of(const Json& json) {
  OptimizerConfig config;
  for (const auto& [name, value] : json.items()) {
    if (value.is_null())
      config.set(name, {});
    else if (value.is_boolean())
      config.set(name, value.get<bool>());
    else if (value.is_number())
      config.set(name, value.get<double>());
    else if (value.is_string())
      config.set(name, value.get<std::string>());
    else if (name == "inner_optimizer" || (name == "learning_rate" && value.is_object()))
      config.set(name, OptimizerText{value.dump()});
    else
      throw InvalidArgumentError(str_cat("deserialize: '", name, "' is neither number nor text"));
  }
  return config;
}

/// Throws for an option that the class did not read and that would change the optimizer.
DISTRIBUTE_INLINE void check_nothing_is_dropped(const Optimizer& made,
                                                const OptimizerConfig& config) {
  for (const std::string& name : config.unread()) {
    const OptimizerConfig own = made.get_config();
    const auto known = own.values().find(name);
    if (known != own.values().end() && known->second == config.values().at(name)) continue;
    throw InvalidArgumentError(str_cat("deserialize: ", made.class_name(), " has no option '", name,
                                       "' here; leave it out of the text or set it to null"));
  }
}

DISTRIBUTE_INLINE std::unique_ptr<Optimizer> make_optimizer(const Json& json) {
  const auto make = in_process<OptimizerClasses>().find(json.at("class_name").get<std::string>());
  const OptimizerConfig config = config_of(json.at("config"));
  auto optimizer = make(config);
  check_nothing_is_dropped(*optimizer, config);
  return optimizer;
}

}  // namespace optim_internal

DISTRIBUTE_INLINE OptimizerConfig Optimizer::own_config() const {
  OptimizerConfig config;
  config.set_optional("weight_decay", options_.weight_decay);
  if (options_.coupled_weight_decay)
    config.set_optional("coupled_weight_decay", options_.coupled_weight_decay);
  config.set_optional("clipnorm", options_.clipnorm);
  config.set_optional("clipvalue", options_.clipvalue);
  config.set_optional("global_clipnorm", options_.global_clipnorm);
  config.set("clip_per_replica", options_.clip_per_replica);
  config.set("use_ema", options_.use_ema);
  config.set("ema_momentum", options_.ema_momentum);
  config.set_optional("ema_overwrite_frequency", options_.ema_overwrite_frequency);
  config.set("name", options_.name);
  add_config(config);
  return config;
}

DISTRIBUTE_INLINE OptimizerConfig Optimizer::get_config() const {
  OptimizerConfig config = own_config();
  if (options_.learning_rate.is_schedule() && !learning_rate_)
    config.set("learning_rate",
               OptimizerText{optim_internal::schedule_text(options_.learning_rate, options_.name)});
  else
    config.set("learning_rate", double(learning_rate()));
  return config;
}

DISTRIBUTE_INLINE std::string Optimizer::serialize() const {
  check_serializable();
  return optim_internal::optimizer_text(class_name(), get_config());
}

DISTRIBUTE_INLINE UpdateDescription Optimizer::describe(StepNumbers step) const {
  std::call_once(described_, [this] {  // options do not change, and it is without the rate
    check_serializable();
    description_ = optim_internal::optimizer_text(class_name(), own_config());
  });
  return {description_, std::move(step)};
}

DISTRIBUTE_INLINE void Optimizer::check_serializable() const {
  if (class_name().empty())
    throw UnimplementedError(str_cat("the class of the optimizer '", options_.name,
                                     "' has no class_name(), so it cannot be serialized"));
}

DISTRIBUTE_INLINE std::string serialize(const Optimizer& optimizer) {
  return optimizer.serialize();
}

DISTRIBUTE_INLINE std::unique_ptr<Optimizer> deserialize(const std::string& text) {
  const optim_internal::Json json = json_of(text);
  if (json.is_discarded())
    throw InvalidArgumentError("this text describes no optimizer: it is not JSON: " + text);
  try {
    return optim_internal::make_optimizer(json);
  } catch (const optim_internal::Json::exception& error) {
    throw InvalidArgumentError(str_cat("this text describes no optimizer: ", error.what()));
  }
}

DISTRIBUTE_INLINE void register_optimizer(
    const std::string& class_name,
    std::function<std::unique_ptr<Optimizer>(const OptimizerConfig&)> make) {
  in_process<optim_internal::OptimizerClasses>().add(class_name, std::move(make));
}

DISTRIBUTE_INLINE UpdateKernel make_update_kernel(const Optimizer& optimizer, StepNumbers step) {
  for (const std::vector<float>* numbers : {&step.factors, &step.ratios})
    if (!numbers->empty() && numbers->size() != step.decayed.size())
      throw InvalidArgumentError(str_cat("update kernel: ", numbers->size(),
                                         " factors or ratios for the ", step.decayed.size(),
                                         " variables of the step"));
  return optimizer.make_kernel(std::move(step));
}

namespace optim_internal {

/// The attribute of Keras's optimizer that lists slots of this kind; "" when there is none.
DISTRIBUTE_INLINE std::string keras_slot_attribute(const std::string& class_name,
                                                   const std::string& slot) {
  using Attributes = std::map<std::string, std::string>;
  static const Attributes of_all = {{"average", "_model_variables_moving_average"}};
  static const Attributes of_most = {{"m", "_momentums"},
                                     {"v", "_velocities"},
                                     {"vhat", "_velocity_hats"},
                                     {"momentum", "_momentums"},
                                     {"velocity", "_velocities"},
                                     {"rms", "_velocities"},
                                     {"mg", "_average_gradients"},
                                     {"accumulator", "_accumulators"},
                                     {"linear", "_linears"},
                                     {"accum_grad", "_accumulated_grads"},
                                     {"accum_var", "_accumulated_delta_vars"}};
  static const std::map<std::string, Attributes> of_class = {
      {"SGD", {{"momentum", "momentums"}}}, {"Adamax", {{"m", "_m"}, {"u", "_u"}}}};
  const auto own = of_class.find(class_name);
  for (const Attributes* table : {&of_all, own == of_class.end() ? &of_most : &own->second})
    if (const auto found = table->find(slot); found != table->end()) return found->second;
  return {};
}

}  // namespace optim_internal

DISTRIBUTE_INLINE std::vector<std::vector<KerasSlots>> keras_slots(
    const std::string& class_name, const std::vector<std::string>& slots) {
  std::vector<KerasSlots> first, middle, last;
  for (const std::string& slot : slots) {
    auto& group = slot == "average" ? first : slot == "vhat" ? last : middle;
    group.push_back({slot, optim_internal::keras_slot_attribute(class_name, slot)});
  }
  std::vector<std::vector<KerasSlots>> groups = {first};
  if (class_name == "RMSprop")
    for (const KerasSlots& one : middle) groups.push_back({one});
  else
    groups.push_back(middle);
  groups.push_back(last);
  std::erase_if(groups, [](const auto& group) { return group.empty(); });
  return groups;
}

}  // namespace distribute::optim
