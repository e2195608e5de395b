#pragma once
#include <distribute/autograd/detail/recorded_step.hpp>
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/autograd/op_trace.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/device/detail/cuda_memory.hpp>
#include <distribute/device/placement.hpp>
#include <distribute/replica/replica_context.hpp>
#include <distribute/strategy/function.hpp>
#include <distribute/strategy/strategy.hpp>
#include <distribute/strategy/strategy_extended.hpp>

#include <algorithm>
#include <utility>

namespace distribute::strategy_internal {

/// One replica's share of a graph, which reads `arguments` and writes `results`.
struct RecordedFunction::Part {
  Device device;
  std::vector<Tensor> arguments = {}, results = {};  // whose memory stays
  std::unique_ptr<RecordedStep> step = nullptr;      // goes before what it uses

  bool takes(const std::vector<Tensor>& others) const {
    return std::equal(others.begin(), others.end(), arguments.begin(), arguments.end(),
                      [](const Tensor& a, const Tensor& b) {
                        return bool(a) == bool(b) &&
                               (!a || (a.shape() == b.shape() && a.dtype() == b.dtype()));
                      });
  }
};

/// A replica's call, which it shows the others.
struct RecordedFunction::Turn {
  const std::vector<Tensor>& arguments;
  Device device;
  RecordedReplica replica;
  Graph* graph = nullptr;
  Part* part = nullptr;
  Action action = Action::Plain;
  std::string problem = {};  // of the recording
};

/// The steps of all replicas for arguments of one shape each.
struct RecordedFunction::Graph {
  std::vector<Part> parts = {};  // by replica
  int plain_calls = 0;
  int64_t launches = 0;

  bool takes(Turns turns) const {
    bool all = turns.size() == parts.size();
    for (size_t r = 0; all && r < parts.size(); ++r)
      all = parts[r].device == turns[r].device && parts[r].takes(turns[r].arguments);
    return all;
  }
  bool is_recorded() const {
    return std::all_of(parts.begin(), parts.end(), [](const Part& part) { return !!part.step; });
  }
  bool is_lost() const {
    return std::any_of(parts.begin(), parts.end(),
                       [](const Part& part) { return part.step->is_lost(); });
  }
  bool writes_what_others_hold() const {
    return std::any_of(parts.begin(), parts.end(),
                       [](const Part& part) { return part.step->writes_what_others_hold(); });
  }
  /// Returns the reason of the first part that is outdated; empty if none is.
  std::string outdated() const {
    for (const Part& part : parts)
      if (std::string why = part.step->outdated(); !why.empty()) return why;
    return {};
  }
  void drop() {
    for (Part& part : parts) part.step.reset();
    launches = 0;
  }
};

DISTRIBUTE_INLINE void copy_elements(const Tensor& from, const Tensor& to) {
  const Tensor plain = from.row_major();
  copy_bytes(to.array().bytes(), to.device(), plain.array().bytes(), plain.device(),
             plain.num_elements() * size_of(plain.dtype()));
}
DISTRIBUTE_INLINE Tensor copy_of(const Tensor& value) {
  const Tensor copy = Tensor::empty(value.shape(), value.dtype(), value.device());
  copy_elements(value, copy);
  return copy;
}

/// Copies results that are shared, such as a variable's value: the next launch overwrites it.
DISTRIBUTE_INLINE void own(std::vector<Tensor>& results) {
  for (Tensor& result : results)
    if (result && !result.unique()) result = copy_of(result);
}

/// Returns why the calling thread's step cannot be recorded; empty if it can.
DISTRIBUTE_INLINE std::string why_plain() {
  const ReplicaContext* replica = get_replica_context();
  if (!replica) return "it was called across replicas";
  if (current_device().type != DeviceType::Gpu)
    return "it runs on " + distribute::to_string(current_device());
  if (replica->strategy().cluster_resolver()) return "the strategy is one of workers";
  return replica->strategy().extended().recording_problem();
}

/// Whether an enclosing recording, trace or tape records what is computed.
DISTRIBUTE_INLINE bool is_followed() {
  return RecordedStep::current() || autograd_internal::is_tracing() ||
         autograd_internal::is_taping();
}

DISTRIBUTE_INLINE RecordedFunction::RecordedFunction(FunctionOptions options) : options_(options) {}
DISTRIBUTE_INLINE RecordedFunction::~RecordedFunction() = default;

DISTRIBUTE_INLINE std::vector<Tensor> RecordedFunction::call(const std::vector<Tensor>& arguments,
                                                             const FunctionBody& body) {
  if (has_given_up_ || is_followed()) return body(arguments);
  ReplicaContext* const replica = get_replica_context();
  if (const std::string why = why_plain(); !why.empty()) {
    if (!replica || replica->local_replica_id() == 0) tell(why);
    return body(arguments);
  }
  Turn mine{
      arguments, current_device(), {replica->local_replica_id(), replica->num_replicas_in_sync()}};
  replica->merge(mine, [this](Turns turns) { decide(turns); });
  if (mine.action == Action::Record) {
    record(mine, body);
    replica->merge(mine, [this](Turns turns) { settle(turns); });
  }
  if (mine.action == Action::Launch) return launch(*mine.part, arguments);
  std::vector<Tensor> results = body(arguments);
  own(results);
  return results;
}

DISTRIBUTE_INLINE void RecordedFunction::tell(const std::string& why) {
  problem_ = why;
  if (std::exchange(has_told_, true)) return;
  log_info("function", "the step is not recorded as a CUDA graph: " + why);
}

/// Returns the graph for a call. Each graph has its own memory, so there are few of them.
DISTRIBUTE_INLINE RecordedFunction::Graph& RecordedFunction::graph_for(Turns turns) {
  constexpr size_t kMost = 4;
  const auto found = std::find_if(graphs_.begin(), graphs_.end(),
                                  [&](const auto& graph) { return graph->takes(turns); });
  if (found != graphs_.end()) {
    std::rotate(found, found + 1, graphs_.end());
    return *graphs_.back();
  }
  if (graphs_.size() == kMost) graphs_.erase(graphs_.begin());
  graphs_.push_back(std::make_unique<Graph>());
  turns.for_each([&](const Turn& turn) {
    Part& part = graphs_.back()->parts.emplace_back(Part{turn.device});
    for (const Tensor& argument : turn.arguments)
      part.arguments.push_back(
          argument ? Tensor::empty(argument.shape(), argument.dtype(), part.device) : Tensor());
  });
  return *graphs_.back();
}

/// Decides for all replicas, which wait meanwhile, so that they do the same.
DISTRIBUTE_INLINE void RecordedFunction::decide(Turns turns) {
  problem_.clear();
  Graph& graph = graph_for(turns);
  const Action action = next_action(graph);
  if (has_given_up_) return;  // and the graph is gone
  for (size_t r = 0; r < turns.size(); ++r) {
    Turn& turn = turns[r];
    turn.graph = &graph;
    turn.part = &graph.parts[r];
    turn.action = action;
  }
}

DISTRIBUTE_INLINE RecordedFunction::Action RecordedFunction::next_action(Graph& graph) {
  if (graph.is_recorded() && graph.is_lost()) {  // plain steps meet the new group first
    graph.drop();
    graph.plain_calls = 0;
  }
  if (graph.plain_calls < options_.plain_calls) return ++graph.plain_calls, Action::Plain;
  if (!graph.is_recorded()) return Action::Record;
  if (const std::string why = graph.outdated(); !why.empty()) {
    if (graph.launches < 2) count_failure(why);
    return has_given_up_ ? Action::Plain : Action::Record;
  }
  if (graph.writes_what_others_hold()) return Action::Plain;
  ++launches_;
  if (++graph.launches > 1) failures_ = 0;
  return Action::Launch;
}

/// Recordings that fail, or fit one launch only, are tried a few times: another thread may have
/// held a variable.
DISTRIBUTE_INLINE void RecordedFunction::count_failure(const std::string& why) {
  constexpr int kMostFailures = 3;
  if (++failures_ < kMostFailures) return;
  has_given_up_ = true;
  has_told_ = false;  // what was told may have been about another call
  graphs_.clear();
  tell(why);
}

DISTRIBUTE_INLINE void RecordedFunction::record(Turn& turn, const FunctionBody& body) const {
  Part& part = *turn.part;
  part.step.reset();
  const auto step = [&] {
    part.results = body(part.arguments);
    for (Tensor& result : part.results) {
      if (result && result.device() != part.device)
        throw FailedPreconditionError(
            "a value in host memory is given back by a step that is being recorded");
    }
    own(part.results);
  };
  try {
    part.step = std::make_unique<RecordedStep>(part.device, step, turn.replica);
  } catch (const Error& error) {
    turn.problem = error.what();
  }
}

/// After a recording: if one replica has no graph, all make an ordinary step.
DISTRIBUTE_INLINE void RecordedFunction::settle(Turns turns) {
  Graph& graph = *turns[0].graph;
  std::string problem;
  turns.for_each([&](const Turn& turn) {
    if (problem.empty()) problem = turn.problem;
  });
  Action action = Action::Plain;
  if (!graph.is_recorded()) {
    graph.drop();
    count_failure(problem);
  } else {
    graph.launches = 0;
    if (!graph.is_lost()) action = next_action(graph);
  }
  turns.for_each([&](Turn& turn) { turn.action = action; });
}

DISTRIBUTE_INLINE std::vector<Tensor> RecordedFunction::launch(
    Part& part, const std::vector<Tensor>& arguments) {
  for (size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i]) copy_elements(arguments[i], part.arguments[i]);
  part.step->launch();
  std::vector<Tensor> results;
  for (const Tensor& result : part.results) results.push_back(result ? copy_of(result) : result);
  return results;
}

DISTRIBUTE_INLINE void append_tensors(const std::vector<Tensor>& value, std::vector<Tensor>& all) {
  all.insert(all.end(), value.begin(), value.end());
}

DISTRIBUTE_INLINE void append_tensors(const data::Batch& value, std::vector<Tensor>& all) {
  for (size_t i = 0; i < value.size(); ++i) all.push_back(value[i]);
}

DISTRIBUTE_INLINE std::vector<Tensor> with_tensors(const std::vector<Tensor>& value,
                                                   const Tensor*& next) {
  const Tensor* const first = next;
  return {first, next += value.size()};
}

DISTRIBUTE_INLINE data::Batch with_tensors(data::Batch value, const Tensor*& next) {
  for (size_t i = 0; i < value.size(); ++i) value[i] = *next++;
  return value;
}

}  // namespace distribute::strategy_internal
