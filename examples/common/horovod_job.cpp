#include "horovod_job.hpp"

#include "build.hpp"

#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

namespace dist = distribute;
namespace hvd = distribute::hvd;

namespace examples {

namespace {

/// A commit copies the weights, so it is not made after every step.
constexpr int64_t kStepsPerCommit = 10;

/// Each line of agreed_options() is one flag.
[[noreturn]] void fail_flags(const std::string& a, int rank_a, const std::string& b, int rank_b) {
  const auto [first, other] = first_difference(a, b);
  throw dist::FailedPreconditionError(
      dist::str_cat("the ranks were started with different flags: rank ", rank_a, " has ", first,
                    ", rank ", rank_b, " ", other));
}

void check_same_flags(const TrainerOptions& o) {
  const auto all = hvd::allgather_object(agreed_options(o), "flags");
  for (size_t r = 1; r < all.size(); ++r)
    if (all[r] != all[0]) fail_flags(all[0], 0, all[r], int(r));
}

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
  TrainingState(const dist::nn::Module& model, dist::optim::Optimizer& optimizer,
                dist::train::ElasticIterator& batches, const std::string& flags)
      : TensorFlowKerasState(model, optimizer),
        batches_(batches),
        flags_(flags),
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
    if (flags != flags_) fail_flags(flags, source(), flags_, hvd::rank());
    TensorFlowKerasState::sync();
    place_ = numbers_in(hvd::broadcast_object(bytes_of(batches_.state()), source(), "place"));
    batches_.restore(place_);
  }

 private:
  dist::train::ElasticIterator& batches_;
  const std::string flags_;
  dist::Tensor place_;  // of the last commit
};

}  // namespace

std::unique_ptr<HorovodJob> HorovodJob::begin(const TrainerOptions& o) {
  if (o.api != "horovod") return nullptr;
  if (!o.strategy.empty() || o.replicas != 1)
    throw dist::InvalidArgumentError(
        "--api=horovod trains on one device per rank: leave out --strategy and --replicas, and "
        "start more ranks");
  const auto resolver = dist::default_resolver({}, o.cluster).resolver;
  hvd::InitOptions init{.resolver = resolver.get()};
  init.elastic = {.min_workers = o.elastic ? o.min_workers : 0, .max_workers = o.max_workers};
  hvd::init(init);
  if (!o.elastic) check_same_flags(o);
  return std::unique_ptr<HorovodJob>(new HorovodJob);
}

dist::data::Dataset HorovodJob::share(const dist::data::Dataset& batches) const {
  const int64_t ranks = hvd::size();
  if (ranks == 1) return batches;
  return dist::data::Dataset(dist::data::dataset_for_worker(
      batches.node(),
      {.num_workers = ranks, .worker_index = hvd::rank(), .num_replicas_in_sync = ranks}));
}

dist::PerReplica<dist::data::Batch> HorovodJob::share(
    const dist::PerReplica<dist::data::Batch>& batch) const {
  return dist::PerReplica<dist::data::Batch>(
      {dist::data::rows_of_replica(batch[0], hvd::rank(), hvd::size())});
}

dist::ElasticEnd HorovodJob::run_elastically(const dist::nn::Module& model,
                                             dist::optim::Optimizer& optimizer,
                                             dist::train::ElasticIterator& batches,
                                             const std::string& flags,
                                             const std::function<void()>& body) {
  TrainingState state(model, optimizer, batches, flags);
  state_ = &state;
  auto train = hvd::elastic::run([&](TrainingState&) {
    was_chief_ = is_chief();
    std::printf("rank %d of %d  from step %lld\n", hvd::rank(), hvd::size(),
                (long long)optimizer.iterations());
    std::fflush(stdout);
    body();
  });
  const dist::ElasticEnd end = train(state);
  state_ = nullptr;
  return end;
}

void HorovodJob::commit(int64_t step) {
  if (state_ && step % kStepsPerCommit == 0) state_->commit();
}

void HorovodJob::check_same_data(int64_t images) const {
  const dist::Tensor all = hvd::allgather(dist::Tensor(images), {.name = "images"});
  const auto counts = all.data<int64_t>();
  for (size_t r = 1; r < counts.size(); ++r)
    if (counts[r] != counts[0])
      throw dist::InvalidArgumentError(dist::str_cat("--data_dir: rank ", r, " has ", counts[r],
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
