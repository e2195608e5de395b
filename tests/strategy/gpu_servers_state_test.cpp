// What parameter servers keep, under replicas on GPUs: no gradient older than allowed, and
// checkpoints that go from GPUs to CPUs and back.
#include <distribute/distribute.hpp>

#include <tests/strategy/gpu_training.hpp>
#include <tests/strategy/server_cluster.hpp>
#include <tests/support/logical_devices.hpp>
#include <tests/support/temporary_directory.hpp>

#include <map>
#include <memory>
#include <optional>
#include <thread>

using namespace distribute;
using distribute::testing::ContractGpu;
using strategy_test::check_close_results;
using strategy_test::contract_numbers;
using strategy_test::ServerCluster;

namespace {

constexpr int kReplicas = 2;

/// What a worker saw of a step: the weights, and the step's number or -1.
struct Seen {
  float weight;
  int64_t number;
};

/// A worker with one variable, from which each replica's gradient is subtracted.
template <typename Kind>
class Worker {
 public:
  Worker(ServerCluster& cluster, int index)
      : strategy_(cluster.resolver("worker", index),
                  {.num_replicas = kReplicas, .max_staleness = 2}) {
    const auto scope = strategy_.scope();
    v_ = Variable(zeros({3}), {.name = "v"});
    sgd_.emplace(optim::SGDOptions{.learning_rate = 1.0f});
  }
  /// `meanwhile` happens between the forward pass and the gradients.
  Seen step(
      float gradient, const std::function<void()>& meanwhile = [] {}) {
    const auto scope = strategy_.scope();
    const auto seen = strategy_.run([&] {
      GradientTape tape;
      const Tensor value = v_.value(), loss = reduce_sum(value * gradient);
      if (get_replica_context()->replica_id_in_sync_group() == 0) meanwhile();
      return Seen{value.to_vector()[0], sgd_->minimize(loss, {v_}, tape)};
    });
    // Behind these the servers have done what was sent, the next pull too.
    CHECK((weight() <= 0 && iterations() >= 0));
    CHECK(seen[0].number == seen[1].number);
    CHECK(seen[0].weight == seen[1].weight);
    return seen[0];
  }
  float weight() const { return v_.value().to_vector()[0]; }
  int64_t iterations() const { return sgd_->iterations(); }

 private:
  ParameterServerStrategy<Kind> strategy_;
  Variable v_;
  std::optional<optim::SGD> sgd_;
};

/// The weights of each step that counted, and what may come next.
class History {
 public:
  /// A step's gradients count unless its weights are more than two steps old.
  void check(const Seen& seen, float gradient) {
    REQUIRE(steps_.count(seen.weight) == 1);
    const bool counts = step() - steps_.at(seen.weight) <= 2;
    if (counts) weight_ -= gradient * kReplicas;
    if (counts) steps_.emplace(weight_, step() + 1);
    CHECK(seen.number == (counts ? step() : -1));
  }
  int64_t step() const { return int64_t(steps_.size()) - 1; }
  float weight() const { return weight_; }

 private:
  std::map<float, int64_t> steps_{{0.0f, 0}};
  float weight_ = 0;
};

/// A slow worker's step while another makes `others` steps; then the other falls behind.
template <typename Kind>
void check_staleness(int others) {
  ServerCluster cluster(2, 1);
  auto slow = std::make_unique<Worker<Kind>>(cluster, 0);
  auto quick = std::make_unique<Worker<Kind>>(cluster, 1);
  History history;
  const auto quick_steps = [&] {
    std::thread([&] {
      for (int i = 0; i < others; ++i) history.check(quick->step(1), 1);
    }).join();
  };
  const Seen first = slow->step(10, quick_steps);
  CHECK(first.weight == 0);
  CHECK((first.number == -1) == (others > 2));
  history.check(first, 10);
  for (int i = 0; i < 3; ++i) history.check(slow->step(10), 10);
  const Seen late = quick->step(1);  // of the weights behind its own last step
  CHECK((late.number == -1) == (others > 0));
  history.check(late, 1);
  history.check(quick->step(1), 1);
  CHECK(slow->weight() == history.weight());
  CHECK(slow->iterations() == history.step());
  std::thread leaving([&] { quick.reset(); });  // workers end together
  slow.reset();
  leaving.join();
}

/// A network and its optimizer on servers, with one worker.
template <typename Kind>
class Training {
 public:
  explicit Training(int64_t shards)
      : strategy_(cluster_.resolver("worker", 0),
                  {.variable_partitioner = {.num_shards = shards}, .num_replicas = kReplicas}),
        scope_(strategy_),
        checkpoint_(model_, optimizer_) {}

  void step() {
    strategy_.run([&] {
      const int64_t first = 4 * get_replica_context()->replica_id_in_sync_group();
      GradientTape tape;
      const Tensor y = model_(x_.rows(first, first + 4), {.training = true});
      const auto variables = model_.trainable_variables();
      optimizer_.minimize(reduce_sum(square(y - 1.0f)), variables, tape);
    });
  }
  train::Checkpoint& checkpoint() { return checkpoint_; }
  /// All variables and slots, and the number of steps.
  std::vector<Tensor> values() const {
    std::vector<Tensor> all{Tensor{float(optimizer_.iterations())}};
    for (const Variable& variable : model_.variables()) all.push_back(variable.value());
    for (const auto& slot : optimizer_.slot_variables()) all.push_back(slot.variable.value());
    return all;
  }

 private:
  ServerCluster cluster_{1, 2};
  ParameterServerStrategy<Kind> strategy_;
  Scope scope_;
  nn::Sequential model_{nn::Dense({.units = 6}), nn::BatchNormalization(), nn::Dense({.units = 2})};
  optim::SGD optimizer_{{.learning_rate = 0.02, .momentum = 0.9}};
  train::Checkpoint checkpoint_;
  const Tensor x_ = contract_numbers({8, 4}, 3);
};

/// A training's values when it is saved, and after one more step.
struct Saved {
  std::vector<Tensor> then, later;
};

template <typename Kind>
Saved train_and_save(const std::string& path, int64_t shards) {
  Training<Kind> training(shards);
  for (int i = 0; i < 2; ++i) training.step();
  training.checkpoint().write(path);
  Saved saved{training.values(), {}};
  training.step();
  saved.later = training.values();
  return saved;
}

/// The saved training goes on; its variables exist before, or are created by its first step.
template <typename Kind>
void check_goes_on(const std::string& path, int64_t shards, bool built, const Saved& saved) {
  Training<Kind> training(shards);
  if (built) training.step();
  const auto status = training.checkpoint().restore(path);
  if (built) {
    status.assert_consumed();
    const auto values = training.values();
    REQUIRE(values.size() == saved.then.size());
    for (size_t i = 0; i < values.size(); ++i)
      CHECK(values[i].to_vector() == saved.then[i].to_vector());
  }
  training.step();
  status.assert_consumed();
  check_close_results(saved.later, training.values());
}

}  // namespace

TEST_CASE("servers drop gradients of GPUs that are older than max_staleness",
          "[strategy][parameter_server][gpu_contract]") {
  const int others = GENERATE(0, 1, 2, 3, 5);
  CAPTURE(others);
  {
    const LogicalDevices devices(kReplicas);
    check_staleness<CpuDevice>(others);
  }
  const ContractGpu contract;
  contract.want_logical(2);  // of both workers
  check_staleness<GpuDevice>(others);
}

TEST_CASE("checkpoints of servers go from GPUs to CPUs and back",
          "[strategy][parameter_server][gpu_contract]") {
  const TemporaryDirectory directory;
  const std::string of_gpus = directory / "gpus", of_cpus = directory / "cpus";
  const int64_t shards = GENERATE(1, 2);
  const bool built = GENERATE(true, false);
  CAPTURE(shards, built);
  const Saved gpus = [&] {
    const ContractGpu contract;
    return train_and_save<GpuDevice>(of_gpus, shards);
  }();
  {
    const LogicalDevices devices(kReplicas);
    check_goes_on<CpuDevice>(of_gpus, shards, built, gpus);
  }
  const Saved cpus = [&] {
    const LogicalDevices devices(kReplicas);
    return train_and_save<CpuDevice>(of_cpus, shards);
  }();
  const ContractGpu contract;
  check_goes_on<GpuDevice>(of_cpus, shards, built, cpus);
}
