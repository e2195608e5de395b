#pragma once
/// The loop of fit, and the iterator over its epochs and steps.

#include <distribute/base/config.hpp>
#include <distribute/checkpoint/checkpoint.hpp>
#include <distribute/data/dataset.hpp>
#include <distribute/replica/values.hpp>
#include <distribute/strategy/distributed_dataset.hpp>
#include <distribute/train/callback.hpp>
#include <distribute/train/callbacks.hpp>
#include <distribute/train/detail/run_pace.hpp>
#include <distribute/train/detail/step_means.hpp>
#include <distribute/train/elastic_loop.hpp>
#include <distribute/train/fit_options.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace distribute::train {

/// Iterates over this worker's share of the data or, in an elastic job, over batches for all
/// workers. One thread.
class FitIterator {
 public:
  explicit FitIterator(DistributedIterator iterator) : iterator_(std::move(iterator)) {}
  explicit FitIterator(ElasticIterator iterator) : iterator_(std::move(iterator)) {}

  /// Calls the function of the iterator inside.
  std::optional<PerReplica<data::Batch>> next_if_any() {
    return std::visit([](auto& one) { return one.next_if_any(); }, iterator_);
  }
  Tensor state() const {
    return std::visit([](const auto& one) { return one.state(); }, iterator_);
  }
  void restore(const Tensor& state) {
    std::visit([&](auto& one) { one.restore(state); }, iterator_);
  }
  /// Returns whether each worker has its own position.
  bool per_worker() const { return iterator_.index() == 0; }

 private:
  std::variant<DistributedIterator, ElasticIterator> iterator_;
};

}  // namespace distribute::train

namespace distribute::train_internal {
class CoordinatedLoop;
}

namespace distribute::train {

class ElasticLoop;
class Model;

/// One call of evaluate, or one validation inside fit.
class TestLoop {
 public:
  TestLoop(Model& model, const DistributedDataset& data, std::optional<int64_t> steps)
      : model_(model), data_(&data), steps_(steps) {}
  /// Makes a loop that runs on the workers of a coordinator.
  TestLoop(Model& model, train_internal::CoordinatedLoop& workers, std::optional<int64_t> steps)
      : model_(model), workers_(&workers), steps_(steps) {}
  /// Throws  InvalidArgumentError for data without examples.
  Logs run(const CallbackList& callbacks);

 private:
  Logs run_here(const CallbackList& callbacks, StepMeans& means);
  Logs run_on_workers(const CallbackList& callbacks, StepMeans& means);

  Model& model_;
  const DistributedDataset* data_ = nullptr;
  train_internal::CoordinatedLoop* workers_ = nullptr;
  std::optional<int64_t> steps_;
};

/// One call of fit.
class FitLoop {
 public:
  FitLoop(Model& model, const InputData& data, const FitOptions& options);
  DISTRIBUTE_INLINE ~FitLoop();
  History run();

 private:
  std::vector<CallbackHandle> all_callbacks(const InputData& data);
  void check_options(const InputData& data) const;
  void take_data(const InputData& data);
  void begin_pass();
  CheckpointParts state();
  /// Trains from the position to the end, with the current workers.
  void go_on();
  void epoch(int64_t number, int64_t first_batch);
  /// Trains the batches of an epoch from this one on; returns their number.
  int64_t batches(int64_t first);
  /// Trains the batches on the workers of a coordinator, as one execution for callbacks.
  int64_t batches_on_workers(int64_t first);
  /// Trains the batches between two calls of callbacks; returns the number of the next one.
  int64_t execution(int64_t first);
  void note_end_of_data(int64_t batch);
  void commit();
  /// Shows the loss and the time that is left at the metrics' port.
  void show_pace(const Logs& logs);
  void validate(int64_t epoch, Logs& logs);

  Model& model_;
  const FitOptions& options_;
  History history_;
  std::optional<data::Dataset> global_data_;  // set if workers may change
  std::optional<DistributedDataset> data_;    // set if they do not
  std::optional<DistributedDataset> validation_data_;
  std::unique_ptr<train_internal::CoordinatedLoop> workers_, validating_;  // with a coordinator
  std::optional<CallbackList> callbacks_;
  /// Position of the training, for workers that take it over.
  struct Position {
    int64_t epoch = 0, batch = 0;
    bool fresh = true;  // this epoch uses the model's iterator
  };
  Position position_;
  std::optional<int64_t> steps_of_epoch_;  // once it is known
  train_internal::RunPace pace_;
  ElasticLoop* loop_ = nullptr;  // while it runs
  int64_t updates_ = 0;          // updates of the optimizer at the last commit
  bool data_ended_ = false;      // in this epoch
  bool out_of_data_ = false;     // the data ended before the epoch had all its steps
};

/// Runs `loop` and tells the other workers of an exception that it throws.
void run_on_all_workers(Model& model, const std::function<void()>& loop);

}  // namespace distribute::train
