#include "elastic_horovod.hpp"

#include "elastic_workers.hpp"

#include <cstdio>
#include <cstring>
#include <utility>

namespace dist = distribute;
namespace hvd = distribute::hvd;

namespace examples {

namespace {

/// A commit copies the weights, so it is not made after every step.
constexpr int64_t kStepsPerCommit = 10;

std::string bytes_of(const dist::Tensor& numbers) {
  const auto values = numbers.data<int64_t>();
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(int64_t)};
}

dist::Tensor numbers_in(const std::string& bytes) {
  std::vector<int64_t> values(bytes.size() / sizeof(int64_t));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  const dist::Shape shape{int64_t(values.size())};
  return dist::Tensor(shape, std::move(values));
}

/// Model, optimizer and place in the data, of ranks that were started alike.
class TrainingState : public hvd::elastic::TensorFlowKerasState {
 public:
  TrainingState(Training& training, dist::train::ElasticIterator& batches)
      : TensorFlowKerasState(training.model, *training.optimizer),
        batches_(batches),
        flags_(agreed_text(training, /*shares_test=*/true)),
        place_(batches.state()) {}

  void save() override {
    TensorFlowKerasState::save();
    place_ = batches_.state();
  }
  void restore() override {
    TensorFlowKerasState::restore();
    batches_.restore(place_);
  }
  /// Flags first: ranks of other networks have other variables.
  void sync() override {
    const std::string flags = hvd::broadcast_object(flags_, source(), "flags");
    dist::check_same_options("ranks", {dist::str_cat("rank ", source()), flags},
                             {dist::str_cat("rank ", hvd::rank()), flags_});
    TensorFlowKerasState::sync();
    place_ = numbers_in(hvd::broadcast_object(bytes_of(batches_.state()), source(), "place"));
    batches_.restore(place_);
  }

 private:
  dist::train::ElasticIterator& batches_;
  const std::string flags_;
  dist::Tensor place_;  // of the last commit
};

dist::PerReplica<Batch> share_of(const dist::PerReplica<Batch>& batch) {
  return dist::PerReplica<Batch>({dist::data::rows_of_replica(batch[0], hvd::rank(), hvd::size())});
}

}  // namespace

void ElasticHorovod::begin() {
  batches_.emplace(training_.strategy, training_.task.training);
  open_checkpoints(dist::train::state_of(*batches_));
}

dist::PerReplica<Batch> ElasticHorovod::next_batch() {
  return share_of(training_.next_of(*batches_));
}

void ElasticHorovod::after_step(int64_t number) {
  if (number % kStepsPerCommit == 0) state_->commit();
}

/// A rank that has become the chief has no counter of checkpoints.
void ElasticHorovod::save(int64_t step) {
  if (is_chief()) saving_->save(step, step);
}

/// The chief may be another rank than before: it goes on with the files.
void ElasticHorovod::train_as_ranks(dist::train::RunReport& report) {
  was_chief_ = is_chief();
  std::printf("rank %d of %d  from step %lld\n", hvd::rank(), hvd::size(),
              (long long)training_.optimizer->iterations());
  std::fflush(stdout);
  if (is_chief()) saving_->open(/*any_network=*/true);
  if (is_chief()) training_.outputs.open(training_.optimizer->iterations());
  Way::run(report);
}

std::optional<int> ElasticHorovod::run(dist::train::RunReport& report) {
  TrainingState state(training_, *batches_);
  state_ = &state;
  auto train = hvd::elastic::run([&](TrainingState&) { train_as_ranks(report); });
  const auto end = train(state);
  state_ = nullptr;
  // There may be no rank left that could save.
  if (end == dist::ElasticEnd::Left && was_chief_) {
    if (auto* manager = saving_->manager())
      manager->save(training_.optimizer->iterations());
    else
      tell_unsaved();
  }
  if (end == dist::ElasticEnd::Left) return dist::kExitPreempted;
  if (end == dist::ElasticEnd::TooLate || !report.test_loss) return too_late();
  return std::nullopt;
}

/// There may be more ranks than files, so each takes rows of every batch.
TestSums ElasticHorovod::test(const TestBatch& of_batch) {
  TestSums mine;
  for (const auto& batch : training_.strategy.experimental_distribute_dataset(training_.task.test))
    mine.add(of_batch(share_of(batch)[0]));
  return sum_of_ranks(mine);
}

}  // namespace examples
