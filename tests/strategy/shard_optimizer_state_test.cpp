#include <distribute/distribute.hpp>
#include <distribute/saving.hpp>
#include <distribute/strategy/detail/sharded_slot.hpp>

#include <tests/collective/hierarchy.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/cluster_main.hpp>
#include <tests/support/same_bits.hpp>
#include <tests/support/temporary_directory.hpp>
#include <tests/support/thread_workers.hpp>

#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

using namespace distribute;
using Catch::Contains;

namespace {

using MakeOptimizer = std::function<std::unique_ptr<optim::Optimizer>()>;

template <typename T, typename Options>
MakeOptimizer maker(Options options) {
  return [options] { return std::make_unique<T>(options); };
}

struct Way {
  const char* name;
  MakeOptimizer optimizer;
  bool words = false;  // the model begins with an embedding, whose gradients are sparse
  bool rests = false;  // the first weights have no gradient in every second step
};

constexpr int64_t kBatch = 12;  // for 1, 2, 3, 4 and 6 replicas

std::vector<float> waves(int64_t count, float factor) {
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) values[i] = factor * std::sin(float(i * i % 1009));
  return values;
}

/// A small net, whose convolution keeps its weights in a layout of the backend's, and its training.
class Training {
 public:
  Training(Strategy& strategy, const Way& way) : strategy_(strategy), way_(way) {
    const auto scope = strategy.scope();
    if (way.words)
      model_.add(nn::Embedding({.input_dim = 37, .output_dim = 5}));
    else
      model_.add(nn::Conv2D({.filters = 16, .kernel_size = 3, .activation = nn::relu}));
    model_.add(nn::Flatten());
    model_.add(nn::Dense({.units = 33, .activation = nn::tanh}));
    model_.add(nn::Dense({.units = 4}));
    optimizer_ = way.optimizer();
    model_(batch());  // makes the weights; threads share the counter of seeds: weights of our own
    for (const Variable& variable : model_.trainable_variables())
      variable.assign(Tensor(variable.shape(), waves(variable.shape().num_elements(), 0.3f)));
  }

  void train(int steps) {
    for (int i = 0; i < steps; ++i) strategy_.run([this] { step(); });
  }

  /// All weights and slots, in cross-replica context.
  std::vector<float> values() {
    std::vector<float> all;
    const auto add = [&](const Variable& variable) {
      for (float x : variable.value().to_vector()) all.push_back(x);
    };
    for (const Variable& variable : model_.trainable_variables()) add(variable);
    for (const Variable& slot : slots()) add(slot);
    return all;
  }

  std::vector<Variable> slots() const {
    const optim::Optimizer* inner = optimizer_.get();
    if (const auto* scaled = dynamic_cast<const optim::LossScaleOptimizer*>(inner))
      inner = &scaled->inner_optimizer();
    std::vector<Variable> all;
    for (const auto& slot : inner->slot_variables()) all.push_back(slot.variable);
    return all;
  }

  nn::Sequential& model() { return model_; }
  optim::Optimizer& optimizer() { return *optimizer_; }

 private:
  Tensor batch() const {
    if (!way_.words) return Tensor(Shape{kBatch, 5, 5, 16}, waves(kBatch * 400, 1));
    std::vector<int64_t> words(size_t(kBatch) * 3);
    for (size_t i = 0; i < words.size(); ++i) words[i] = int64_t(i * i % 37);
    return Tensor(Shape{kBatch, 3}, words);
  }

  /// Replica r of n trains on part r of n, whatever its worker.
  void step() {
    ReplicaContext& replica = *get_replica_context();
    const int64_t rows = kBatch / replica.num_replicas_in_sync();
    const int64_t first = rows * replica.replica_id_in_sync_group();
    std::vector<int64_t> labels;
    for (int64_t i = 0; i < rows; ++i) labels.push_back((first + i) % 4);
    GradientTape tape;
    const Tensor logits = model_(batch().rows(first, first + rows), {.training = true});
    const Tensor losses = nn::sparse_categorical_crossentropy(Tensor(Shape{rows}, labels), logits,
                                                              {.from_logits = true});
    const Tensor loss = nn::compute_average_loss(losses, kBatch);
    const std::vector<Variable> variables = model_.trainable_variables();
    std::vector<Tensor> gradients = tape.gradient(optimizer_->scale_loss(loss), variables);
    if (way_.rests && optimizer_->iterations() % 2 == 1) gradients[0] = Tensor();
    optimizer_->apply_gradients(gradients, variables);
  }

  Strategy& strategy_;
  const Way way_;
  nn::Sequential model_;
  std::unique_ptr<optim::Optimizer> optimizer_;
};

std::vector<float> values_after(Strategy& strategy, const Way& way, int steps) {
  Training training(strategy, way);
  training.train(steps);
  const auto scope = strategy.scope();
  return training.values();
}

std::vector<float> mirrored_values(int replicas, const Way& way, int steps) {
  const LogicalDevices devices(replicas);
  MirroredStrategy strategy({.num_replicas = replicas});
  return values_after(strategy, way, steps);
}

std::unique_ptr<optim::Optimizer> scaled_adam() {
  return std::make_unique<optim::LossScaleOptimizer>(
      std::make_unique<optim::Adam>(optim::AdamOptions{.learning_rate = 0.01}),
      optim::LossScaleOptimizerOptions{.initial_scale = 1024, .dynamic_growth_steps = 4});
}

std::unique_ptr<optim::Optimizer> adam_with_rules() {
  auto adam = std::make_unique<optim::AdamW>(optim::AdamWOptions{.learning_rate = 0.01});
  adam->multiply_learning_rate({"bias"}, 3);
  adam->exclude_from_weight_decay({"bias"});
  return adam;
}

std::vector<Way> all_ways() {
  using namespace optim;
  return {
      {"SGD", maker<SGD>(SGDOptions{.learning_rate = 0.05})},
      {"SGD with momentum",
       maker<SGD>(SGDOptions{.learning_rate = 0.05, .momentum = 0.9, .nesterov = true})},
      {"Adam", maker<Adam>(AdamOptions{.learning_rate = 0.01})},
      {"AMSGrad", maker<Adam>(AdamOptions{.learning_rate = 0.01, .amsgrad = true})},
      {"AdamW", maker<AdamW>(AdamWOptions{.learning_rate = 0.01, .weight_decay = 0.1})},
      {"Adamax", maker<Adamax>(AdamaxOptions{.learning_rate = 0.01})},
      {"Nadam", maker<Nadam>(NadamOptions{.learning_rate = 0.01})},
      {"Adagrad", maker<Adagrad>(AdagradOptions{.learning_rate = 0.05})},
      {"Adadelta", maker<Adadelta>(AdadeltaOptions{.learning_rate = 1.0})},
      {"RMSprop",
       maker<RMSprop>(RMSpropOptions{.learning_rate = 0.01, .momentum = 0.9, .centered = true})},
      {"Lion", maker<Lion>(LionOptions{.learning_rate = 0.01})},
      {"Ftrl", maker<Ftrl>(FtrlOptions{.learning_rate = 0.05})},
      {"clipnorm", maker<Adam>(AdamOptions{.learning_rate = 0.01, .clipnorm = 0.01})},
      {"clipvalue", maker<Adam>(AdamOptions{.learning_rate = 0.01, .clipvalue = 0.001})},
      {"global_clipnorm", maker<Adam>(AdamOptions{.learning_rate = 0.01, .global_clipnorm = 0.01})},
      {"clip_per_replica",
       maker<Adam>(
           AdamOptions{.learning_rate = 0.01, .global_clipnorm = 0.01, .clip_per_replica = true})},
      {"averages", maker<Adam>(AdamOptions{.learning_rate = 0.01,
                                           .use_ema = true,
                                           .ema_momentum = 0.7,
                                           .ema_overwrite_frequency = 4})},
      {"averages of weights that rest",
       maker<SGD>(SGDOptions{.learning_rate = 0.05, .use_ema = true, .ema_momentum = 0.7}), false,
       true},
      {"a scaled loss", scaled_adam},
      {"rules by name", adam_with_rules},
      {"sparse SGD", maker<SGD>(SGDOptions{.learning_rate = 0.05}), true},
      {"sparse Adagrad", maker<Adagrad>(AdagradOptions{.learning_rate = 0.05}), true},
      {"sparse Adam", maker<Adam>(AdamOptions{.learning_rate = 0.01}), true},
  };
}

const Way kAdam{"Adam", maker<optim::Adam>(optim::AdamOptions{.learning_rate = 0.01})};

const Way kAdagrad{"Adagrad", maker<optim::Adagrad>(optim::AdagradOptions{.learning_rate = 0.05})};

strategy_internal::ShardedSlot* sharded(const Variable& slot) {
  return dynamic_cast<strategy_internal::ShardedSlot*>(&slot.impl());
}

}  // namespace

TEST_CASE("every optimizer gives the same bits with its slots in slices",
          "[strategy][shard_optimizer_state]") {
  for (const Way& way : all_ways()) {
    INFO(way.name);
    const std::vector<float> want = mirrored_values(3, way, 12);
    run_clean(3, 1,
              [&](Strategy& strategy, int) {
                require(same_bits(values_after(strategy, way, 12), want), way.name);
              },
              {.tcp = true, .shard_optimizer_state = true});
  }
}

TEST_CASE("slices give the same bits on any number of workers and replicas, by any transport",
          "[strategy][shard_optimizer_state]") {
  const int workers = GENERATE(2, 3, 4), replicas = GENERATE(1, 2);
  if (workers * replicas > 6) return;  // the batch has 12 examples
  const bool tcp = GENERATE(true, false), bfloat16 = GENERATE(false, true);
  CAPTURE(workers, replicas, tcp, bfloat16);
  const Way averages{
      "averages", maker<optim::Adam>(optim::AdamOptions{.learning_rate = 0.01, .use_ema = true})};
  ThreadWorkers kind{.tcp = tcp,
                     .options = {.bytes_per_pack = 8192, .bfloat16_gradients = bfloat16}};
  std::vector<float> want;
  run_clean(workers, replicas,
            [&](Strategy& strategy, int w) {
              auto values = values_after(strategy, averages, 11);
              if (w == 0) want = std::move(values);
            },
            {.tcp = true, .options = kind.options});
  if (!bfloat16) CHECK(same_bits(want, mirrored_values(workers * replicas, averages, 11)));
  kind.shard_optimizer_state = true;
  run_clean(
      workers, replicas,
      [&](Strategy& strategy, int) {
        require(same_bits(values_after(strategy, averages, 11), want), "the bits");
      },
      kind);
}

TEST_CASE("slices give the same bits on hosts with several ranks",
          "[strategy][shard_optimizer_state]") {
  const std::vector<int> sizes = GENERATE(std::vector<int>{2, 1}, std::vector<int>{1, 3});
  const int workers = int(sizes[0] + sizes[1]);
  const std::vector<float> want = mirrored_values(workers, kAdam, 10);
  const auto groups = [&](int ranks, int, const collective::CommunicatorOptions& options) {
    auto made = collective::make_thread_workers(ranks, 1, options);
    auto transports = hierarchy::make_hierarchy(hierarchy::hosts_of(sizes, ranks));
    for (size_t r = 0; r < made.size(); ++r)
      made[r].workers = made[r].replicas[0] =
          std::make_shared<collective::Communicator>(std::move(transports[r]), options);
    return made;
  };
  run_clean(workers, 1,
            [&](Strategy& strategy, int) {
              require(same_bits(values_after(strategy, kAdam, 10), want), "the bits");
            },
            {.shard_optimizer_state = true, .groups = groups});
}

TEST_CASE("each worker keeps its part of the slots and no more",
          "[strategy][shard_optimizer_state]") {
  const int workers = GENERATE(2, 3, 4), replicas = GENERATE(1, 2);
  if (workers * replicas > 6) return;
  std::vector<int64_t> kept(size_t(workers), 0);
  int64_t all = 0, slots = 0;
  run_clean(workers, replicas,
            [&](Strategy& strategy, int w) {
              Training training(strategy, kAdam);
              training.train(2);
              for (const Variable& slot : training.slots()) {
                require(sharded(slot) != nullptr, "a slot is whole");
                kept[size_t(w)] += sharded(slot)->local_size();
                if (w == 0) all += slot.shape().num_elements(), ++slots;
              }
            },
            {.shard_optimizer_state = true});
  int64_t sum = 0;
  for (int64_t elements : kept) {
    CHECK(elements <= all / workers + slots * replicas);  // shares differ by an element a replica
    sum += elements;
  }
  CHECK(sum == all);
  CHECK(all == 2 * (16 * 16 * 9 + 16 + 144 * 33 + 33 + 33 * 4 + 4));
}

TEST_CASE("replicas of one process keep one copy of the slots",
          "[strategy][shard_optimizer_state]") {
  const bool sparse = GENERATE(false, true);
  const Way way = sparse ? Way{"words", kAdagrad.optimizer, true} : kAdam;
  const std::vector<float> want = mirrored_values(3, way, 3);
  const LogicalDevices devices(3);
  MirroredStrategy strategy(MirroredOptions{.num_replicas = 3, .shard_optimizer_state = true});
  Training training(strategy, way);
  training.train(3);
  for (const Variable& slot : training.slots())
    for (int i = 1; i < 3; ++i)
      CHECK(slot.impl().component(i).array().bytes() == slot.impl().component(0).array().bytes());
  const auto scope = strategy.scope();
  CHECK(same_bits(training.values(), want));
}

namespace {

std::string bytes_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Trains 5 steps on three workers and saves.
void save_with_three(const std::string& prefix, bool slices, const Way& way) {
  run_clean(3, 1,
            [&](Strategy& strategy, int) {
              Training training(strategy, way);
              training.train(5);
              const auto scope = strategy.scope();
              train::Checkpoint(training.model(), training.optimizer()).write(prefix);
            },
            {.shard_optimizer_state = slices});
}

/// Restores, before or after the slots are made, and trains 5 steps; gives worker 0's values.
std::vector<float> go_on(const std::string& prefix, int workers, bool slices, bool built,
                         const Way& way) {
  std::vector<float> values;
  run_clean(workers, 1,
            [&](Strategy& strategy, int w) {
              Training training(strategy, way);
              if (built) training.train(1);
              const auto scope = strategy.scope();
              train::Checkpoint(training.model(), training.optimizer()).restore(prefix);
              training.train(5);
              auto mine = training.values();
              if (w == 0) values = std::move(mine);
            },
            {.tcp = true, .shard_optimizer_state = slices});
  return values;
}

}  // namespace

TEST_CASE("checkpoints are the same files with slices, and any number of workers goes on from them",
          "[strategy][shard_optimizer_state]") {
  const TemporaryDirectory directory;
  const Way way{"averages", maker<optim::Adam>(optim::AdamOptions{
                                .learning_rate = 0.01, .use_ema = true, .ema_momentum = 0.9})};
  const std::string slices = directory.path() + "/slices", whole = directory.path() + "/whole";
  save_with_three(slices, true, way);
  save_with_three(whole, false, way);
  for (const char* part : {".index", ".data-00000-of-00001"})
    CHECK(bytes_of_file(slices + part) == bytes_of_file(whole + part));
  CHECK(bytes_of_file(slices + ".data-00000-of-00001").size() > 4 * 4 * 7000);
  const bool built = GENERATE(false, true);
  const int workers = GENERATE(1, 2, 4);
  CAPTURE(built, workers);
  const std::vector<float> want = go_on(whole, workers, false, built, way);
  CHECK(same_bits(go_on(slices, workers, true, built, way), want));
}

TEST_CASE("Keras's files hold whole slots", "[strategy][shard_optimizer_state]") {
  const TemporaryDirectory directory;
  const std::string file = directory / "slices.weights.h5";
  std::vector<float> saved;
  const ThreadWorkers kind{.tcp = true, .shard_optimizer_state = true};
  run_clean(
      3, 1,
      [&](Strategy& strategy, int w) {
        Training training(strategy, kAdam);
        training.train(3);
        const auto scope = strategy.scope();
        auto values = training.values();
        if (w == 0) saved = std::move(values);
        saving::save_weights(training.model(), file, {.optimizer = &training.optimizer()});
      },
      kind);
  for (const int workers : {1, 2})
    run_clean(
        workers, 1,
        [&](Strategy& strategy, int) {
          Training training(strategy, kAdam);
          const auto scope = strategy.scope();
          saving::load_weights(training.model(), file, {.optimizer = &training.optimizer()});
          require(same_bits(training.values(), saved), "the values");
          require(training.optimizer().iterations() == 3, "the steps");
        },
        kind);
}

TEST_CASE("averages are swapped and taken over with slots in slices",
          "[strategy][shard_optimizer_state]") {
  const Way way{"averages", maker<optim::Adam>(optim::AdamOptions{
                                .learning_rate = 0.01, .use_ema = true, .ema_momentum = 0.9})};
  const auto train = [&](Strategy& strategy) {
    Training training(strategy, way);
    training.train(4);
    const auto scope = strategy.scope();
    const auto weights = training.model().trainable_variables();
    training.optimizer().swap_averages(weights);
    std::vector<float> all = training.values();
    training.optimizer().swap_averages(weights);
    training.train(2);
    training.optimizer().finalize_variable_values(weights);
    for (float x : training.values()) all.push_back(x);
    return all;
  };
  const LogicalDevices devices(2);
  MirroredStrategy mirrored({.num_replicas = 2});
  const std::vector<float> want = train(mirrored);
  run_clean(2, 1,
            [&](Strategy& strategy, int) { require(same_bits(train(strategy), want), "the bits"); },
            {.shard_optimizer_state = true});
}

TEST_CASE("two optimizers in turn, constraints and gradients that are asked for give the same bits",
          "[strategy][shard_optimizer_state]") {
  const auto train = [&](Strategy& strategy) {
    const auto scope = strategy.scope();
    const Variable first(
        [] {
          return Tensor(Shape{3, 5}, waves(15, 0.5f));
        },
        {.name = "first", .constraint = [](const Tensor& x) { return nn::relu(x); }});
    const Variable second([] { return Tensor(Shape{11}, waves(11, 0.5f)); }, {.name = "second"});
    optim::Adam adam({.learning_rate = 0.1});
    optim::RMSprop rmsprop({.learning_rate = 0.1});
    std::vector<Tensor> sums;
    for (int step = 0; step < 10; ++step)
      strategy.run([&] {
        ReplicaContext& replica = *get_replica_context();
        const float factor = float(replica.replica_id_in_sync_group()) - 0.7f * float(step);
        const Variable& one = step % 2 ? second : first;
        optim::Optimizer& optimizer = step % 2 ? static_cast<optim::Optimizer&>(rmsprop) : adam;
        GradientTape tape;
        const Tensor loss = reduce_sum(one.value() * one.value()) * factor;
        std::vector<Tensor> mine;
        optimizer.minimize(loss, {one}, tape,
                           {.reduced_gradients = step % 3 ? nullptr : &mine,
                            .find_unused_parameters = step % 4 == 1});
        if (!mine.empty() && replica.local_replica_id() == 0) sums = mine;
      });
    std::vector<float> all = first.value().to_vector();
    for (const Tensor& more : {second.value(), sums.at(0)})
      for (float x : more.to_vector()) all.push_back(x);
    return all;
  };
  const LogicalDevices devices(3);
  MirroredStrategy mirrored({.num_replicas = 3});
  const std::vector<float> want = train(mirrored);
  run_clean(3, 1,
            [&](Strategy& strategy, int) { require(same_bits(train(strategy), want), "the bits"); },
            {.shard_optimizer_state = true});
}

TEST_CASE("a slot in slices is read and written as a whole one",
          "[strategy][shard_optimizer_state]") {
  run_clean(
      2, 2,
      [&](Strategy& strategy, int) {
        const auto scope = strategy.scope();
        const Variable weight(zeros({7}));
        optim::SGD optimizer({.momentum = 0.9});
        optimizer.build({weight});
        const Variable slot = optimizer.slot_variables().at(0).variable;
        require(sharded(slot) && slot.value().to_vector() == std::vector<float>(7, 0.0f), "zeros");
        slot.assign(Tensor(Shape{7}, std::vector<float>{0, 1, 2, 3, 4, 5, 6}));
        slot.assign_add(ones({7}));
        slot.assign_sub(fill(Shape{7}, 3.0f));
        require(slot.value().to_vector() == std::vector<float>{-2, -1, 0, 1, 2, 3, 4},
                "the values");
        require(slot.shape() == Shape{7} && slot.name().ends_with("/momentum"), "the description");
      },
      {.shard_optimizer_state = true});
}

// Buckets that had begun in the sparse step kept its gradients for the next dense one.
TEST_CASE("a step with sparse gradients between dense ones counts once",
          "[strategy][shard_optimizer_state]") {
  const auto train = [&](Strategy& strategy) {
    const auto scope = strategy.scope();
    const Variable table(ones({7, 3})), other(ones({5}));
    optim::Adagrad optimizer({.learning_rate = 0.1});
    for (const bool sparse : {false, false, true, false, true, true, false})
      strategy.run([&] {
        const float id = float(get_replica_context()->replica_id_in_sync_group());
        const float factor = float(optimizer.iterations()) * 0.7f + id;
        GradientTape tape;
        const Tensor read =
            sparse ? table.sparse_read(Tensor(Shape{2}, std::vector<int64_t>{1, int64_t(id)}))
                   : table.value();
        const Tensor loss = reduce_sum(read) * factor + reduce_sum(other.value()) * (factor + 2);
        optimizer.minimize(loss, {table, other}, tape);
      });
    std::vector<float> all = table.value().to_vector();
    for (float x : other.value().to_vector()) all.push_back(x);
    return all;
  };
  const LogicalDevices devices(2);
  MirroredStrategy mirrored({.num_replicas = 2});
  const std::vector<float> want = train(mirrored);
  for (const bool slices : {false, true})
    run_clean(
        2, 1,
        [&](Strategy& strategy, int) { require(same_bits(train(strategy), want), "the bits"); },
        {.tcp = true, .shard_optimizer_state = slices});
}

TEST_CASE("fit with accumulated gradients gives the same bits with slices",
          "[strategy][shard_optimizer_state]") {
  const bool mixed = GENERATE(false, true);
  const auto train = [&](Strategy& strategy) {
    const auto scope = strategy.scope();
    nn::Sequential net(nn::Dense({.units = 17, .activation = nn::tanh}), nn::Dense({.units = 4}));
    net(zeros({1, 5}));
    for (const Variable& variable : net.trainable_variables())
      variable.assign(Tensor(variable.shape(), waves(variable.shape().num_elements(), 0.3f)));
    const auto optimizer = mixed ? scaled_adam() : kAdam.optimizer();
    train::Model model(net);
    model.compile({.optimizer = *optimizer,
                   .loss = nn::MeanSquaredError(),
                   .gradient_accumulation_steps = 2});
    const auto data = data::Dataset::from_tensor_slices(Tensor(Shape{48, 5}, waves(240, 1)),
                                                        Tensor(Shape{48, 4}, waves(192, 0.5f)))
                          .batch(8);
    model.fit(data, {.epochs = 4, .verbose = train::Verbose::Silent});
    std::vector<float> all;
    for (const Variable& variable : net.trainable_variables())
      for (float x : variable.value().to_vector()) all.push_back(x);
    return all;
  };
  std::vector<float> want;
  for (const bool slices : {false, true})
    run_clean(2, 1,
              [&](Strategy& strategy, int w) {
                auto values = train(strategy);
                if (!slices && w == 0) want = values;
                if (slices) require(same_bits(values, want), "the bits");
              },
              {.shard_optimizer_state = slices});
}

TEST_CASE("what slots in slices cannot serve is refused", "[strategy][shard_optimizer_state]") {
  const ThreadWorkers kind{.shard_optimizer_state = true};
  const Way lamb{"Lamb", maker<optim::Lamb>(optim::LambOptions{})};
  for (const std::string& error : run_workers(
           2, 1, [&](Strategy&strategy, int) { Training(strategy, lamb).train(1); }, kind))
    CHECK_THAT(error, Contains("shard_optimizer_state: the optimizer 'Lamb' takes norms of whole"));
  for (const std::string& error : run_workers(
           2, 1,
           [&](Strategy&strategy, int) {
             Training training(strategy, kAdam);
             training.train(1);
             strategy.run([&] { training.slots()[0].value(); });
           },
           kind))
    CHECK_THAT(error, Contains("is cut into slices") && Contains("read it outside of run()"));
  check_throws<InvalidArgumentError>(
      [] {
        strategy_internal::join_cluster(
            nullptr, {"/cpu:0"}, {.elastic = {.min_workers = 2}, .shard_optimizer_state = true});
      },
      "shard_optimizer_state a worker that is lost");
  check_throws<UnimplementedError>(
      [] { strategy_internal::join_cluster(nullptr, {"/gpu:0"}, {.shard_optimizer_state = true}); },
      "MultiWorkerMirroredStrategy: shard_optimizer_state cuts the slots of replicas on CPUs");
  check_throws<UnimplementedError>(
      [] {
        MirroredStrategy<CpuDevice> strategy(
            MirroredOptions{.devices = {"/gpu:0"}, .shard_optimizer_state = true});
      },
      "MirroredStrategy: shard_optimizer_state cuts");
}

/// The argument: "" or "differ", which sets the option on one worker alone.
DISTRIBUTE_CLUSTER_MAIN(trains_slices) {
  const bool slices = task.argument() != "differ" || task.index() == 0;
  MultiWorkerMirroredStrategy strategy({.num_replicas = 1, .shard_optimizer_state = slices});
  std::string bits;
  for (float value : values_after(strategy, kAdam, 10)) bits += str_cat(value, ' ');
  task.set_result(bits);
}

TEST_CASE("processes with slices train the bits of one process",
          "[strategy][shard_optimizer_state][multiproc]") {
  const int workers = GENERATE(2, 3, 4);
  const std::string transport = GENERATE("auto", "tcp");
  CAPTURE(workers, transport);
  std::string want;
  for (float value : mirrored_values(workers, kAdam, 10)) want += str_cat(value, ' ');
  testing::ProcessCluster cluster(
      {.workers = workers,
       .function = "trains_slices",
       .environment = {{"DISTRIBUTE_TRANSPORT", transport}, {"OMP_NUM_THREADS", "1"}},
       .deadline_seconds = 300});
  for (const auto& outcome : cluster.join()) CHECK(outcome.result.value() == want);
}

TEST_CASE("workers that do not agree on slices are told",
          "[strategy][shard_optimizer_state][multiproc]") {
  testing::ProcessCluster cluster({.workers = 2,
                                   .function = "trains_slices",
                                   .argument = "differ",
                                   .environment = {{"OMP_NUM_THREADS", "1"}},
                                   .deadline_seconds = 300});
  check_throws<FailedPreconditionError>([&] { cluster.join(); },
                                        "MultiWorkerOptions.shard_optimizer_state");
}
