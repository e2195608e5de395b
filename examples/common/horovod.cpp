#include "horovod.hpp"

#include "build.hpp"
#include "one_process.hpp"

#include <cstdio>
#include <cstdlib>

namespace dist = distribute;
namespace hvd = distribute::hvd;

namespace examples {

namespace {

void check_same_flags(const TrainerOptions& o) {
  const auto all = hvd::allgather_object(dist::options_text(agreed_options(o)), "flags");
  for (size_t r = 1; r < all.size(); ++r)
    dist::check_same_options("ranks", {"rank 0", all[0]}, {dist::str_cat("rank ", r), all[r]});
}

/// This rank's rows of every batch.
dist::data::Dataset share_of(const dist::data::Dataset& batches) {
  const int64_t ranks = hvd::size();
  if (ranks == 1) return batches;
  return dist::data::Dataset(dist::data::dataset_for_worker(
      batches.node(),
      {.num_workers = ranks, .worker_index = hvd::rank(), .num_replicas_in_sync = ranks}));
}

}  // namespace

void join_horovod(const TrainerOptions& o) {
  if (!o.strategy.empty() || o.replicas != 1)
    throw dist::UsageError(
        "--api=horovod trains on one device per rank: leave out --strategy and --replicas, and "
        "start more ranks");
  const auto resolver = cluster_of(o);
  hvd::InitOptions init{.resolver = resolver.get()};
  init.elastic = {.min_workers = o.elastic ? o.min_workers : 0, .max_workers = o.max_workers};
  hvd::init(init);
  if (!o.elastic) check_same_flags(o);
}

std::string Horovod::why_not_recorded() const {
  return "--api=horovod sums gradients in every step";
}

void Horovod::open_checkpoints(dist::train::TensorState position) {
  if (!training_.options.restore_position)
    throw dist::UsageError(
        "--norestore_position: ranks of Horovod agree on a position; leave it out");
  saving_.emplace(training_, std::move(position));
  if (is_chief()) saving_->start();
  if (auto* manager = saving_->manager()) {
    manager->restore_or_initialize();
    saving_->tell_restored();
  }
  // The loss is a part of the mean over the global batch, so gradients are to be summed.
  optimizer_.emplace(*training_.optimizer, hvd::DistributedOptimizerOptions{.op = hvd::Sum});
}

void Horovod::begin() {
  for (const auto* shared : {&training_.task.training, &training_.task.test})
    dist::data::check_same_data(
        hvd::allgather_object(dist::data::data_summary(*shared->node()), "data"));
  iterator_.emplace(
      training_.strategy.experimental_distribute_dataset(share_of(training_.task.training))
          .iterator());
  const dist::train::TensorState places{
      [this] { return places_; }, [this](const dist::Tensor& saved) { places_ = saved; }, false};
  open_checkpoints(places);
  start_alike();
  watch_notices();
  if (is_chief()) training_.outputs.open(training_.optimizer->iterations());
}

/// Rank 0's weights, step count and slots for all; where the rank was in the data, if rank 0 has
/// restored that.
void Horovod::start_alike() {
  training_.optimizer->build(training_.model.trainable_variables());
  hvd::broadcast_variables(hvd::variables_of(training_.model), 0);
  hvd::broadcast_variables(hvd::variables_of(*training_.optimizer), 0);
  const auto of_rank_0 = [](int64_t number) {
    return hvd::broadcast(dist::Tensor(number), 0).item<int64_t>();
  };
  const int64_t ranks = of_rank_0(places_.shape()[0]);
  if (ranks == 0) return;  // nothing was restored
  if (ranks != hvd::size()) {
    if (is_chief())
      std::fprintf(stderr, "warning: the checkpoint is of %lld ranks: the data starts anew\n",
                   (long long)ranks);
    return;
  }
  const int64_t width = of_rank_0(places_.shape()[1]);
  if (!is_chief()) places_ = dist::zeros({ranks, width}, dist::DType::Int64);
  places_ = hvd::broadcast(places_, 0);
  iterator_->restore(places_.rows(hvd::rank(), hvd::rank() + 1).view({width}));
}

int64_t Horovod::minimize(const dist::Tensor& loss, dist::GradientTape& tape) {
  return optimizer_->minimize(loss, training_.model.trainable_variables(), tape);
}

std::vector<dist::Tensor> Horovod::sum(const std::vector<dist::Tensor>& tensors) {
  std::vector<dist::Tensor> present;
  for (const dist::Tensor& tensor : tensors)
    if (tensor) present.push_back(tensor);
  const auto sums = hvd::grouped_allreduce(present, {.op = hvd::Sum});
  std::vector<dist::Tensor> all(tensors.size());
  for (size_t i = 0, next = 0; i < tensors.size(); ++i)
    if (tensors[i]) all[i] = sums[next++];
  return all;
}

int64_t Horovod::apply(const std::vector<dist::Tensor>& gradients) {
  return apply_summed(sum(gradients));
}

void Horovod::watch_notices() {
  if (training_.options.checkpoint_dir.empty()) return;
  machine_ = preemption_notice(training_.options);
  notice_.emplace();
}

/// The number of ranks that have to go travels with the sums, so that all ranks know it after the
/// same step.
dist::Tensor Horovod::sum_of_tasks(const dist::Tensor& sums) {
  const auto figures_here = sums.data<float>();
  std::vector<float> mine(figures_here.begin(), figures_here.end());
  mine.push_back(notice_ && notice_->preemption_message() ? 1.0f : 0.0f);
  const dist::Shape shape{int64_t(mine.size())};
  const dist::Tensor all = hvd::allreduce(dist::Tensor(shape, std::move(mine)), {.op = hvd::Sum});
  const int64_t figures = sums.num_elements();
  a_rank_leaves_ = all.data<float>()[size_t(figures)] > 0;
  return all.rows(0, figures);
}

/// All ranks stay until rank 0 has saved.
void Horovod::after_step(int64_t number) {
  if (!a_rank_leaves_) return;
  if (is_chief())
    dist::log_info("trainer",
                   dist::str_cat("preempted: saving a checkpoint after ", number, " steps"));
  save(number);
  saving_->sync();
  hvd::barrier();
  std::fflush(nullptr);
  std::quick_exit(dist::kExitPreempted);
}

/// Every rank tells its place in the data, which rank 0 saves.
void Horovod::save(int64_t step) {
  if (training_.options.checkpoint_dir.empty()) return;
  const dist::Tensor mine = iterator_->state();
  places_ = hvd::allgather(mine.view({1, mine.num_elements()}), {.name = "places"});
  saving_->save(step);
}

void Horovod::describe_job(dist::train::RunReport& report, int64_t, double) {
  report.workers = report.replicas = hvd::size();
}

TestSums Horovod::sum_of_ranks(const TestSums& mine) {
  const dist::Tensor sums(dist::Shape{4}, std::vector<float>(mine.values, mine.values + 4));
  TestSums all;
  all.add(hvd::allreduce(sums, {.op = hvd::Sum}));
  return all;
}

TestSums Horovod::test(const TestBatch& of_batch) {
  TestSums mine;
  for (const Batch& batch : share_of(training_.task.test)) mine.add(of_batch(batch));
  return sum_of_ranks(mine);
}

}  // namespace examples
