#pragma once
/// Chooses an engine for a graph and holds the finished plan.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/cuda_dnn_graph.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <cudnn_graph.h>

namespace distribute::cudnn_internal {

/// The device that a plan is made for: a device of this machine, or one that a text of properties
/// describes, so that plans can be made without the device.
class CudnnTarget {
 public:
  /// Describes a device of this machine, which must be current.
  static CudnnTarget of_device(int index);
  /// Describes a device by the `json` that CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION gives.
  static CudnnTarget of_properties(const std::string& json);
  const CudnnDescriptor& properties() const { return properties_; }
  /// The handle of a device of this machine, with which its plans are made and executed; null for a
  /// target of properties.
  cudnnHandle_t handle() const { return handle_; }
  /// Names the device's kind and cuDNN's version: plans of equal names are interchangeable.
  const std::string& name() const { return name_; }

 private:
  explicit CudnnTarget(CudnnDescriptor properties);
  CudnnDescriptor properties_;
  cudnnHandle_t handle_ = nullptr;  // never destroyed, as plans are not either
  std::string name_;
};

/// The limits on engines.
struct PlanOptions {
  int64_t workspace_bytes = int64_t{256} << 20;
  bool deterministic = false;
  bool tensor_float_32 = true;      // float32 operands may be rounded to 10 bits for tensor cores
  bool runtime_compilation = true;  // engines that compile their kernel when the plan is made
};

/// The reason why an engine gave no plan.
struct PlanRefusal {
  std::string why = {};
  bool failed = false;  // the engine failed, instead of not supporting the graph
};

/// A finished plan: one kernel or several for one graph on one kind of device. Thread-compatible.
class CudnnPlan {
 public:
  /// Makes the plan of an engine configuration. The result is empty when the engine does not
  /// support the target or the options, or failed; `refusal` then says why.
  static std::optional<CudnnPlan> make(const CudnnTarget& target, const CudnnDescriptor& config,
                                       const PlanOptions& options, PlanRefusal& refusal);
  /// Makes the plan again from the text that stored() gave.
  static std::optional<CudnnPlan> restore(const CudnnTarget& target, const std::string& json);

  int64_t workspace_bytes() const { return workspace_bytes_; }
  /// Gives cuDNN's own text (JSON) of graph, engine and knobs, for restore().
  std::string stored() const {
    return plan_.get_text(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION);
  }
  /// True when the engine compiled its kernel for this plan.
  bool compiled_at_runtime() const { return compiled_at_runtime_; }

  /// Queues the kernels on the handle's stream; pointers[i] belongs to tensor ids[i].
  void execute(cudnnHandle_t handle, std::span<const int64_t> ids, std::span<void* const> pointers,
               void* workspace) const;

 private:
  explicit CudnnPlan(CudnnDescriptor plan) : plan_(std::move(plan)) {}
  CudnnDescriptor plan_;
  int64_t workspace_bytes_ = 0;
  bool compiled_at_runtime_ = false;
};

/// The engine configurations that cuDNN proposes, its favourite first; those that it guarantees to
/// work are at the end.
std::vector<CudnnDescriptor> propose_engines(const CudnnTarget& target,
                                             const CudnnDescriptor& graph);

/// Makes up to `most` plans for the graph, cuDNN's favourite first.
/// Throws  UnimplementedError with each engine's reason when no engine supports it; InternalError
///         with these reasons where an engine failed otherwise, such as for a compiler that does
///         not work.
std::vector<CudnnPlan> make_plans(const CudnnTarget& target, CudnnGraph& graph,
                                  const PlanOptions& options, size_t most = 1);

}  // namespace distribute::cudnn_internal
