#pragma once
#if DISTRIBUTE_HAS_CUDNN
#include <distribute/device/detail/cuda_dnn_plan.hpp>

#include <algorithm>
#include <set>

namespace distribute::cudnn_internal {

/// The value of `key` in a flat JSON object of numbers and texts; empty when it is not there.
DISTRIBUTE_INLINE std::string property(const std::string& json, const std::string& key) {
  const size_t at = json.find("\"" + key + "\"");
  if (at == std::string::npos) return "";
  const size_t begin = json.find_first_not_of(" :", at + key.size() + 2);
  return json.substr(begin, json.find_first_of(",}", begin) - begin);
}

DISTRIBUTE_INLINE CudnnTarget::CudnnTarget(CudnnDescriptor properties)
    : properties_(std::move(properties)) {
  const std::string json = properties_.get_text(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION);
  name_ = str_cat("cudnn ", cudnn().get_version(), " sm ", property(json, "deviceVer"), " x ",
                  property(json, "multiProcessorCount"), " ", property(json, "deviceName"));
}

DISTRIBUTE_INLINE CudnnTarget CudnnTarget::of_device(int index) {
  CudnnDescriptor properties(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  const int32_t device = index;
  properties.set(CUDNN_ATTR_DEVICEPROP_DEVICE_ID, CUDNN_TYPE_INT32, 1, &device);
  properties.finalize(str_cat("the properties of GPU ", index));
  CudnnTarget target(std::move(properties));
  check_cudnn(cudnn().create(&target.handle_), "cudnnCreate");
  return target;
}

DISTRIBUTE_INLINE CudnnTarget CudnnTarget::of_properties(const std::string& json) {
  CudnnDescriptor properties(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  properties.set(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, json);
  properties.finalize("a device's properties");
  return CudnnTarget(std::move(properties));
}

/// Sets the device that a plan is for.
DISTRIBUTE_INLINE void set_target(CudnnDescriptor& plan, const CudnnTarget& target) {
  const cudnnHandle_t handle = target.handle();
  if (handle)
    plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
  else
    plan.set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, target.properties());
}

/// Gives the engine of a configuration, with its notes.
DISTRIBUTE_INLINE CudnnDescriptor engine_of(const CudnnDescriptor& config) {
  CudnnDescriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  cudnnBackendDescriptor_t native = engine.native();
  int64_t count = 0;
  check_cudnn(cudnn().get_attribute(config.native(), CUDNN_ATTR_ENGINECFG_ENGINE,
                                    CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &native),
              "the engine of a configuration");
  return engine;
}

/// Why the options forbid the engine; empty when they do not. Sets `compiles`.
DISTRIBUTE_INLINE std::string objection(const CudnnDescriptor& engine, const PlanOptions& options,
                                        bool& compiles) {
  const auto numerical =
      engine.get_enumerators(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE);
  const auto behavior =
      engine.get_enumerators(CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE);
  const auto has = [](const std::vector<int>& notes, int note) {
    return std::find(notes.begin(), notes.end(), note) != notes.end();
  };
  compiles = has(behavior, CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION);
  if (options.deterministic && has(numerical, CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC))
    return "not deterministic";
  if (!options.tensor_float_32 && (has(numerical, CUDNN_NUMERICAL_NOTE_TENSOR_CORE) ||
                                   has(numerical, CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS)))
    return "rounds its operands";
  if (has(numerical, CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION)) return "sums in 16 bits";
  if (compiles && !options.runtime_compilation) return "compiles at run time";
  return "";
}

DISTRIBUTE_INLINE std::optional<CudnnPlan> CudnnPlan::make(const CudnnTarget& target,
                                                           const CudnnDescriptor& config,
                                                           const PlanOptions& options,
                                                           PlanRefusal& refusal) {
  bool compiles = false;
  refusal = {objection(engine_of(config), options, compiles)};
  if (!refusal.why.empty()) return std::nullopt;
  CudnnDescriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
  set_target(plan, target);
  if (const auto status = plan.try_finalize(); status != CUDNN_STATUS_SUCCESS) {
    const bool is_unsupported = status >= 3000 && status < 4000;
    refusal = {describe(status, "plan"), !is_unsupported};
    return std::nullopt;
  }
  CudnnPlan made(std::move(plan));
  made.workspace_bytes_ = made.plan_.get_int64(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
  made.compiled_at_runtime_ = compiles;
  if (made.workspace_bytes_ <= options.workspace_bytes) return made;
  refusal = {str_cat("wants a workspace of ", made.workspace_bytes_, " bytes")};
  return std::nullopt;
}

DISTRIBUTE_INLINE std::optional<CudnnPlan> CudnnPlan::restore(const CudnnTarget& target,
                                                              const std::string& json) {
  CudnnDescriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  set_target(plan, target);
  const auto status =
      cudnn().set_attribute(plan.native(), CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION,
                            CUDNN_TYPE_CHAR, int64_t(json.size()), json.data());
  if (status != CUDNN_STATUS_SUCCESS || plan.try_finalize() != CUDNN_STATUS_SUCCESS)
    return std::nullopt;
  CudnnPlan made(std::move(plan));
  made.workspace_bytes_ = made.plan_.get_int64(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
  return made;
}

DISTRIBUTE_INLINE void CudnnPlan::execute(cudnnHandle_t handle, std::span<const int64_t> ids,
                                          std::span<void* const> pointers, void* workspace) const {
  CudnnDescriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids);
  pack.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, int64_t(pointers.size()),
           pointers.data());
  pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
  pack.finalize("a plan's arguments");
  check_cudnn(cudnn().execute(handle, plan_.native(), pack.native()), "cudnnBackendExecute");
}

DISTRIBUTE_INLINE void propose(const CudnnTarget& target, const CudnnDescriptor& graph,
                               cudnnBackendHeurMode_t mode, std::vector<CudnnDescriptor>& configs) {
  CudnnDescriptor heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
  heuristics.set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
  if (!target.handle()) heuristics.set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, target.properties());
  if (heuristics.try_finalize() != CUDNN_STATUS_SUCCESS) return;
  int64_t count = 0;
  check_cudnn(cudnn().get_attribute(heuristics.native(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                    CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr),
              "the number of engines");
  std::vector<CudnnDescriptor> found;
  std::vector<cudnnBackendDescriptor_t> natives;
  for (int64_t i = 0; i < count; ++i)
    natives.push_back(found.emplace_back(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR).native());
  check_cudnn(cudnn().get_attribute(heuristics.native(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                    CUDNN_TYPE_BACKEND_DESCRIPTOR, count, &count, natives.data()),
              "the list of engines");
  for (int64_t i = 0; i < count; ++i) configs.push_back(std::move(found[size_t(i)]));
}

DISTRIBUTE_INLINE std::vector<CudnnDescriptor> propose_engines(const CudnnTarget& target,
                                                               const CudnnDescriptor& graph) {
  std::vector<CudnnDescriptor> configs;
  propose(target, graph, CUDNN_HEUR_MODE_A, configs);
  propose(target, graph, CUDNN_HEUR_MODE_FALLBACK, configs);
  return configs;
}

DISTRIBUTE_INLINE std::vector<CudnnPlan> make_plans(const CudnnTarget& target, CudnnGraph& graph,
                                                    const PlanOptions& wanted, size_t most) {
  PlanOptions options = wanted;
  options.tensor_float_32 |= graph.tensor(1).dtype != CUDNN_DATA_FLOAT;
  const CudnnDescriptor finished = graph.finish(target.handle());
  std::vector<CudnnPlan> plans;
  std::set<std::string> reasons;
  bool failed = false;
  for (const CudnnDescriptor& config : propose_engines(target, finished)) {
    if (plans.size() == most) break;
    PlanRefusal refusal;
    auto plan = CudnnPlan::make(target, config, options, refusal);
    if (plan) plans.push_back(*std::move(plan));
    reasons.insert(refusal.why);
    failed |= refusal.failed;
  }
  if (!plans.empty()) return plans;
  std::string all;
  for (const std::string& reason : reasons) all += "\n  " + reason;
  const std::string message =
      str_cat("no cuDNN engine on ", target.name(), " for ", graph.signature(), ":",
              all.empty() ? " none was proposed" : all);
  if (failed) throw InternalError(message);
  throw UnimplementedError(message);
}

}  // namespace distribute::cudnn_internal
#endif
