#pragma once
#include <distribute/base/error.hpp>
#include <distribute/saved_model/detail/graph_kernels.hpp>
#include <distribute/saved_model/detail/graph_runner.hpp>

namespace distribute::saved_model_internal {

/// Operations that are the runner's own, and their attributes that name functions.
DISTRIBUTE_INLINE const std::map<std::string, std::vector<const char*>>& runner_operations() {
  static const std::map<std::string, std::vector<const char*>> operations = {
      {"Const", {}},
      {"Placeholder", {}},
      {"PlaceholderWithDefault", {}},
      {"_Arg", {}},
      {"NoOp", {}},
      {"Identity", {}},
      {"IdentityN", {}},
      {"StopGradient", {}},
      {"PreventGradient", {}},
      {"Snapshot", {}},
      {"EnsureShape", {}},
      {"DisableCopyOnRead", {}},
      {"VarHandleOp", {}},
      {"VarIsInitializedOp", {}},
      {"ReadVariableOp", {}},
      {"AssignVariableOp", {}},
      {"PartitionedCall", {"f"}},
      {"StatefulPartitionedCall", {"f"}},
      {"While", {"cond", "body"}},
      {"StatelessWhile", {"cond", "body"}},
      {"If", {"then_branch", "else_branch"}},
      {"StatelessIf", {"then_branch", "else_branch"}}};
  return operations;
}

DISTRIBUTE_INLINE std::string text_attribute(const RunNode& node, const char* key) {
  const auto found = node.attributes.find(key);
  return found == node.attributes.end() ? "" : found->second.text;
}

/// Returns the name of a variable in its container.
DISTRIBUTE_INLINE std::string variable_name(const RunNode& node) {
  const std::string shared = text_attribute(node, "shared_name");
  return shared.empty() ? node.name : shared;
}

DISTRIBUTE_INLINE GraphRunner::GraphRunner(RunLibrary library, std::string name)
    : library_(std::move(library)), name_(std::move(name)) {
  const auto note = [&](const RunGraph& graph) {
    for (const RunNode& node : graph.nodes)
      if (node.op == "VarHandleOp")
        variables_.emplace(variable_name(node),
                           std::make_shared<GraphVariable>(GraphVariable{variable_name(node)}));
  };
  note(library_.graph);
  for (const auto& [called, body] : library_.functions) note(body);
}

DISTRIBUTE_INLINE const RunGraph& GraphRunner::function_called(const std::string& name) const {
  const auto found = library_.functions.find(name);
  if (found == library_.functions.end())
    throw DataLossError(str_cat(name_, ": there is no function '", name, "'"));
  return found->second;
}

/// Returns the targets and all nodes that they need, each after its inputs.
DISTRIBUTE_INLINE std::vector<int> GraphRunner::order_of(
    const RunGraph& graph, const std::vector<int>& targets,
    const std::map<int, GraphValue>& fed) const {
  enum State : char { New, Open, Done };
  std::vector<State> states(graph.nodes.size(), New);
  std::vector<int> order, stack(targets);
  const auto visit = [&](int node) {
    if (states[size_t(node)] == Open)
      throw UnimplementedError(str_cat(name_, ": node '", graph.nodes[size_t(node)].name,
                                       "' is in a loop of nodes, as graphs of TensorFlow 1 have ",
                                       "them; export it as a SavedModel of TensorFlow 2"));
    if (states[size_t(node)] == New) stack.push_back(node);
  };
  while (!stack.empty()) {
    const int now = stack.back();
    State& state = states[size_t(now)];
    if (state != New) {
      stack.pop_back();
      if (state == Open) order.push_back(now);
      state = Done;
      continue;
    }
    state = Open;
    if (fed.contains(now)) continue;
    for (const NodeOutput& input : graph.nodes[size_t(now)].inputs) visit(input.node);
    for (const int control : graph.nodes[size_t(now)].controls) visit(control);
  }
  return order;
}

DISTRIBUTE_INLINE void GraphRunner::collect(const RunGraph& graph, const std::vector<int>& targets,
                                            Seen& seen) const {
  for (const int place : order_of(graph, targets, {})) {
    const RunNode& node = graph.nodes[size_t(place)];
    const auto own = runner_operations().find(node.op);
    if (own == runner_operations().end()) {
      if (!find_kernel(node.op)) seen.missing.insert(node.op);
      continue;
    }
    for (const char* key : own->second) {
      const std::string called = text_attribute(node, key);
      constexpr size_t kDeepest = 200;
      if (seen.open.contains(called) || seen.open.size() > kDeepest)
        throw UnimplementedError(str_cat(name_, ": function '", called,
                                         "' calls itself, or calls are nested too deeply"));
      if (!seen.functions.insert(called).second) continue;
      seen.open.insert(called);
      const RunGraph& body = function_called(called);
      std::vector<int> inner = body.controls;
      for (const NodeOutput& result : body.results) inner.push_back(result.node);
      collect(body, inner, seen);
      seen.open.erase(called);
    }
  }
}

DISTRIBUTE_INLINE std::set<std::string> GraphRunner::missing_operations(
    const std::vector<int>& targets) const {
  Seen seen;
  collect(library_.graph, targets, seen);
  return seen.missing;
}

DISTRIBUTE_INLINE GraphRunner::Values GraphRunner::run_graph(
    const RunGraph& graph, const std::vector<NodeOutput>& results, const std::vector<int>& targets,
    const std::map<int, GraphValue>& fed) const {
  std::vector<int> wanted = targets;
  for (const NodeOutput& result : results) wanted.push_back(result.node);
  const std::vector<int> order = order_of(graph, wanted, fed);
  std::vector<int> readers(graph.nodes.size(), 0);  // a value goes after its last reader
  for (const int place : order)
    for (const NodeOutput& input : graph.nodes[size_t(place)].inputs) ++readers[size_t(input.node)];
  for (const NodeOutput& result : results) ++readers[size_t(result.node)];
  std::vector<Values> values(graph.nodes.size());
  const auto output = [&](const NodeOutput& from, const RunNode& reader) -> const GraphValue& {
    const Values& all = values[size_t(from.node)];
    if (from.output < 0 || size_t(from.output) >= all.size())
      throw DataLossError(str_cat(name_, ": '", reader.name, "' reads output ", from.output,
                                  " of '", graph.nodes[size_t(from.node)].name, "', which has ",
                                  all.size()));
    return all[size_t(from.output)];
  };
  for (const int place : order) {
    const RunNode& node = graph.nodes[size_t(place)];
    if (const auto given = fed.find(place); given != fed.end()) {
      values[size_t(place)] = {given->second};
      continue;
    }
    Values inputs;
    for (const NodeOutput& input : node.inputs) {
      inputs.push_back(output(input, node));
      if (--readers[size_t(input.node)] == 0) values[size_t(input.node)].clear();
    }
    values[size_t(place)] = run_node(node, std::move(inputs));
  }
  Values all;
  for (const NodeOutput& result : results)
    all.push_back(output(result, graph.nodes[size_t(result.node)]));
  return all;
}

DISTRIBUTE_INLINE GraphRunner::Values GraphRunner::run_function(const std::string& function,
                                                                const Values& arguments) const {
  const RunGraph& body = function_called(function);
  if (size_t(body.arguments) != arguments.size())
    throw DataLossError(str_cat(name_, ": function '", function, "' takes ", body.arguments,
                                " arguments and is given ", arguments.size()));
  std::map<int, GraphValue> fed;
  for (size_t i = 0; i < arguments.size(); ++i) fed[int(i)] = arguments[i];
  return run_graph(body, body.results, body.controls, fed);
}

DISTRIBUTE_INLINE GraphRunner::Values GraphRunner::run_while(const RunNode& node,
                                                             Values state) const {
  const std::string condition = text_attribute(node, "cond"), body = text_attribute(node, "body");
  while (true) {
    const Values more = run_function(condition, state);
    if (more.empty() || !more[0].tensor)
      throw DataLossError(str_cat(name_, ": a loop without end"));
    if (!more[0].tensor.item<bool>()) return state;
    state = run_function(body, state);
  }
}

DISTRIBUTE_INLINE GraphRunner::Values GraphRunner::run_node(const RunNode& node,
                                                            Values inputs) const {
  const std::string& op = node.op;
  const auto variable = [&]() -> GraphVariable& {
    if (inputs.empty() || !inputs[0].variable)
      throw DataLossError(
          str_cat(name_, ": '", node.name, "' reads something that is no variable"));
    return *inputs[0].variable;
  };
  if (op == "Const") return {node.constant};
  if (op == "NoOp") return {};
  if (op == "VarHandleOp") {
    GraphValue handle;
    handle.variable = variables_.at(variable_name(node));
    return {handle};
  }
  if (op == "ReadVariableOp") {
    if (!variable().value)
      throw FailedPreconditionError(
          str_cat(name_, ": variable '", variable().name, "' has no value"));
    return {variable().value};
  }
  if (op == "VarIsInitializedOp") return {Tensor(bool(variable().value))};
  if (op == "AssignVariableOp") {
    if (inputs.size() < 2) throw DataLossError(str_cat(name_, ": '", node.name, "' has no value"));
    variable().value = inputs[1].tensor;
    return {};
  }
  if (op.ends_with("PartitionedCall")) return run_function(text_attribute(node, "f"), inputs);
  if (op == "While" || op == "StatelessWhile") return run_while(node, std::move(inputs));
  if (op == "If" || op == "StatelessIf") {
    const bool yes = KernelCall(node, inputs).tensor(0).item<bool>();
    const Values arguments(inputs.begin() + 1, inputs.end());
    return run_function(text_attribute(node, yes ? "then_branch" : "else_branch"), arguments);
  }
  if (op == "Placeholder" || op == "_Arg")
    throw InvalidArgumentError(str_cat(name_, ": nothing was given for '", node.name, "'"));
  if (runner_operations().contains(op)) return inputs;  // identities
  const Kernel* kernel = find_kernel(op);
  if (!kernel)
    throw UnimplementedError(
        str_cat(name_, ": node '", node.name, "' is ", op, ", which is not run here"));
  return (*kernel)(KernelCall(node, std::move(inputs)));
}

DISTRIBUTE_INLINE std::vector<GraphValue> GraphRunner::run(
    const std::vector<NodeOutput>& results, const std::vector<int>& targets,
    const std::map<int, GraphValue>& fed) const {
  return run_graph(library_.graph, results, targets, fed);
}

}  // namespace distribute::saved_model_internal
