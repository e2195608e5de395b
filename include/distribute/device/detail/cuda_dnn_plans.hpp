#pragma once
/// Finds the plan of a call in memory or on disk, or makes it, and runs it.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/cuda_dnn_plan.hpp>
#include <distribute/device/device_spec.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <cudnn_graph.h>

namespace distribute::cudnn_internal {

/// A plan, and the numbers, in order, of the tensors that its caller provides.
struct ReadyPlan {
  CudnnPlan plan;
  std::vector<int64_t> ids;
  /// Held while the plan is executed: the logical GPUs of one card share plans, and cuDNN does not
  /// promise that threads may do so.
  /// logical GPUs of a card do.
  mutable std::mutex mutex = {};
};

/// Makes the graph of a call that has no plan yet.
using MakeGraph = std::function<CudnnGraph()>;

/// Keeps plans as files, so that a later run need neither ask cuDNN nor measure. The name of a file
/// is a hash of target, options and graph, and its first line is the text of these. A failure costs
/// only time.
class PlanStore {
 public:
  /// A store in `folder`; with an empty name it keeps nothing.
  explicit PlanStore(std::string folder) : folder_(std::move(folder)) {}
  std::optional<CudnnPlan> find(const CudnnTarget& target, const std::string& description) const;
  void keep(const std::string& description, const CudnnPlan& plan) const;

 private:
  std::string path_of(const std::string& description) const;
  std::string folder_;
};

/// The plans for one kind of device. Thread-safe.
class PlanCache {
 public:
  PlanCache(CudnnTarget target, PlanStore store)
      : target_(std::move(target)), store_(std::move(store)) {}

  /// Finds or makes the plan of a call. `key` has the bytes that tell this call from all others.
  /// `choose` picks the best of several plans that need no compiler; when it is empty, or all plans
  /// need one, cuDNN's favourite is taken.
  /// Throws  UnimplementedError when there is no plan; from the second time on without asking
  ///         cuDNN.
  const ReadyPlan& find_or_make(
      const std::string& key, const PlanOptions& options, const MakeGraph& make,
      const std::function<size_t(const std::vector<CudnnPlan>&, const std::vector<int64_t>&)>&
          choose = {});
  const CudnnTarget& target() const { return target_; }

 private:
  const CudnnTarget target_;
  const PlanStore store_;
  std::shared_mutex mutex_;  // guards plans_ and refused_
  std::unordered_map<std::string, std::unique_ptr<ReadyPlan>> plans_;
  std::unordered_map<std::string, std::string> refused_;  // the reason why a call has no plan
};

/// The limits on engines that follow from the settings of the process and the memory of the device.
PlanOptions current_options(Device device);

/// Says whether several plans of a call may be measured to choose the best. A plan that is compiled
/// when it is made, as for normalizations, takes about a second.
enum class Choice { MayMeasure, Favourite };

/// Runs the plan of a call on the current stream of `device`. Pointers are in the order of the
/// graph's tensors that are not virtual.
void run_cudnn(Device device, const std::string& key, const MakeGraph& make,
               std::span<void* const> pointers, Choice choice = Choice::MayMeasure);

/// Calls fn with a handle of the device that works on its current stream; no other thread has this
/// handle during the call.
void with_cudnn_handle(Device device, const std::function<void(cudnnHandle_t)>& fn);

/// Throws what run_cudnn() with Choice::Favourite would throw for a call that no engine supports;
/// runs nothing.
void require_cudnn_plan(Device device, const std::string& key, const MakeGraph& make);

}  // namespace distribute::cudnn_internal
