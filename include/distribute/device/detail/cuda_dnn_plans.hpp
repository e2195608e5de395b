#pragma once
/// Finds the plan of a call among those made before, on disk, or anew, and runs it.

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

/// A plan and the numbers of the tensors that its caller brings, in order.
struct ReadyPlan {
  CudnnPlan plan;
  std::vector<int64_t> ids;
  /// Held while the plan is executed: cuDNN does not promise that threads may share one, as the
  /// logical GPUs of a card do.
  mutable std::mutex mutex = {};
};

/// What makes the graph of a call that is not known yet.
using MakeGraph = std::function<CudnnGraph()>;

/// Keeps plans as files, so that another run need neither ask nor measure. The name of a file is a
/// hash of target, options and graph; its first line is that text. Failures only cost time.
class PlanStore {
 public:
  /// An empty folder keeps nothing.
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

  /// `key` are the bytes that tell this call from all others. `choose` picks the best of several
  /// plans that need no compiler; empty, or where all need one: cuDNN's favourite is taken.
  /// Throws  UnimplementedError when there is none, from the second time on without asking cuDNN.
  const ReadyPlan& find_or_make(
      const std::string& key, const PlanOptions& options, const MakeGraph& make,
      const std::function<size_t(const std::vector<CudnnPlan>&, const std::vector<int64_t>&)>&
          choose = {});
  const CudnnTarget& target() const { return target_; }

 private:
  const CudnnTarget target_;
  const PlanStore store_;
  std::shared_mutex mutex_;  // guards the two below
  std::unordered_map<std::string, std::unique_ptr<ReadyPlan>> plans_;
  std::unordered_map<std::string, std::string> refused_;  // why there is no plan
};

/// What the settings of the process, and the memory of the device, allow an engine.
PlanOptions current_options(Device device);

/// Whether the plan of a call may be chosen by measuring several. Plans that are compiled when they
/// are made, which those of normalizations are, take a second each.
enum class Choice { MayMeasure, Favourite };

/// Runs the plan of a call on the current stream of `device`; pointers in the order of the graph's
/// tensors that are not virtual.
void run_cudnn(Device device, const std::string& key, const MakeGraph& make,
               std::span<void* const> pointers, Choice choice = Choice::MayMeasure);

/// Calls fn with a handle of the device that works on its current stream; nothing else has the
/// handle meanwhile.
void with_cudnn_handle(Device device, const std::function<void(cudnnHandle_t)>& fn);

/// Throws as run_cudnn() with Choice::Favourite would for a call that no engine takes; runs
/// nothing.
void require_cudnn_plan(Device device, const std::string& key, const MakeGraph& make);

}  // namespace distribute::cudnn_internal
