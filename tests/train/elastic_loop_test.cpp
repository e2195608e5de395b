#include <distribute/distribute.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/cluster_main.hpp>
#include <tests/support/temporary_directory.hpp>

#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

using namespace distribute;
using Catch::Contains;
using testing::ProcessCluster;
using testing::ProcessClusterOptions;

namespace {

constexpr int64_t kBatch = 12;

data::Dataset batches() {
  std::vector<float> x(60 * 9);
  std::vector<int64_t> y(60);
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(float(i));
  for (size_t i = 0; i < y.size(); ++i) y[i] = int64_t(i % 3);
  return data::Dataset::from_tensor_slices(Tensor(Shape{60, 9}, x), Tensor(Shape{60}, y))
      .shuffle(60, {.seed = 3})
      .repeat()
      .batch(kBatch);
}

/// A network with moving averages, an optimizer with slots, and where its input stands.
struct Trainee {
  explicit Trainee(Strategy& strategy) : scope(strategy), iterator(strategy, batches()) {}

  void step(Strategy& strategy) {
    strategy.run(
        [&](const data::Batch& batch) {
          GradientTape tape;
          const auto losses = nn::sparse_categorical_crossentropy(
              batch.y, model(batch.x, {.training = true}), {.from_logits = true});
          optimizer.minimize(nn::compute_average_loss(losses, kBatch),
                             model.trainable_variables(), tape);
        },
        iterator.get_next());
  }
  train::CheckpointParts parts() {
    return {{"model", &model}, {"optimizer", &optimizer}, {"iterator", train::state_of(iterator)}};
  }
  int64_t steps() const { return optimizer.iterations(); }
  std::string bits() const {
    std::string text;
    for (const Variable& variable : model.trainable_variables())
      for (float w : variable.impl().component(0).to_vector()) {
        uint32_t word = 0;
        std::memcpy(&word, &w, sizeof word);
        text += concat(word, " ");
      }
    return text;
  }

  Scope scope;
  nn::Sequential model{nn::Dense({.units = 20, .activation = nn::relu}), nn::Dense({.units = 3})};
  optim::Adam optimizer{{.learning_rate = 0.01f}};
  train::ElasticIterator iterator;
};

/// "<steps> <bits of the weights>" and the lines "generation <number> from <step> with <workers>"
/// that all members print.
void train_elastically(testing::ClusterTask& task, const ElasticOptions& limits,
                       const std::function<bool(Trainee&, train::ElasticLoop&)>& goes_on) {
  MultiWorkerMirroredStrategy strategy(MultiWorkerOptions{.num_replicas = 1, .elastic = limits});
  random::set_seed(uint64_t(5 + task.restarts()));  // a state that is not handed over would show
  Trainee trainee(strategy);
  train::ElasticLoop loop(
      strategy, trainee.parts(), trainee.optimizer.iterations_variable(),
      {.on_change = [](const train::ElasticMembers& members) {
        std::printf("generation %lld from %lld with %zu\n", (long long)members.generation,
                    (long long)members.step, members.names.size());
        std::fflush(stdout);
      }, .seconds_between_checks = 0.01});
  const auto end = loop.run([&] {
    while (goes_on(trainee, loop)) {
      trainee.step(strategy);
      loop.commit();
    }
  });
  const char* ends[] = {"finished", "left", "too late"};
  std::printf("%s at %lld\n", ends[int(end)], (long long)trainee.steps());
  if (end == train::ElasticEnd::Finished)
    task.set_result(concat(trainee.steps(), " ", trainee.bits()));
}

/// What one process gets that makes the steps of each generation with as many replicas.
std::string replay(const std::string& log, int64_t steps) {
  std::map<long long, std::pair<long long, int>> generations;  // first step and workers
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    long long number, first;
    int workers;
    const size_t at = line.find("generation ");
    if (at != std::string::npos &&
        std::sscanf(line.c_str() + at, "generation %lld from %lld with %d", &number, &first,
                    &workers) == 3)
      generations[number] = {first, workers};
  }
  REQUIRE(!generations.empty());
  random::set_seed(5);
  config::set_logical_device_configuration(4);
  std::vector<Tensor> weights, slots;
  Tensor position;
  std::string bits;
  int64_t done = 0;
  const TemporaryDirectory directory;
  const std::string prefix = directory.path() + "/state";
  for (auto it = generations.begin(); it != generations.end(); ++it) {
    const int64_t last = std::next(it) == generations.end() ? steps : std::next(it)->second.first;
    CHECK(it->second.first == done);


    MirroredStrategy strategy({.num_replicas = it->second.second});
    Trainee trainee(strategy);
    const train::Checkpoint checkpoint(trainee.parts());
    if (done > 0) checkpoint.restore(prefix);
    for (; done < last; ++done) trainee.step(strategy);
    checkpoint.write(prefix);
    bits = trainee.bits();
  }
  return concat(done, " ", bits);
}

std::string final_result(const std::vector<testing::TaskOutcome>& outcomes) {
  std::string result;
  for (const auto& outcome : outcomes) {
    if (!outcome.result) continue;
    if (result.empty()) result = *outcome.result;
    CHECK(*outcome.result == result);  // all members end with the same bits
  }
  REQUIRE(!result.empty());
  return result;
}

void check_replay(ProcessCluster& cluster, const std::vector<testing::TaskOutcome>& outcomes) {
  const std::string result = final_result(outcomes);
  CHECK(replay(cluster.all_output(), std::stoll(result)) == result);
}

}  // namespace

/// Worker 1 dies in step 20, before or after its update; it comes back, and all go on to the end.
DISTRIBUTE_CLUSTER_MAIN(loses_a_worker) {
  const bool first_start = task.restarts() == 0;
  train_elastically(
      task, {.min_workers = 2, .max_workers = 3, .last_call_seconds = 20},
      [&](Trainee& trainee, train::ElasticLoop& loop) {
        const bool dies = task.index() == std::stoi(task.argument().substr(1)) && first_start &&
                          trainee.steps() == 20;
        if (dies && task.argument()[0] == 'b') ::raise(SIGKILL);
        if (dies) {  // with the update applied, and no commit
          trainee.step(get_strategy());
          ::raise(SIGKILL);
        }
        const auto& members = loop.members();
        return trainee.steps() < 50 || members.generation < 2 || members.names.size() < 3;
      });
}

TEST_CASE("a worker dies and comes back: every update counts once", "[train][elastic][multiproc]") {
  const std::string victim = GENERATE("b1", "a1", "b0", "a2");
  ProcessCluster cluster({.workers = 3,
                          .function = "loses_a_worker",
                          .argument = victim,
                          .environment = {{"OMP_NUM_THREADS", "1"}},
                          .deadline_seconds = 60,
                          .auto_restart = true});
  const auto outcomes = cluster.join();
  INFO(cluster.all_output());
  // One update more where the victim's last one was complete on a survivor.
  CHECK_THAT(cluster.all_output(), Contains("generation 2 from 2"));
  check_replay(cluster, outcomes);
}
