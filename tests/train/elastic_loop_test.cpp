#include <distribute/distribute.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/cluster_main.hpp>
#include <tests/support/logical_devices.hpp>
#include <tests/support/number_of.hpp>
#include <tests/support/temporary_directory.hpp>

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <sys/resource.h>

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
          optimizer.minimize(nn::compute_average_loss(losses, kBatch), model.trainable_variables(),
                             tape);
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
        text += str_cat(word, " ");
      }
    return text;
  }

  Scope scope;
  nn::Sequential model{nn::Dense({.units = 20, .activation = nn::relu}), nn::Dense({.units = 3})};
  optim::Adam optimizer{{.learning_rate = 0.01f}};
  train::ElasticIterator iterator;
};

int64_t clock_ms() {
  using namespace std::chrono;  // the same clock in all processes of a host
  return duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
}

/// Gives "<steps> <bits of the weights>" when it ends in good order as the last. All members print
/// "generation <number> from <step> with <workers>", and "generation <number> is in step at <ms>"
/// once it has made a step.
void train_elastically(testing::ClusterTask& task, const ElasticOptions& limits, int replicas,
                       const std::function<bool(Trainee&, train::ElasticLoop&)>& goes_on) {
  config::set_logical_device_configuration(replicas);
  MultiWorkerMirroredStrategy strategy(
      MultiWorkerOptions{.num_replicas = replicas, .elastic = limits});
  random::set_seed(uint64_t(5 + task.restarts()));  // a state that is not handed over would show
  Trainee trainee(strategy);
  train::ElasticLoop loop(
      strategy, trainee.parts(), trainee.optimizer.iterations_variable(),
      {.on_change =
           [](const train::ElasticMembers& members) {
             std::printf("generation %lld from %lld with %zu\n", (long long)members.generation,
                         (long long)members.step, members.names.size());
             std::fflush(stdout);
           },
       .on_last_leave = [&] { task.set_result(str_cat(trainee.steps(), " ", trainee.bits())); },
       .seconds_between_checks = 0.05});
  int64_t in_step = 0;
  const auto end = loop.run([&] {
    while (goes_on(trainee, loop)) {
      trainee.step(strategy);
      if (std::exchange(in_step, loop.members().generation) != in_step) {
        std::printf("generation %lld is in step at %lld\n", (long long)in_step,
                    (long long)clock_ms());
        std::fflush(stdout);
      }
      loop.commit();
    }
  });
  const char* ends[] = {"finished", "left", "too late"};
  std::printf("%s at %lld\n", ends[int(end)], (long long)trainee.steps());
  if (end == train::ElasticEnd::Finished)
    task.set_result(str_cat(trainee.steps(), " ", trainee.bits()));
}

/// What one process gets that makes the steps of each generation with as many replicas.
std::string replay(const std::string& log, int64_t steps, int replicas_per_worker) {
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
  const LogicalDevices devices(8);
  std::vector<Tensor> weights, slots;
  Tensor position;
  std::string bits;
  int64_t done = 0;
  const TemporaryDirectory directory;
  const std::string prefix = directory.path() + "/state";
  for (auto it = generations.begin(); it != generations.end(); ++it) {
    const int64_t last = std::next(it) == generations.end() ? steps : std::next(it)->second.first;
    CHECK(it->second.first == done);

    MirroredStrategy strategy({.num_replicas = it->second.second * replicas_per_worker});
    Trainee trainee(strategy);
    const train::Checkpoint checkpoint(trainee.parts());
    if (done > 0) checkpoint.restore(prefix);
    for (; done < last; ++done) trainee.step(strategy);
    checkpoint.write(prefix);
    bits = trainee.bits();
  }
  return str_cat(done, " ", bits);
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

void check_replay(ProcessCluster& cluster, const std::vector<testing::TaskOutcome>& outcomes,
                  int replicas_per_worker = 1) {
  const std::string result = final_result(outcomes);
  CHECK(replay(cluster.all_output(), std::stoll(result), replicas_per_worker) == result);
}

}  // namespace

/// The argument: whether the victim dies before or after its update of step 20 (b, a), its index,
/// and the replicas per worker. It comes back, and all go on to the end.
DISTRIBUTE_CLUSTER_MAIN(loses_a_worker) {
  const bool first_start = task.restarts() == 0;
  if (std::getenv("TEST_NO_FILES")) {
    add(zeros(Shape{1 << 16}),
        zeros(Shape{1 << 16}));  // LLVM's OpenMP makes its file before the limit
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_FSIZE, &none);
  }
  train_elastically(task, {.min_workers = 2, .max_workers = 3, .last_call_seconds = 20},
                    task.argument()[2] - '0', [&](Trainee& trainee, train::ElasticLoop& loop) {
                      const bool dies = task.index() == task.argument()[1] - '0' && first_start &&
                                        trainee.steps() == 20;
                      if (dies && task.argument()[0] == 'b') ::raise(SIGKILL);
                      if (dies) {  // with the update applied, and no commit
                        trainee.step(get_strategy());
                        ::raise(SIGKILL);
                      }
                      const auto& members = loop.members();
                      return trainee.steps() < 50 || members.generation < 2 ||
                             members.names.size() < 3 || trainee.steps() < members.step + 5;
                    });
}

TEST_CASE("a worker dies and comes back: every update counts once", "[train][elastic][multiproc]") {
  const auto [victim, transport] = GENERATE(table<std::string, std::string>(
      {{"b11", ""}, {"a11", ""}, {"b01", ""}, {"a21", "tcp"}, {"b01", "tcp"}, {"b12", ""}}));
  CAPTURE(victim, transport);
  ProcessCluster cluster(
      {.workers = 3,
       .function = "loses_a_worker",
       .argument = victim,
       .environment = {{"OMP_NUM_THREADS", "1"}, {"DISTRIBUTE_TRANSPORT", transport}},
       .deadline_seconds = 300,
       .auto_restart = true});
  const auto outcomes = cluster.join();
  INFO(cluster.all_output());
  // One update more where the victim's last one was complete on a survivor.
  CHECK_THAT(cluster.all_output(), Contains("generation 2 from 2"));
  CHECK_THAT(cluster.all_output(), Contains("Generation 1 of the elastic job has stopped") &&
                                       !Contains("The job has stopped"));
  check_replay(cluster, outcomes, victim[2] - '0');
}

TEST_CASE("elastic state needs neither a temporary directory nor room on a disk",
          "[train][elastic][multiproc]") {
  // Worker 1 comes back with nothing, and gets all from workers that can write no file.
  ProcessCluster cluster({.workers = 3,
                          .function = "loses_a_worker",
                          .argument = "b11",
                          .environment = {{"OMP_NUM_THREADS", "1"},
                                          {"TMPDIR", "/no/such/directory"},
                                          {"DISTRIBUTE_TRANSPORT", "tcp"},
                                          {"TEST_NO_FILES", "1"}},
                          .deadline_seconds = 300,
                          .auto_restart = true});
  const auto outcomes = cluster.join();
  INFO(cluster.all_output());
  check_replay(cluster, outcomes);
}

DISTRIBUTE_CLUSTER_MAIN(trains_until_told_to_end) {
  train_elastically(task, {.min_workers = 2, .max_workers = 4, .last_call_seconds = 20}, 1,
                    [](Trainee&, train::ElasticLoop&) { return true; });
}

namespace {

/// The newest generation that is in step, and since when.
struct InStep {
  long long generation = 0, since_ms = 0;
  int workers = 0;
};

InStep newest(const std::string& log) {
  InStep result;
  std::map<long long, int> workers;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    const size_t at = line.find("generation ");
    if (at == std::string::npos) continue;
    long long number, value;
    int count;
    if (std::sscanf(line.c_str() + at, "generation %lld from %lld with %d", &number, &value,
                    &count) == 3)
      workers[number] = count;
    if (std::sscanf(line.c_str() + at, "generation %lld is in step at %lld", &number, &value) ==
            2 &&
        number > result.generation)
      result = {number, value, 0};
  }
  result.workers = workers[result.generation];
  return result;
}

/// Milliseconds from `since_ms` to the first step of a later generation with `workers` workers.
int64_t wait_for(const ProcessCluster& cluster, long long generation, int workers,
                 int64_t since_ms) {
  InStep found;
  testing::wait_until(
      [&] {
        found = newest(cluster.all_output());
        return found.generation > generation && found.workers == workers;
      },
      str_cat("a generation after ", generation, " with ", workers, " workers\n",
              cluster.all_output()),
      30);
  return found.since_ms - since_ms;
}

}  // namespace

/// scripts/elastic_test.sh asks for more rounds.
TEST_CASE("workers leave and join at random: every update counts once",
          "[train][elastic][multiproc]") {
  const int rounds = number_of("DISTRIBUTE_ELASTIC_ROUNDS", 4);
  std::mt19937 random(unsigned(number_of("DISTRIBUTE_ELASTIC_SEED", 1)));
  ProcessCluster cluster({.workers = 4,
                          .function = "trains_until_told_to_end",
                          .environment = {{"OMP_NUM_THREADS", "1"},
                                          {"DISTRIBUTE_HEARTBEAT_INTERVAL", "0.1"},
                                          {"DISTRIBUTE_LOST_AFTER", "3"}},
                          .deadline_seconds = 300.0 + 10 * rounds});
  wait_for(cluster, 0, 4, 0);
  for (int round = 0; round < rounds; ++round) {
    const testing::TaskName victim{"worker", int(random() % 4)};
    const char* ways[] = {"killed", "told to leave", "frozen"};
    const int way = int(random() % 3);
    auto before = newest(cluster.all_output());
    int64_t began = clock_ms();
    if (way == 2)
      cluster.pause(victim);
    else
      cluster.kill(victim, way == 0 ? SIGKILL : SIGTERM);
    const int64_t left = wait_for(cluster, before.generation, 3, began);
    if (way == 1) cluster.wait_for_end(victim);
    before = newest(cluster.all_output());
    began = clock_ms();
    if (way == 2)
      cluster.resume(victim);
    else
      cluster.restart(victim);
    const int64_t joined = wait_for(cluster, before.generation, 4, began);
    if (std::getenv("DISTRIBUTE_ELASTIC_ROUNDS"))
      std::printf("worker %d %-13s  in step again after %5lld ms  joined after %5lld ms\n",
                  victim.index, ways[way], (long long)left, (long long)joined);
  }
  for (int i = 0; i < 4; ++i) cluster.kill({"worker", i}, SIGTERM);
  const auto outcomes = cluster.wait();
  INFO(cluster.all_output());
  check_replay(cluster, outcomes);
}
