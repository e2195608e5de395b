#pragma once
/// Steps of a model that a coordinator sends to the workers of a ParameterServerStrategy.

#include <distribute/base/config.hpp>
#include <distribute/coordinator/cluster_coordinator.hpp>
#include <distribute/coordinator/remote_function.hpp>
#include <distribute/train/detail/step_means.hpp>
#include <distribute/train/detail/step_order.hpp>
#include <distribute/train/fit_options.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace distribute::train_internal {

/// Functions of a model on a worker.
struct WorkerSteps {
  std::function<StepReport(const StepOrder&, const NextBatches&)> run;
  std::function<std::vector<Tensor>(const data::Batch&, int64_t all_outputs)> predict;
};

/// Registers the functions of a model. Their names contain the model's number in its process, so
/// all processes must make their models in the same order. One thread.
class CoordinatedSteps {
 public:
  /// Returns null unless this is the chief, a worker or a server of a job with a chief that
  /// coordinates.
  static std::unique_ptr<CoordinatedSteps> of(Strategy& strategy, WorkerSteps steps);
  CoordinatedSteps(Strategy& strategy, const std::string& name, const WorkerSteps& steps);

  /// Returns the coordinator, which connects at the first call.
  /// Throws  as ClusterCoordinator, so on a worker.
  ClusterCoordinator& coordinator();

  const RemoteFunction<StepReport(StepOrder, data::Iterator&)> on_dataset;
  const RemoteFunction<StepReport(StepOrder, std::vector<data::Batch>)> on_batches;
  const RemoteFunction<std::vector<Tensor>(data::Batch, int64_t all_outputs)> predict;

 private:
  Strategy& strategy_;
  std::optional<ClusterCoordinator> coordinator_;
};

/// One call of fit or evaluate: its data, which every worker has or the coordinator sends in
/// batches, and the distribution of its steps.
class CoordinatedLoop {
 public:
  /// Throws  UnimplementedError for data that is divided already.
  CoordinatedLoop(CoordinatedSteps& functions, const train::InputData& data);
  data::ElementSpec element_spec() const;

  /// Lets the workers do `steps` steps, or as many as the data give, and adds their metrics.
  /// Returns the number of steps, which is smaller than `steps` if the data have ended.
  /// Blocks  until they are done.
  /// Throws  as ClusterCoordinator::join.
  int64_t run(StepOrder order, std::optional<int64_t> steps, train::StepMeans& means);
  /// Begins a new pass over the batches that the coordinator sends; datasets of the workers
  /// continue.
  void rewind();

 private:
  /// Schedules steps on a worker and returns their number; 0 at the end of the data.
  int64_t schedule(const StepOrder& order);

  CoordinatedSteps& functions_;
  std::optional<train::DatasetCreator> creator_;
  std::optional<PerWorkerDataset> per_worker_;
  std::optional<data::Dataset> sent_;
  std::optional<data::Iterator> iterator_;
  std::vector<RemoteValue<StepReport>> reports_;
};

}  // namespace distribute::train_internal
