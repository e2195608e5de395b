#include "cases.hpp"

#include <distribute/autograd/variable.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/normalization.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/strategy/strategy.hpp>

namespace comparison {

namespace {

using dist::Variable;
using dist::VariableAggregation;
using dist::VariableSynchronization;
using Change = std::function<void(const Variable& variable)>;

/// The variables of one synchronization and aggregation.
class Kind {
 public:
  Kind(dist::Strategy& strategy, VariableSynchronization synchronization,
       VariableAggregation aggregation)
      : strategy_(strategy), synchronization_(synchronization), aggregation_(aggregation) {}

  Variable made() const {
    const auto scope = strategy_.scope();
    return Variable(Tensor(10.0f),
                    {.synchronization = synchronization_, .aggregation = aggregation_});
  }
  std::vector<Tensor> after_run(const Change& change) const {
    const Variable variable = made();
    strategy_.run([&] { change(variable); });
    return strategy_.experimental_local_results(variable);
  }
  std::vector<Tensor> after_cross(const Change& change) const {
    const Variable variable = made();
    {
      const auto scope = strategy_.scope();
      change(variable);
    }
    return strategy_.experimental_local_results(variable);
  }
  Tensor read(const Change& change_before) const {
    const Variable variable = made();
    if (change_before) strategy_.run([&] { change_before(variable); });
    const auto scope = strategy_.scope();
    return variable.read_value();
  }

 private:
  dist::Strategy& strategy_;
  VariableSynchronization synchronization_;
  VariableAggregation aggregation_;
};

Tensor mine() { return in_replica(std::vector<Tensor>{Tensor(1.0f), Tensor(4.0f)}); }
void add_mine(const Variable& v) { v.assign_add(mine()); }

void kind_cases(const std::string& kind_name, const Kind& kind) {
  const auto name = [&](const char* what) { return "variables/" + kind_name + "/" + what; };
  const Tensor three(3.0f);
  run_case(name("assign in replicas"),
           [&] { return kind.after_run([](const Variable& v) { v.assign(mine()); }); });
  run_case(name("assign_add in replicas"), [&] { return kind.after_run(add_mine); });
  run_case(name("assign_sub in replicas"),
           [&] { return kind.after_run([](const Variable& v) { v.assign_sub(mine()); }); });
  run_case(name("assign a number in replicas"),
           [&] { return kind.after_run([&](const Variable& v) { v.assign(three); }); });
  run_case(name("assign cross-replica"),
           [&] { return kind.after_cross([&](const Variable& v) { v.assign(three); }); });
  run_case(name("assign_add cross-replica"),
           [&] { return kind.after_cross([&](const Variable& v) { v.assign_add(three); }); });
  run_case(name("read cross-replica"), [&] { return kind.read(nullptr); });
  run_case(name("read after assign_add"), [&] { return kind.read(add_mine); });
  run_case(name("trainable"), [&] { return kind.made().trainable(); });
}

using Synchronization = std::pair<const char*, VariableSynchronization>;
using Aggregation = std::pair<const char*, VariableAggregation>;

}  // namespace

void variable_cases() {
  auto strategy = mirrored(2);
  for (const auto& [s_name, s] : {Synchronization{"AUTO", VariableSynchronization::Auto},
                                  Synchronization{"ON_READ", VariableSynchronization::OnRead}})
    for (const auto& [a_name, a] :
         {Aggregation{"NONE", VariableAggregation::None},
          Aggregation{"SUM", VariableAggregation::Sum},
          Aggregation{"MEAN", VariableAggregation::Mean},
          Aggregation{"ONLY_FIRST_REPLICA", VariableAggregation::OnlyFirstReplica}})
      kind_cases(dist::str_cat(s_name, ", ", a_name), Kind(strategy, s, a));
  const Variable two =
      Kind(strategy, VariableSynchronization::Auto, VariableAggregation::Sum).made();
  run_case("variables/read in another strategy's replicas", [&] {
    auto four = mirrored(4);
    return four.run([&] { return two.value() + Tensor(0.0f); });
  });
}

namespace {

namespace nn = dist::nn;

std::string paths(const std::vector<const nn::Module*>& networks) {
  std::string text;
  for (const nn::Module* network : networks)
    for (const Variable& variable : network->variables())
      text += (text.empty() ? "" : " ") + variable.name();
  return text;
}

}  // namespace

void name_cases() {
  const Tensor x({1, 4}, std::vector<float>(4, 1.0f));
  run_case("names/a network", [&] {
    nn::clear_session();
    nn::Sequential network(nn::Dense({.units = 3}), nn::Dense({.units = 2}));
    network(x);
    return paths({&network});
  });
  run_case("names/two networks", [&] {
    nn::clear_session();
    nn::Sequential first(nn::Dense({.units = 3})), second(nn::Dense({.units = 2}));
    first(x), second(x);
    return paths({&first, &second});
  });
  run_case("names/normalization", [&] {
    nn::clear_session();
    nn::Sequential network(nn::Dense({.units = 2}), nn::BatchNormalization());
    network(x);
    return paths({&network});
  });
}

}  // namespace comparison
