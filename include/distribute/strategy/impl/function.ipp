#pragma once
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/autograd/op_trace.hpp>
#include <distribute/autograd/recorded_step.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/device/cuda_memory.hpp>
#include <distribute/device/placement.hpp>
#include <distribute/replica/replica_context.hpp>
#include <distribute/strategy/function.hpp>
#include <distribute/strategy/strategy.hpp>

#include <algorithm>
#include <utility>

namespace distribute::strategy_internal {

/// The step for arguments of one shape. The graph reads `arguments` and writes `results`.
struct RecordedFunction::Graph {
  Device device;
  std::vector<Tensor> arguments = {}, results = {};  // whose memory stays
  int plain_calls = 0;
  int64_t launches = 0;
  std::unique_ptr<RecordedStep> step = nullptr;  // goes before what it uses

  bool takes(const std::vector<Tensor>& others) const {
    return std::equal(others.begin(), others.end(), arguments.begin(), arguments.end(),
                      [](const Tensor& a, const Tensor& b) {
                        return bool(a) == bool(b) &&
                               (!a || (a.shape() == b.shape() && a.dtype() == b.dtype()));
                      });
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

/// Why the calling thread's step has to be a plain one; empty: it may be recorded.
DISTRIBUTE_INLINE std::string why_plain() {
  const ReplicaContext* replica = get_replica_context();
  if (!replica) return "it was called across replicas";
  if (current_device().type != DeviceType::Gpu)
    return "it runs on " + distribute::to_string(current_device());
  if (replica->num_replicas_in_sync() > 1) return "several replicas step together";
  if (replica->strategy().cluster_resolver()) return "the strategy is one of workers";
  return {};
}

/// True when an enclosing recording, trace or tape follows what is computed.
DISTRIBUTE_INLINE bool is_followed() {
  return RecordedStep::current() || autograd_internal::is_tracing() ||
         autograd_internal::is_taping();
}

DISTRIBUTE_INLINE RecordedFunction::RecordedFunction(FunctionOptions options) : options_(options) {}
DISTRIBUTE_INLINE RecordedFunction::~RecordedFunction() = default;

DISTRIBUTE_INLINE std::vector<Tensor> RecordedFunction::call(const std::vector<Tensor>& arguments,
                                                             const FunctionBody& body) {
  if (has_given_up_ || is_followed()) return body(arguments);
  if (const std::string why = why_plain(); !why.empty()) {
    tell(why);
    return body(arguments);
  }
  problem_.clear();
  Graph& graph = graph_for(arguments);
  if (graph.plain_calls++ >= options_.plain_calls && is_ready(graph, body))
    return launch(graph, arguments);
  std::vector<Tensor> results = body(arguments);
  own(results);
  return results;
}

DISTRIBUTE_INLINE void RecordedFunction::tell(const std::string& why) {
  problem_ = why;
  if (std::exchange(has_told_, true)) return;
  log_info("function", "the step is not recorded as a CUDA graph: " + why);
}

/// Each graph has memory of its own, so there are few of them.
DISTRIBUTE_INLINE RecordedFunction::Graph& RecordedFunction::graph_for(
    const std::vector<Tensor>& arguments) {
  constexpr size_t kMost = 4;
  const Device device = current_device();
  const auto found = std::find_if(graphs_.begin(), graphs_.end(), [&](const auto& graph) {
    return graph->device == device && graph->takes(arguments);
  });
  if (found != graphs_.end()) {
    std::rotate(found, found + 1, graphs_.end());
    return *graphs_.back();
  }
  if (graphs_.size() == kMost) graphs_.erase(graphs_.begin());
  graphs_.push_back(std::make_unique<Graph>(Graph{device}));
  for (const Tensor& argument : arguments)
    graphs_.back()->arguments.push_back(
        argument ? Tensor::empty(argument.shape(), argument.dtype(), device) : Tensor());
  return *graphs_.back();
}

/// Records where that has to be. Recordings that fail, or fit one launch only, are tried a few
/// times: another thread may have held a variable.
DISTRIBUTE_INLINE bool RecordedFunction::is_ready(Graph& graph, const FunctionBody& body) {
  constexpr int kMostFailures = 3;
  std::string problem;
  if (graph.step) {
    problem = graph.step->outdated();
    if (problem.empty()) return !graph.step->writes_what_others_hold();
    if (graph.launches < 2) ++failures_;
  }
  if (failures_ < kMostFailures) try {
      record(graph, body);
      return !graph.step->writes_what_others_hold();
    } catch (const Error& error) {
      problem = error.what();
      ++failures_;
    }
  if (failures_ < kMostFailures) return false;
  has_given_up_ = true;
  has_told_ = false;  // what was told may have been about another call
  graphs_.clear();
  tell(problem);
  return false;
}

DISTRIBUTE_INLINE void RecordedFunction::record(Graph& graph, const FunctionBody& body) {
  graph.step.reset();
  graph.launches = 0;
  graph.step = std::make_unique<RecordedStep>(graph.device, [&] {
    graph.results = body(graph.arguments);
    for (Tensor& result : graph.results) {
      if (result && result.device() != graph.device)
        throw FailedPreconditionError(
            "a value in host memory is given back by a step that is being recorded");
    }
    own(graph.results);
  });
}

DISTRIBUTE_INLINE std::vector<Tensor> RecordedFunction::launch(
    Graph& graph, const std::vector<Tensor>& arguments) {
  for (size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i]) copy_elements(arguments[i], graph.arguments[i]);
  graph.step->launch();
  ++launches_;
  if (++graph.launches > 1) failures_ = 0;
  std::vector<Tensor> results;
  for (const Tensor& result : graph.results) results.push_back(result ? copy_of(result) : result);
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
