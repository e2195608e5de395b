/// The same cases as in strategy_cases.py.

#include "cases.hpp"

#include <distribute/device/placement.hpp>
#include <distribute/nn/loss.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/optim/sgd.hpp>
#include <distribute/strategy/central_storage_strategy.hpp>
#include <distribute/strategy/one_device_strategy.hpp>

#include <map>

namespace comparison {

namespace {

using dist::PerReplica;
using dist::Strategy;
using dist::Variable;
using dist::VariableAggregation;
using dist::VariableSynchronization;

dist::ReplicaContext& here() { return *dist::get_replica_context(); }
Tensor own() { return Tensor(float(here().replica_id_in_sync_group() + 1)); }

/// "CPU:1".
std::string short_name(const std::string& device) {
  const std::string task = "/job:localhost/replica:0/task:0/device:";
  return device.starts_with(task) ? device.substr(task.size()) : "not of this task: " + device;
}
template <typename Names>
std::string joined(const Names& names, std::string (*form)(const std::string&)) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " ") + form(name);
  return text;
}
std::string whole(const std::string& name) { return name; }

/// Cases of one strategy, and what they are about.
class Cases {
 public:
  Cases(std::string name, Strategy& strategy) : name_(std::move(name)), strategy_(strategy) {}
  void reductions() const;
  void runs() const;
  void devices() const;

 private:
  using Values = std::map<std::string, std::function<dist::ReduceValue()>>;
  template <typename Function>
  void run(const std::string& name, Function function) const {
    run_case(name_ + "/" + name, function);
  }
  Variable made(const Tensor& value = Tensor(3.0f), const dist::VariableOptions& kind = {}) const {
    const auto scope = strategy_.scope();
    return Variable(value, kind);
  }
  Variable on_read() const {
    return made(Tensor(3.0f), {.synchronization = VariableSynchronization::OnRead,
                               .aggregation = VariableAggregation::Sum});
  }
  dist::Mirrored<Tensor> reduced(const dist::Destinations& destination = "/cpu:0") const {
    return strategy_.extended().reduce_to("SUM", strategy_.run(own), destination);
  }
  /// What the function gives in a run inside of a merge_call.
  template <typename Function>
  std::vector<Tensor> inside(Function function) const {
    return strategy_
        .run(
            [&] { return here().merge_call([&](Strategy& inner) { return inner.run(function); }); })
        .values();
  }
  Values values() const;
  std::string elsewhere() const;
  std::string beside() const;
  std::vector<Tensor> updated() const;
  std::vector<Tensor> after_errors() const;

  std::string name_;
  Strategy& strategy_;
};

Cases::Values Cases::values() const {
  return {
      {"a number", [] { return dist::ReduceValue(1.5); }},
      {"a whole number", [] { return dist::ReduceValue(2); }},
      {"a tensor", [] { return dist::ReduceValue(Tensor(1.0f)); }},
      {"a vector",
       [] {
         return dist::ReduceValue(Tensor{1.0f, 2.0f});
       }},
      {"zero", [] { return dist::ReduceValue(Tensor(0.0f)); }},
      {"a variable", [&] { return dist::ReduceValue(made()); }},
      {"a variable of MEAN",
       [&] {
         return dist::ReduceValue(made(Tensor(3.0f), {.aggregation = VariableAggregation::Mean}));
       }},
      {"a sync-on-read variable",
       [&] {
         const Variable variable = on_read();
         strategy_.run([&] { variable.assign(own() + 2.0f); });
         return dist::ReduceValue(variable);
       }},
      {"a plain variable", [] { return dist::ReduceValue(Variable(Tensor(2.0f))); }},
      {"a reduced value", [&] { return dist::ReduceValue(reduced()); }}};
}

void Cases::reductions() const {
  const Tensor rows{1.0f, 2.0f};
  for (const std::string op : {"SUM", "MEAN"}) {
    for (const auto& [what, value] : values())
      run("reduce " + op + " of " + what,
          [&, &value = value] { return strategy_.reduce(op, value()); });
    run("reduce " + op + " of a vector, axis 0", [&] { return strategy_.reduce(op, rows, 0); });
    run("reduce " + op + " of a variable, axis 0",
        [&] { return strategy_.reduce(op, made(rows), 0); });
    run("reduce_to " + op + " of a tensor",
        [&] { return strategy_.extended().reduce_to(op, Tensor(4.0f), "/cpu:0"); });
    run("reduce_to " + op + " of a variable",
        [&] { return strategy_.extended().reduce_to(op, made(), "/cpu:0"); });
  }
  run("gather a vector", [&] { return strategy_.gather(rows, 0); });
  run("gather a scalar", [&] { return strategy_.gather(1.0f, 0); });
  run("gather a variable", [&] { return strategy_.gather(made(rows), 0); });
}

std::vector<Tensor> Cases::updated() const {
  const Variable variable = made(Tensor(1.0f));
  const auto scope = strategy_.scope();
  strategy_.extended().update(
      variable, [](const Variable& copy, const Tensor& value) { copy.assign_add(value); },
      reduced());
  return strategy_.experimental_local_results(variable);
}

std::vector<Tensor> Cases::after_errors() const {
  const auto refused = []() -> Tensor { throw dist::InvalidArgumentError("no"); };
  for (const auto& attempt : std::vector<std::function<void()>>{[&] { inside(refused); },
                                                                [&] { strategy_.run(refused); }}) {
    try {
      attempt();
    } catch (const dist::InvalidArgumentError&) {
    }
  }
  return strategy_.run([] { return here().all_reduce(dist::ReduceOp::Sum, own()); }).values();
}

void Cases::runs() const {
  const auto twice = [](const Tensor& x) { return x * 2.0f; };
  struct Nest {
    Tensor a;
    std::vector<Tensor> b;
  };
  const auto gathered = [] {
    const Tensor id = own() - 1.0f;
    return here().all_gather(Nest{dist::reshape(id, {1}), {dist::stack({Tensor(1.0f), id})}}, 0);
  };
  run("run of reduce_to", [&] { return strategy_.run(twice, reduced()); });
  run("run of reduce_to a variable", [&] { return strategy_.run(twice, reduced(made())); });
  run("local results of reduce_to",
      [&] { return strategy_.experimental_local_results(reduced()); });
  run("update with reduce_to", [&] { return updated(); });
  run("all_gather nested, a", [&] { return strategy_.run([&] { return gathered().a; }); });
  run("all_gather nested, b", [&] { return strategy_.run([&] { return gathered().b[0]; }); });
  run("run in merge_call", [&] { return inside(own); });
  run("run in merge_call, its arguments", [&] {
    return strategy_.run([&] {
      return here().merge_call(
          [&](Strategy& inner, const PerReplica<Tensor>& all) {
            return inner.run([](const Tensor& x) { return x * 10.0f; }, all);
          },
          Tensor(7.0f));
    });
  });
  run("run in merge_call, all_reduce",
      [&] { return inside([] { return here().all_reduce(dist::ReduceOp::Sum, own()); }); });
  run("run in merge_call, twice", [&] {
    return inside(
        [&] { return here().merge_call([&](Strategy& inner) { return inner.run(own); }); });
  });
  run("run in merge_call, assign_add", [&] {
    const Variable variable = made(Tensor(1.0f), {.aggregation = VariableAggregation::Sum});
    inside([&] {
      variable.assign_add(own());
      return own();
    });
    return strategy_.experimental_local_results(variable);
  });
  run("run in merge_call, an error",
      [&] { return inside([]() -> Tensor { throw dist::InvalidArgumentError("no"); }); });
  run("all_reduce after errors", [&] { return after_errors(); });
}

std::string Cases::elsewhere() const {
  const auto scope = strategy_.scope();
  const auto device = dist::device("/cpu:3");
  return short_name(Variable([] { return Tensor(1.0f); }).device());
}

std::string Cases::beside() const {
  const auto scope = strategy_.scope();
  const Variable first(Tensor(1.0f));
  const auto colocation = strategy_.extended().colocate_vars_with(first);
  return short_name(Variable(Tensor(2.0f)).device());
}

void Cases::devices() const {
  run("device of a variable", [&] { return short_name(made().device()); });
  run("device of a sync-on-read variable", [&] { return short_name(on_read().device()); });
  run("devices of its copies", [&] { return joined(made().impl().devices(), short_name); });
  run("device after assign", [&] {
    const Variable variable = made();
    const auto scope = strategy_.scope();
    variable.assign(Tensor(2.0f));
    return short_name(variable.device());
  });
  run("device in replicas", [&] {
    const Variable variable = made();
    return joined(strategy_.run([&] { return variable.device(); }).values(), short_name);
  });
  run("device of slots", [&] {
    const auto scope = strategy_.scope();
    const Variable variable(Tensor{1.0f});
    dist::optim::SGD optimizer({.learning_rate = 1.0, .momentum = 0.5});
    optimizer.build({variable});
    return short_name(optimizer.slot_variables().back().variable.device());
  });
  run("device inside tf.device", [&] { return elsewhere(); });
  run("device of a variable beside another", [&] { return beside(); });
  run("worker_devices", [&] { return joined(strategy_.extended().worker_devices(), whole); });
  run("devices of tensors in replicas", [&] {
    const auto devices = strategy_.run([] { return (own() + 1.0f).device(); });
    std::vector<std::string> names;
    for (const dist::Device device : devices.values()) names.push_back(to_string(device));
    return joined(names, [](const std::string& name) { return name.substr(8); });
  });
}

void default_scope_cases() {
  Strategy& strategy = dist::get_strategy();
  const auto run = [](const char* name, auto function) {
    run_case(dist::str_cat("default scope/", name), function);
  };
  const auto is_there = [] { return dist::get_replica_context() != nullptr; };
  {
    const auto scope = strategy.scope();
    run("in_cross_replica_context", dist::in_cross_replica_context);
    run("has_strategy", dist::has_strategy);
    run("there is a replica context", is_there);
    run("compute_average_loss", [] { return dist::nn::compute_average_loss(Tensor{1.0f, 3.0f}); });
    run("scale_regularization_loss",
        [] { return dist::nn::scale_regularization_loss(Tensor(2.0f)); });
    run("all_reduce", [] { return here().all_reduce(dist::ReduceOp::Sum, Tensor(2.0f)); });
    run("merge_call", [] {
      return here().merge_call(
          [](Strategy& inner, const PerReplica<Tensor>& x) { return inner.reduce("SUM", x); },
          Tensor(4.0f));
    });
    run("in a merge_call", [] {
      return bool(here().merge_call([](Strategy&) { return dist::in_cross_replica_context(); }));
    });
    run("a sync-on-read variable", [] {
      const Variable variable(Tensor(1.0f), {.synchronization = VariableSynchronization::OnRead,
                                             .aggregation = VariableAggregation::Sum});
      variable.assign_add(Tensor(1.0f));
      return variable.read_value();
    });
    {
      const auto inner = strategy.scope();
      run("inside itself", is_there);
    }
    dist::OneDeviceStrategy other("/cpu:0");
    const auto inner = other.scope();
    run("another scope inside", [] { return dist::get_replica_context() == nullptr; });
    run("inside another scope", [&] {
      const auto scope_inside = strategy.scope();
      return true;
    });
  }
  run("after it", is_there);
}

}  // namespace

void strategy_cases() {
  auto two = mirrored(2);
  dist::MirroredStrategy other_way({"/cpu:2", "/cpu:1"});
  dist::OneDeviceStrategy one("/cpu:1");
  dist::CentralStorageStrategy central(
      {.compute_devices = {"/cpu:1", "/cpu:2"}, .parameter_device = "/cpu:2"});
  dist::CentralStorageStrategy central_of_one({.compute_devices = {"/cpu:1"}});
  for (const Cases& cases :
       {Cases("mirrored", two), Cases("one device", one),
        Cases("default strategy", dist::get_strategy()), Cases("central storage", central)}) {
    cases.reductions();
    cases.runs();
    cases.devices();
  }
  Cases("mirrored the other way", other_way).devices();
  Cases("central storage of one", central_of_one).devices();
  default_scope_cases();
}

}  // namespace comparison
