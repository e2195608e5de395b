#pragma once
#include <distribute/base/json.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/optim/adagrad.hpp>
#include <distribute/optim/adam.hpp>
#include <distribute/optim/rmsprop.hpp>
#include <distribute/optim/serialization.hpp>
#include <distribute/optim/sgd.hpp>

#include <mutex>
#include <nlohmann/json.hpp>
#include <utility>

namespace distribute::optim {

namespace optim_internal {

using Json = nlohmann::json;
using MakeOptimizer = std::function<std::unique_ptr<Optimizer>(const OptimizerConfig&)>;

/// What every optimizer's options have in common.
template <typename Options>
Options read_common(const OptimizerConfig& config) {
  Options options;
  double rate = options.learning_rate(0);
  config.get("learning_rate", rate);
  options.learning_rate = rate;
  config.get("weight_decay", options.weight_decay);
  config.get("clipnorm", options.clipnorm);
  config.get("clipvalue", options.clipvalue);
  config.get("global_clipnorm", options.global_clipnorm);
  config.get("use_ema", options.use_ema);
  config.get("ema_momentum", options.ema_momentum);
  config.get("ema_overwrite_frequency", options.ema_overwrite_frequency);
  config.get("name", options.name);
  return options;
}

DISTRIBUTE_INLINE std::unique_ptr<Optimizer> make_sgd(const OptimizerConfig& config) {
  auto options = read_common<SGDOptions>(config);
  config.get("momentum", options.momentum);
  config.get("nesterov", options.nesterov);
  config.get("coupled_weight_decay", options.coupled_weight_decay);
  return std::make_unique<SGD>(options);
}

template <typename Class, typename Options>
std::unique_ptr<Optimizer> make_adam(const OptimizerConfig& config) {
  auto options = read_common<Options>(config);
  config.get("beta_1", options.beta_1);
  config.get("beta_2", options.beta_2);
  config.get("epsilon", options.epsilon);
  config.get("amsgrad", options.amsgrad);
  return std::make_unique<Class>(options);
}

DISTRIBUTE_INLINE std::unique_ptr<Optimizer> make_rmsprop(const OptimizerConfig& config) {
  auto options = read_common<RMSpropOptions>(config);
  config.get("rho", options.rho);
  config.get("momentum", options.momentum);
  config.get("epsilon", options.epsilon);
  config.get("centered", options.centered);
  return std::make_unique<RMSprop>(options);
}

DISTRIBUTE_INLINE std::unique_ptr<Optimizer> make_adagrad(const OptimizerConfig& config) {
  auto options = read_common<AdagradOptions>(config);
  config.get("initial_accumulator_value", options.initial_accumulator_value);
  config.get("epsilon", options.epsilon);
  return std::make_unique<Adagrad>(options);
}

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
  std::map<std::string, MakeOptimizer> classes_{{"SGD", make_sgd},
                                                {"Adam", make_adam<Adam, AdamOptions>},
                                                {"AdamW", make_adam<AdamW, AdamWOptions>},
                                                {"RMSprop", make_rmsprop},
                                                {"Adagrad", make_adagrad}};
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
    else
      throw InvalidArgumentError(str_cat("deserialize: '", name, "' is neither number nor text"));
  }
  return config;
}

/// Runs fn(text as JSON); what is wrong with the text becomes an InvalidArgumentError.
template <typename Fn>
auto with_json(const std::string& text, Fn&& fn) {
  const Json json = json_of(text);
  if (json.is_discarded())
    throw InvalidArgumentError("this text describes no optimizer: it is not JSON: " + text);
  try {
    return fn(json);
  } catch (const Json::exception& error) {
    throw InvalidArgumentError(str_cat("this text describes no optimizer: ", error.what()));
  }
}

DISTRIBUTE_INLINE std::unique_ptr<Optimizer> make_optimizer(const Json& json) {
  const auto make = in_process<OptimizerClasses>(&ProcessState::optimizer_classes)
                        .find(json.at("class_name").get<std::string>());
  return make(config_of(json.at("config")));
}

}  // namespace optim_internal

DISTRIBUTE_INLINE std::string serialize(const Optimizer& optimizer) {
  return optimizer.serialize();
}

DISTRIBUTE_INLINE std::unique_ptr<Optimizer> deserialize(const std::string& text) {
  return optim_internal::with_json(
      text, [](const auto& json) { return optim_internal::make_optimizer(json); });
}

DISTRIBUTE_INLINE void register_optimizer(
    const std::string& class_name,
    std::function<std::unique_ptr<Optimizer>(const OptimizerConfig&)> make) {
  in_process<optim_internal::OptimizerClasses>(&ProcessState::optimizer_classes)
      .add(class_name, std::move(make));
}

DISTRIBUTE_INLINE UpdateKernel make_update_kernel(const std::string& description) {
  return optim_internal::with_json(description, [](const auto& json) {
    const std::shared_ptr<Optimizer> optimizer = optim_internal::make_optimizer(json);
    UpdateKernel kernel = optimizer->make_kernel({.rate = json.at("rate").template get<float>(),
                                                  .done = json.at("done"),
                                                  .decayed = json.at("decayed")});
    return kernel;
  });
}

}  // namespace distribute::optim
