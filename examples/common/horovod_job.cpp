#include "horovod_job.hpp"

#include "build.hpp"

#include <cstdio>
#include <string>
#include <utility>

namespace dist = distribute;
namespace hvd = distribute::hvd;

namespace examples {

namespace {

/// Each line of agreed_options() is one flag.
void check_same_flags(const TrainerOptions& o) {
  const auto all = hvd::allgather_object(agreed_options(o), "flags");
  for (size_t r = 1; r < all.size(); ++r) {
    if (all[r] == all[0]) continue;
    const auto [first, other] = first_difference(all[0], all[r]);
    throw dist::FailedPreconditionError(
        dist::concat("the ranks were started with different flags: rank 0 has ", first, ", rank ",
                     r, " ", other));
  }
}

}  // namespace

std::unique_ptr<HorovodJob> HorovodJob::begin(const TrainerOptions& o) {
  if (o.api != "horovod") return nullptr;
  if (!o.strategy.empty() || o.replicas != 1)
    throw dist::InvalidArgumentError(
        "--api=horovod trains on one device per rank: leave out --strategy and --replicas, and "
        "start more ranks");
  const auto resolver = dist::default_resolver({}, o.cluster).resolver;
  hvd::init({.resolver = resolver.get()});
  check_same_flags(o);
  return std::unique_ptr<HorovodJob>(new HorovodJob);
}

dist::data::Dataset HorovodJob::share(const dist::data::Dataset& batches) const {
  const int64_t ranks = hvd::size();
  if (ranks == 1) return batches;
  return dist::data::Dataset(dist::data::dataset_for_worker(
      batches.node(),
      {.num_workers = ranks, .worker_index = hvd::rank(), .num_replicas_in_sync = ranks}));
}

void HorovodJob::check_same_data(int64_t images) const {
  const dist::Tensor all = hvd::allgather(dist::Tensor(images), {.name = "images"});
  const auto counts = all.data<int64_t>();
  for (size_t r = 1; r < counts.size(); ++r)
    if (counts[r] != counts[0])
      throw dist::InvalidArgumentError(dist::concat("--data_dir: rank ", r, " has ", counts[r],
                                                    " training images, rank 0 has ", counts[0],
                                                    "; all ranks need the same data"));
}

void HorovodJob::wrap(dist::optim::Optimizer& optimizer) {
  // The loss is a part of the mean over the global batch, so gradients are to be summed.
  optimizer_.emplace(optimizer, hvd::DistributedOptimizerOptions{.op = hvd::Sum});
}

void HorovodJob::start_alike(const dist::nn::Module& model, dist::optim::Optimizer& optimizer,
                             dist::DistributedIterator& iterator) {
  optimizer.build(model.trainable_variables());
  hvd::broadcast_variables(hvd::variables_of(model), 0);
  hvd::broadcast_variables(hvd::variables_of(optimizer), 0);
  const dist::Tensor rows = hvd::broadcast(dist::Tensor(places_.shape()[0]), 0);
  if (rows.item<int64_t>() == 0) return;  // nothing was restored
  if (rows.item<int64_t>() != hvd::size()) {
    if (is_chief())
      std::fprintf(stderr, "warning: the checkpoint is of %lld ranks: the data starts anew\n",
                   (long long)rows.item<int64_t>());
    return;
  }
  const dist::Tensor width = hvd::broadcast(dist::Tensor(places_.shape()[1]), 0);
  if (!is_chief())
    places_ = dist::zeros({rows.item<int64_t>(), width.item<int64_t>()}, dist::DType::Int64);
  places_ = hvd::broadcast(places_, 0);
  const dist::Tensor mine = places_.rows(hvd::rank(), hvd::rank() + 1);
  iterator.restore(mine.view({width.item<int64_t>()}));
}

int64_t HorovodJob::minimize(const dist::Tensor& loss, const std::vector<dist::Variable>& variables,
                             dist::GradientTape& tape) {
  return optimizer_->minimize(loss, variables, tape);
}

std::vector<dist::Tensor> HorovodJob::sum(const std::vector<dist::Tensor>& tensors) const {
  std::vector<dist::Tensor> present;
  for (const dist::Tensor& tensor : tensors)
    if (tensor) present.push_back(tensor);
  const auto sums = hvd::grouped_allreduce(present, {.op = hvd::Sum});
  std::vector<dist::Tensor> all(tensors.size());
  for (size_t i = 0, next = 0; i < tensors.size(); ++i)
    if (tensors[i]) all[i] = sums[next++];
  return all;
}

dist::Tensor HorovodJob::sum(const dist::Tensor& tensor) const {
  return hvd::allreduce(tensor, {.op = hvd::Sum});
}

void HorovodJob::remember(const dist::DistributedIterator& iterator) {
  const dist::Tensor mine = iterator.state();
  places_ = hvd::allgather(mine.view({1, mine.num_elements()}), {.name = "places"});
}

dist::train::TensorState HorovodJob::places() {
  return {[this] { return places_; }, [this](const dist::Tensor& saved) { places_ = saved; },
          false};
}

}  // namespace examples
