#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/optim/detail/optimizer_text.hpp>
#include <distribute/optim/detail/schedule_text.hpp>

#include <nlohmann/json.hpp>

namespace distribute::optim::optim_internal {

using ScheduleJson = nlohmann::json;

/// These list the arguments of each class. `visit(name, member)` writes or reads a member.
template <typename Visit>
void visit_arguments(PiecewiseConstantDecay& s, const Visit& visit) {
  visit("boundaries", s.boundaries);
  visit("values", s.values);
}
template <typename Visit>
void visit_arguments(ExponentialDecay& s, const Visit& visit) {
  visit("initial_learning_rate", s.initial_learning_rate);
  visit("decay_steps", s.decay_steps);
  visit("decay_rate", s.decay_rate);
  visit("staircase", s.staircase);
}
template <typename Visit>
void visit_arguments(CosineDecay& s, const Visit& visit) {
  visit("initial_learning_rate", s.initial_learning_rate);
  visit("decay_steps", s.decay_steps);
  visit("alpha", s.alpha);
  visit("warmup_target", s.warmup_target);
  visit("warmup_steps", s.warmup_steps);
}
template <typename Visit>
void visit_arguments(CosineDecayRestarts& s, const Visit& visit) {
  visit("initial_learning_rate", s.initial_learning_rate);
  visit("first_decay_steps", s.first_decay_steps);
  visit("t_mul", s.t_mul);
  visit("m_mul", s.m_mul);
  visit("alpha", s.alpha);
}
template <typename Visit>
void visit_arguments(PolynomialDecay& s, const Visit& visit) {
  visit("initial_learning_rate", s.initial_learning_rate);
  visit("decay_steps", s.decay_steps);
  visit("end_learning_rate", s.end_learning_rate);
  visit("power", s.power);
  visit("cycle", s.cycle);
}
template <typename Visit>
void visit_arguments(InverseTimeDecay& s, const Visit& visit) {
  visit("initial_learning_rate", s.initial_learning_rate);
  visit("decay_steps", s.decay_steps);
  visit("decay_rate", s.decay_rate);
  visit("staircase", s.staircase);
}

/// Writes without a JSON library, of which programs that read no JSON then have no code.
struct ScheduleWriter {
  OptimizerConfig& config;
  void operator()(const char* name, double member) const { config.set(name, member); }
  void operator()(const char* name, bool member) const { config.set(name, member); }
  void operator()(const char* name, int64_t member) const {
    config.set(name, OptimizerText{std::to_string(member)});
  }
  void operator()(const char* name, const std::optional<double>& member) const {
    config.set_optional(name, member);
  }
  template <typename T>
  void operator()(const char* name, const std::vector<T>& members) const {
    std::string list;
    for (const T& member : members)
      list += str_cat(list.empty() ? "" : ",", log_internal::json_number(double(member)));
    config.set(name, OptimizerText{"[" + list + "]"});
  }
};

/// Members that the text does not have keep their values.
struct ScheduleReader {
  const ScheduleJson& config;
  template <typename T>
  void operator()(const char* name, T& member) const {
    const auto found = config.find(name);
    if (found == config.end() || found->is_null()) return;
    if constexpr (std::is_same_v<T, std::optional<double>>)
      member = found->get<double>();
    else
      member = found->get<T>();
    if constexpr (!std::is_same_v<T, std::optional<double>>)
      if (ScheduleJson(member) != *found)
        throw InvalidArgumentError(str_cat("deserialize: ", name, " is ", found->dump(),
                                           "; a schedule here has whole numbers of steps"));
  }
};

/// Calls `use(class name, name that Keras gives it, schedule without arguments)` for each class.
template <typename Use>
void for_each_schedule(const Use& use) {
  use("PiecewiseConstantDecay", "PiecewiseConstant", PiecewiseConstantDecay{});
  use("ExponentialDecay", "ExponentialDecay", ExponentialDecay{});
  use("CosineDecay", "CosineDecay", CosineDecay{});
  use("CosineDecayRestarts", "SGDRDecay", CosineDecayRestarts{});
  use("PolynomialDecay", "PolynomialDecay", PolynomialDecay{});
  use("InverseTimeDecay", "InverseTimeDecay", InverseTimeDecay{});
}

DISTRIBUTE_INLINE std::string schedule_text(const LearningRate& rate,
                                            const std::string& optimizer) {
  std::string text;
  for_each_schedule([&]<typename T>(const char* class_name, const char* name, T) {
    const T* schedule = rate.as<T>();
    if (!schedule) return;
    OptimizerConfig config;
    config.set("name", std::string(name));
    T copy = *schedule;
    visit_arguments(copy, ScheduleWriter{config});
    text = "{\"module\":\"keras.optimizers.schedules\",\"registered_name\":null," +
           optimizer_text(class_name, config).substr(1);
  });
  if (text.empty())
    throw UnimplementedError(str_cat("get_config: the learning rate of '", optimizer,
                                     "' is a function of the program's own; schedules of Keras, "
                                     "such as optim::CosineDecay, can be written"));
  return text;
}

DISTRIBUTE_INLINE LearningRate schedule_of(const std::string& text) {
  LearningRate made = 0;
  const ScheduleJson json = ScheduleJson::parse(text);
  const auto wanted = json.at("class_name").get<std::string>();
  for_each_schedule([&]<typename T>(const char* class_name, const char*, T schedule) {
    if (wanted != class_name) return;
    visit_arguments(schedule, ScheduleReader{json.at("config")});
    made = schedule;
  });
  if (!made.is_schedule())
    throw InvalidArgumentError(
        str_cat("deserialize: the schedule '", wanted, "' is not known here"));
  return made;
}

}  // namespace distribute::optim::optim_internal
