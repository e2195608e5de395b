#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/data/distribute_options.hpp>
#include <distribute/strategy/detail/parameter_server_extended.hpp>
#include <distribute/strategy/strategy.hpp>
#include <distribute/train/callback.hpp>
#include <distribute/train/detail/coordinated_steps.hpp>
#include <distribute/train/model.hpp>

#include <algorithm>
#include <atomic>

namespace distribute::train_internal {

/// Models with a coordinator that this process has made.
struct CoordinatedModels {
  std::atomic<int64_t> made{0};
};

DISTRIBUTE_INLINE std::unique_ptr<CoordinatedSteps> CoordinatedSteps::of(Strategy& strategy,
                                                                         WorkerSteps steps) {
  const auto* servers = strategy_internal::parameter_server_extended(strategy);
  if (!servers || !servers->job().task) return nullptr;
  const strategy_internal::ServerJob& job = servers->job();
  if (!job.cluster.has_job("chief") || !job.cluster.has_job("worker") ||
      job.type == TaskType::Evaluator)
    return nullptr;
  const int64_t number = in_process<CoordinatedModels>().made++;
  return std::make_unique<CoordinatedSteps>(strategy, str_cat("train::Model ", number, ": "),
                                            steps);
}

/// Returns one batch for each replica.
DISTRIBUTE_INLINE std::optional<PerReplica<data::Batch>> one_for_each(data::Iterator& iterator,
                                                                      int replicas) {
  std::vector<data::Batch> parts;
  for (int replica = 0; replica < replicas; ++replica) {
    auto batch = iterator.get_next_as_optional();
    if (!batch) return std::nullopt;
    parts.push_back(*std::move(batch));
  }
  return PerReplica<data::Batch>(std::move(parts));
}

DISTRIBUTE_INLINE PerReplica<data::Batch> divided(const data::Batch& batch, int replicas) {
  std::vector<data::Batch> parts;
  for (int replica = 0; replica < replicas; ++replica)
    parts.push_back(data::rows_of_replica(batch, replica, replicas));
  return PerReplica<data::Batch>(std::move(parts));
}

DISTRIBUTE_INLINE CoordinatedSteps::CoordinatedSteps(Strategy& strategy, const std::string& name,
                                                     const WorkerSteps& steps)
    : on_dataset(name + "steps",
                 [&strategy, steps](const StepOrder& order, data::Iterator& iterator) {
                   const int replicas = strategy.extended().num_local_replicas();
                   return steps.run(order, [&] { return one_for_each(iterator, replicas); });
                 }),
      on_batches(name + "steps of batches",
                 [&strategy, steps](const StepOrder& order, std::vector<data::Batch> batches) {
                   const int replicas = strategy.extended().num_local_replicas();
                   size_t next = 0;
                   return steps.run(order, [&]() -> std::optional<PerReplica<data::Batch>> {
                     if (next == batches.size()) return std::nullopt;
                     return divided(batches[next++], replicas);
                   });
                 }),
      predict(name + "predict", steps.predict),
      strategy_(strategy) {}

DISTRIBUTE_INLINE ClusterCoordinator& CoordinatedSteps::coordinator() {
  if (!coordinator_) coordinator_.emplace(strategy_);
  return *coordinator_;
}

DISTRIBUTE_INLINE CoordinatedLoop::CoordinatedLoop(CoordinatedSteps& functions,
                                                   const train::InputData& data)
    : functions_(functions) {
  if (const auto* whole = std::get_if<data::Dataset>(&data.data())) {
    sent_ = *whole;
    rewind();
  } else if (const auto* creator = std::get_if<train::DatasetCreator>(&data.data())) {
    creator_ = *creator;
    per_worker_ = functions_.coordinator().create_per_worker_dataset(creator->name());
  } else {
    throw UnimplementedError(
        "data that a strategy has divided do not reach the workers of a coordinator: give fit or "
        "evaluate a DatasetCreator, whose function makes them on each worker, or a Dataset, whose "
        "batches the coordinator sends");
  }
}

DISTRIBUTE_INLINE data::ElementSpec CoordinatedLoop::element_spec() const {
  return sent_ ? sent_->element_spec() : (*creator_)(InputContext(1, 0, 1)).element_spec();
}

DISTRIBUTE_INLINE void CoordinatedLoop::rewind() {
  if (sent_) iterator_ = sent_->iterator();
}

DISTRIBUTE_INLINE int64_t CoordinatedLoop::schedule(const StepOrder& order) {
  ClusterCoordinator& coordinator = functions_.coordinator();
  const int64_t most = std::get<1>(order);
  if (per_worker_) {
    reports_.push_back(coordinator.schedule(functions_.on_dataset, order, *per_worker_));
    return most;
  }
  std::vector<data::Batch> batches;
  while (int64_t(batches.size()) < most) {
    auto batch = iterator_->get_next_as_optional();
    if (!batch) break;
    batches.push_back(*std::move(batch));
  }
  if (!batches.empty())
    reports_.push_back(coordinator.schedule(functions_.on_batches, order, batches));
  return int64_t(batches.size());
}

/// A worker whose own data have ended reports that as an error; the results of its steps before it
/// count.
DISTRIBUTE_INLINE int64_t CoordinatedLoop::run(StepOrder order, std::optional<int64_t> steps,
                                               train::StepMeans& means) {
  reports_.clear();
  const int64_t most = std::get<1>(order);
  try {
    for (int64_t given = 0; !steps || given < *steps;) {
      std::get<1>(order) = steps ? std::min(most, *steps - given) : most;
      const int64_t now = schedule(order);
      given += now;
      if (now < std::get<1>(order)) break;
    }
    functions_.coordinator().join();
  } catch (const OutOfRangeError&) {
    if (!per_worker_) throw;
  }
  int64_t done = 0;
  for (const RemoteValue<StepReport>& report : reports_) {
    if (report.status() != RemoteValueStatus::Ready) continue;
    const auto [figures, examples, count] = report.fetch();
    train::Logs logs;
    for (const auto& [name, value] : figures) logs.set(name, value);
    means.add(logs, examples);
    done += count;
  }
  reports_.clear();
  return done;
}

}  // namespace distribute::train_internal

namespace distribute::train {

DISTRIBUTE_INLINE train_internal::StepOrder Model::step_order(bool training) const {
  return {compilations_, steps_per_execution(), int64_t(training),
          training ? class_weight_ : std::map<int64_t, float>()};
}

DISTRIBUTE_INLINE std::unique_ptr<train_internal::CoordinatedSteps> Model::worker_steps() {
  const auto run = [this](const train_internal::StepOrder& order,
                          const train_internal::NextBatches& next) {
    return run_order(order, next);
  };
  const auto predict = [this](const data::Batch& batch, int64_t all_outputs) {
    build(data::spec_of(batch));
    return predict_parts(batch, all_outputs != 0);
  };
  return train_internal::CoordinatedSteps::of(strategy_, {run, predict});
}

DISTRIBUTE_INLINE train_internal::StepReport Model::run_order(
    const train_internal::StepOrder& order, const train_internal::NextBatches& next) {
  const auto& [compilation, most, training, class_weight] = order;
  if (compilation != compilations_)
    throw FailedPreconditionError(
        "fit: the coordinator has compiled the model again, or not as often as the workers; call "
        "compile() in every process before Server::join()");
  class_weight_ = class_weight;
  StepMeans means;
  int64_t steps = 0;
  for (; steps < most; ++steps) {
    const auto batch = next();
    if (!batch) break;
    if (steps == 0) build(data::spec_of(batch->values()[0]));
    run_step(*batch, training != 0);
  }
  if (steps == 0) throw OutOfRangeError("fit: the worker's data have ended");
  add_figures(means);
  const Logs logs = means.means();
  return {{logs.begin(), logs.end()}, means.examples(), steps};
}

DISTRIBUTE_INLINE void Model::build_for_workers(const data::ElementSpec& spec) {
  build(spec);
  if (module_.built()) compiled_->optimizer.build(module_.trainable_variables());
}

DISTRIBUTE_INLINE void Model::predict_on_workers(const data::Dataset& data,
                                                 const CallbackList& callbacks,
                                                 std::optional<int64_t> steps, bool all_outputs,
                                                 Predictions& results) {
  ClusterCoordinator& coordinator = coordinated_->coordinator();
  std::vector<RemoteValue<std::vector<Tensor>>> parts;
  auto iterator = data.iterator();
  callbacks.call(&Callback::on_predict_batch_begin, 0);
  while (!steps || int64_t(parts.size()) < *steps) {
    const auto batch = iterator.get_next_as_optional();
    if (!batch) break;
    parts.push_back(coordinator.schedule(coordinated_->predict, *batch, int64_t(all_outputs)));
  }
  coordinator.join();
  for (const auto& part : parts) {
    const std::vector<Tensor> outputs = part.fetch();
    results.resize(outputs.size());
    for (size_t i = 0; i < outputs.size(); ++i) results[i].push_back(outputs[i]);
  }
  callbacks.call(&Callback::on_predict_batch_end, int64_t(parts.size()) - 1);
}

}  // namespace distribute::train
