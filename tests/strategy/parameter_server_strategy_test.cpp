#include <distribute/distribute.hpp>
#include <distribute/parameter_server/detail/server_metrics.hpp>
#include <distribute/strategy/detail/parameter_server_extended.hpp>

#include <tests/strategy/server_cluster.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/count_up.hpp>
#include <tests/support/logical_devices.hpp>
#include <tests/support/temporary_directory.hpp>

#include <cmath>
#include <future>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

using namespace distribute;
using Catch::Contains;
using strategy_internal::parameter_server_extended;
using strategy_test::ServerCluster;

namespace {

ClusterSpec spec_of(const std::map<std::string, int>& jobs) {
  ClusterSpec::Jobs all;
  for (const auto& [job, count] : jobs) {
    std::vector<std::string> addresses;
    for (int i = 0; i < count; ++i) addresses.push_back(str_cat(job, i, ":2222"));
    all[job] = JobTasks(addresses);
  }
  return ClusterSpec(all);
}

void construct(const ClusterSpec& spec, const std::string& type, int index) {
  SimpleClusterResolver resolver(spec, {.task_type = type, .task_id = index});
  ParameterServerStrategy<> strategy(resolver);
}

std::string server(int index) { return str_cat("/job:ps/replica:0/task:", index, "/device:CPU:0"); }

}  // namespace

TEST_CASE("clusters that make no sense are refused (case 88)", "[strategy][parameter_server]") {
  check_throws<InvalidArgumentError>([] { construct(ClusterSpec{}, "worker", 0); }, "non-empty");
  check_throws<InvalidArgumentError>(
      [] {
        construct(spec_of({{"some_arbitrary_name", 1}, {"worker", 1}, {"ps", 1}}), "worker", 0);
      },
      "Disallowed task type found in cluster spec");
  check_throws<InvalidArgumentError>(
      [] {
        construct(spec_of({{"chief", 1}, {"worker", 1}, {"ps", 1}}), "foobar", 0);
      },
      "Unrecognized task_type: 'foobar'");
  check_throws<InvalidArgumentError>(
      [] {
        construct(spec_of({{"chief", 2}, {"worker", 1}, {"ps", 1}}), "chief", 0);
      },
      "There must be at most one 'chief' job.");
  check_throws<InvalidArgumentError>(
      [] {
        construct(spec_of({{"chief", 1}, {"ps", 1}}), "chief", 0);
      },
      "There must be at least one worker.");
  check_throws<InvalidArgumentError>(
      [] {
        construct(spec_of({{"chief", 1}, {"worker", 2}}), "chief", 0);
      },
      "There must be at least one ps.");
}

TEST_CASE("synchronous options that cannot end a step are refused (case 109)",
          "[strategy][parameter_server]") {
  const auto make = [](SyncReplicas sync) {
    ParameterServerStrategy<> strategy({.sync_replicas = sync});
  };
  check_throws<InvalidArgumentError>([&] { make({.replicas_to_aggregate = 0}); },
                                     "replicas_to_aggregate");
  check_throws<InvalidArgumentError>(
      [&] { make({.replicas_to_aggregate = 4, .total_num_replicas = 2, .num_init_tokens = 1}); },
      "too few tokens");
}

TEST_CASE("variables go round the servers, and the strategy beats device scopes (case 83)",
          "[strategy][parameter_server]") {
  ServerCluster cluster(1, 3, true);
  ParameterServerStrategy strategy(cluster.resolver("chief", 0));
  const Variable outside(Tensor(1.0f));
  const auto scope = strategy.scope();
  const Variable a(Tensor(1.0f)), b(Tensor(2.0f)), c(Tensor(3.0f)), d(Tensor(4.0f));
  CHECK(a.device() == server(0));
  CHECK(b.device() == server(1));
  CHECK(c.device() == server(2));
  CHECK(d.device() == server(0));
  CHECK(outside.device() == "/job:localhost/replica:0/task:0/device:CPU:0");
  const auto pinned = device("/job:ps/task:0");
  const Variable e(Tensor(5.0f));
  CHECK(e.device() == server(1));
  const Variable colocated(Tensor(0.0f), {.colocate_with = c.shared_impl()});
  CHECK(colocated.device() == server(2));
  const Variable f(Tensor(6.0f));
  CHECK(f.device() == server(2));  // colocated ones do not count
  CHECK(strategy.extended().parameter_devices() ==
        std::vector<std::string>{server(0), server(1), server(2)});
  CHECK(strategy.extended().worker_devices() ==
        std::vector<std::string>{"/job:chief/replica:0/task:0/device:CPU:0"});
  CHECK(strategy.extended().variable_created_in_scope(a));
  CHECK_FALSE(strategy.extended().variable_created_in_scope(outside));
  check_throws<InvalidArgumentError>(
      [&] { Variable(Tensor(0.0f), {.colocate_with = outside.shared_impl()}); },
      "created elsewhere");
  check_throws<UnimplementedError>(
      [&] {
        Variable(Tensor(0.0f),
                 {.name = "w", .constraint = [](const Tensor& value) { return value; }});
      },
      "variable 'w': a parameter server cannot call a constraint");
}

// TensorFlow 2.21: a, b, c on ps 0, 1, 2; two made with colocate_vars_with(a) on ps 0; the next one
// on ps 0.
TEST_CASE("variables made with colocate_vars_with are on the server of the other one",
          "[strategy][parameter_server]") {
  ServerCluster cluster(1, 3, true);
  ParameterServerStrategy strategy(cluster.resolver("chief", 0),
                                   {.variable_partitioner = {.num_shards = 2}});
  const auto scope = strategy.scope();
  const Variable a(Tensor(1.0)), b(Tensor(2.0)), c(Tensor(3.0));
  {
    const auto beside = strategy.extended().colocate_vars_with(a);
    CHECK(Variable(Tensor(4.0)).device() == server(0));
    CHECK(Variable(ones({4})).device() == server(0));  // whole
  }
  CHECK(Variable(Tensor(6.0)).device() == server(0));
  const Variable cut(ones({4}), {.name = "cut"});
  REQUIRE(cut.impl().parts().size() == 2);
  CHECK_THROWS_WITH(strategy.extended().colocate_vars_with(cut), Contains("give one of them"));
  const PerReplica<Tensor> value({Tensor(1.0)});  // TensorFlow 2.21: stays with the chief
  CHECK(strategy.extended().reduce_to("SUM", value, cut).size() == 2);
  CHECK_NOTHROW(strategy.extended().reduce_to("SUM", value, "/job:chief/task:0/cpu:0"));
  CHECK_THROWS_AS(strategy.extended().reduce_to("SUM", value, "/job:ps/task:0/cpu:0"),
                  InvalidArgumentError);
  const auto beside = strategy.extended().colocate_vars_with(cut.impl().parts()[1]);
  CHECK(Variable(Tensor(7.0)).device() == cut.impl().parts()[1].device());
}

TEST_CASE("a device setter heeds scopes, as in TensorFlow 1", "[strategy][parameter_server]") {
  ServerCluster cluster(1, 2);
  ParameterServerStrategy strategy(
      cluster.resolver("worker", 0),
      {.device_setter = train::replica_device_setter({.cluster = cluster.spec()})});
  const auto scope = strategy.scope();
  const Variable a(Tensor(1.0f)), b(Tensor(2.0f));
  CHECK(a.device() == server(0));
  CHECK(b.device() == server(1));
  {
    const auto pinned = device("/job:ps/task:1");
    CHECK(Variable(Tensor(5.0f)).device() == server(1));
  }
  const auto elsewhere = device("/job:worker/task:0");
  check_throws<InvalidArgumentError>([] { Variable(Tensor(5.0f)); }, "on a task of job ps");
}

TEST_CASE("variables are read and written on their servers", "[strategy][parameter_server]") {
  ServerCluster cluster(1, 2);
  ParameterServerStrategy strategy(cluster.resolver("worker", 0));
  const auto scope = strategy.scope();
  const Variable v(count_up({2, 3}));
  CHECK(v.shape() == Shape{2, 3});
  v.assign_add(ones({2, 3}));
  v.assign_sub(fill({2, 3}, 3.0));
  CHECK(v.value().to_vector() == count_up({2, 3}, -2).to_vector());
  v.assign(count_up({2, 3}, 5));
  CHECK(v.value().to_vector() == count_up({2, 3}, 5).to_vector());
  const Variable n(Tensor(int64_t{7}), {.trainable = false});
  n.assign_sub(Tensor(int64_t{9}));
  CHECK(n.value().item<int64_t>() == -2);
  check_throws<InvalidArgumentError>([&] { v.assign(ones({3})); }, "[2, 3]");
  MirroredStrategy<> other;
  const auto leave = [&] {
    std::thread([&] {
      const auto inner = other.scope();
      check_throws<FailedPreconditionError>([&] { v.assign(ones({2, 3})); }, "Mixing");
    }).join();
  };
  leave();
}

TEST_CASE("a server's program may call its model before it joins", "[strategy][parameter_server]") {
  launch::ReservedPort own, other;
  const ClusterSpec cluster({{"worker", {str_cat("127.0.0.1:", other.number())}},
                             {"ps", {str_cat("127.0.0.1:", own.number())}}});
  SimpleClusterResolver resolver(cluster, {.task_type = "ps", .task_id = 0});
  ParameterServerStrategy<> strategy(resolver);
  const auto scope = strategy.scope();
  nn::Dense layer({.units = 2, .kernel_initializer = nn::initializers::constant(3)});
  CHECK(layer(ones({1, 2})).to_vector() == std::vector<float>{6, 6});
  Variable counter(Tensor(1.0f));
  counter.assign_add(Tensor(2.0f));
  CHECK(counter.value().item<float>() == 3);
  const Variable step(Tensor(int64_t{16'777'217}));  // more than float32 has digits for
  CHECK(step.value().item<int64_t>() == 16'777'217);
  nn::BatchNormalization norm;
  norm(ones({4, 2}), {.training = true});  // assigns its averages
}

// As programs of TensorFlow 1 begin: server = tf.train.Server(cluster, job_name, task_index).
TEST_CASE("a strategy and a classic server of one process share the task's port",
          "[strategy][parameter_server]") {
  const bool server_first = GENERATE(true, false);
  ServerCluster cluster(1, 1);
  const auto make_server = [&] {
    return std::make_unique<Server>(cluster.spec(),
                                    ServerOptions{.job_name = "worker", .task_index = 0});
  };
  std::unique_ptr<Server> server = server_first ? make_server() : nullptr;
  ParameterServerStrategy<> strategy(cluster.resolver("worker", 0));
  if (!server) server = make_server();
  const auto scope = strategy.scope();
  Variable weights(Tensor(2.0f));
  weights.assign_add(Tensor(1.0f));
  CHECK(weights.value().item<float>() == 3);
}

TEST_CASE("variables of one name are told apart", "[strategy][parameter_server]") {
  ServerCluster cluster(1, 2);
  ParameterServerStrategy strategy(cluster.resolver("worker", 0));
  const auto scope = strategy.scope();
  const Variable a(Tensor(1.0f), {.name = "w"}), b(Tensor(2.0f), {.name = "w"});
  CHECK(a.value().item<float>() == 1);
  CHECK(b.value().item<float>() == 2);
  CHECK(b.name() == "w");
}

TEST_CASE("large variables are cut over the servers (case 84)", "[strategy][parameter_server]") {
  ServerCluster cluster(1, 2);
  ParameterServerStrategy strategy(
      cluster.resolver("worker", 0),
      {.variable_partitioner = partitioners::FixedShardsPartitioner(2)});
  const auto scope = strategy.scope();
  const Variable v(count_up({5, 2}), {.name = "v"});
  const ShardedVariable sharded(v);
  REQUIRE(sharded.size() == 2);
  CHECK(sharded.variables()[0].shape() == Shape{3, 2});
  CHECK(sharded.variables()[1].shape() == Shape{2, 2});
  CHECK(sharded.variables()[0].device() == server(0));
  CHECK(sharded.variables()[1].device() == server(1));
  CHECK(sharded.variables()[0].name() == "v/part_0");
  CHECK(sharded.variables()[1].name() == "v/part_1");
  CHECK(v.name() == "v");
  CHECK(v.value().to_vector() == count_up({5, 2}).to_vector());
  CHECK(strategy.extended().variable_created_in_scope(v));
  // Case 85: not beyond the rows, not for one, not where it must be with another.
  CHECK(ShardedVariable(Variable(ones({2, 2}))).size() == 2);
  CHECK(Variable(ones({1, 2})).impl().parts().empty());
  CHECK(Variable(Tensor(1.0f)).impl().parts().empty());
  const Variable slot(ones({5, 2}), {.colocate_with = sharded.variables()[1].shared_impl()});
  CHECK(slot.impl().parts().empty());
  CHECK(slot.device() == server(1));
}

TEST_CASE("partitioners that make no sense are errors (case 86)", "[strategy][parameter_server]") {
  ServerCluster cluster(1, 2);
  std::vector<int64_t> answer;
  ParameterServerStrategy strategy(
      cluster.resolver("worker", 0),
      {.variable_partitioner = {.partitioner = [&](const Shape&, DType) { return answer; }}});
  const auto scope = strategy.scope();
  for (const auto& bad : {std::vector<int64_t>{}, {0, 1, 1}, {2, 2, 1}}) {
    answer = bad;
    check_throws<InvalidArgumentError>([] { Variable(ones({4, 4, 3})); }, "variable_partitioner");
  }
}

TEST_CASE("initializers make shards one by one, with the values of the whole",
          "[strategy][parameter_server]") {
  ServerCluster cluster(1, 2);
  ParameterServerStrategy strategy(cluster.resolver("worker", 0),
                                   {.variable_partitioner = {.num_shards = 3}});
  const auto made = GENERATE(0, 1, 2, 3);
  const nn::Initializer initializer[] = {
      nn::initializers::glorot_uniform(), nn::initializers::random_normal(),
      nn::initializers::he_normal(),
      nn::Initializer([](const Shape& shape, uint64_t) { return count_up(shape); })};
  random::set_seed(3);
  nn::Dense whole({.units = 7, .kernel_initializer = initializer[made]});
  whole.ensure_built({1, 11});
  const auto scope = strategy.scope();
  random::set_seed(3);
  nn::Dense cut({.units = 7, .kernel_initializer = initializer[made]});
  cut.ensure_built({1, 11});
  REQUIRE(cut.kernel().impl().parts().size() == 3);
  CHECK(cut.kernel().value().to_vector() == whole.kernel().value().to_vector());
  CHECK(cut.trainable_variables().size() == 3 + 3);
  CHECK(cut.count_params() == whole.count_params());
}

namespace {

template <typename Optimizer>
struct NetOf {
  nn::Sequential model{nn::Dense({.units = 12, .activation = nn::relu}), nn::Dense({.units = 3})};
  Optimizer optimizer{{.learning_rate = 0.01f}};

  /// One step on the rows of `batch`, numbers 0, 1, ...
  int64_t step(int64_t batch, int64_t rows = 12) {
    std::vector<float> x(size_t(rows * 5));
    std::vector<int64_t> y(static_cast<size_t>(rows));
    for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(float(i) + float(batch) * 60.0f);
    for (size_t i = 0; i < y.size(); ++i) y[i] = (int64_t(i) + batch) % 3;
    GradientTape tape;
    const Tensor logits = model(Tensor({rows, 5}, x), {.training = true});
    const Tensor losses =
        nn::sparse_categorical_crossentropy(Tensor({rows}, y), logits, {.from_logits = true});
    last_loss = reduce_mean(losses);
    return optimizer.minimize(last_loss, model.trainable_variables(), tape);
  }
  std::vector<float> weights() const {
    std::vector<float> all;
    for (const Variable& variable : model.variables())
      for (float w : variable.value().to_vector()) all.push_back(w);
    return all;
  }
  Tensor last_loss;
};
using Net = NetOf<optim::Adam>;

std::vector<float> train_alone(int steps) {
  random::set_seed(4);
  Net net;
  for (int i = 0; i < steps; ++i) net.step(i);
  return net.weights();
}

}  // namespace

TEST_CASE("one worker trains the bits of a process without servers",
          "[strategy][parameter_server]") {
  const int64_t shards = GENERATE(1, 2, 3);
  CAPTURE(shards);
  const std::vector<float> want = train_alone(10);
  ServerCluster cluster(1, 2);
  ParameterServerStrategy strategy(cluster.resolver("worker", 0),
                                   {.variable_partitioner = {.num_shards = shards}});
  const auto scope = strategy.scope();
  random::set_seed(4);
  Net net;
  for (int i = 0; i < 10; ++i) {
    const auto steps = strategy.run([&] { return net.step(i); });
    CHECK(steps[0] == i + 1);
  }
  CHECK(net.weights() == want);
  CHECK(net.optimizer.iterations() == 10);
  for (const auto& slot : net.optimizer.slot_variables())  // slots are where their variable is
    CHECK(slot.variable.device() == slot.original.device());
}

TEST_CASE("averages on servers move in every step, also of weights without a gradient",
          "[strategy][parameter_server]") {
  const auto trained = [] {
    const Variable v(zeros({6})), rests(Tensor({6}, std::vector<float>{1, 2, 3, 4, 5, 6}));
    optim::SGD sgd({.learning_rate = 1.0f, .use_ema = true, .ema_momentum = 0.5});
    sgd.build({v, rests});
    for (int i = 0; i < 5; ++i)
      get_strategy().run([&] {
        sgd.apply_gradients({ones({6}), i % 2 ? Tensor() : ones({6})}, {v, rests});
      });
    std::vector<float> averages;  // of v, then of the other, whatever the parts
    for (const auto& slot : sgd.slot_variables())
      for (const float x : slot.variable.value().to_vector()) averages.push_back(x);
    return averages;
  };
  std::vector<float> want(6, -4.0625f);  // as Keras 3.15 has them
  want.insert(want.end(), {-1.375f, -0.375f, 0.625f, 1.625f, 2.625f, 3.625f});
  CHECK(trained() == want);
  const int64_t shards = GENERATE(1, 2, 3);
  CAPTURE(shards);
  ServerCluster cluster(1, 2);
  ParameterServerStrategy strategy(cluster.resolver("worker", 0),
                                   {.variable_partitioner = {.num_shards = shards}});
  const auto scope = strategy.scope();
  CHECK(trained() == want);
}

TEST_CASE("servers leave a batch that is not finite out of an accumulation",
          "[strategy][parameter_server]") {
  const auto trained = [](bool with_bad) {
    nn::Dense dense({.units = 1, .kernel_initializer = nn::initializers::ones()});
    optim::LossScaleOptimizer optimizer(
        std::make_unique<optim::SGD>(
            optim::SGDOptions{.learning_rate = 0.125, .use_ema = true, .ema_momentum = 0.5}),
        {.initial_scale = 8, .dynamic_growth_steps = 2});
    train::Model model(dense);
    model.compile({.optimizer = optimizer, .loss = "mae", .gradient_accumulation_steps = 3});
    std::vector<float> x;
    for (int i = 1; i <= 12; ++i) x.push_back(float(i) / 8);
    for (const size_t row : {2, 8})
      if (with_bad) x[row] = std::numeric_limits<float>::infinity();
    model.fit(train::ArrayData{Tensor({12, 1}, x), Tensor({12, 1}, std::vector<float>(12, 16))},
              {.epochs = 2, .verbose = train::Verbose::Silent},
              {.batch_size = 2, .shuffle = false});
    CHECK(optimizer.loss_scale() == (with_bad ? 4 : 512));  // as in Keras 3.15
    CHECK(optimizer.iterations() == (with_bad ? 2 : 4));
    return train::value_to_save(dense.kernel()).item<float>();
  };
  const float want = 1.159831f;  // as Keras 3.15 has it
  CHECK(trained(true) == Approx(want));
  const float whole = trained(false);
  ServerCluster cluster(1, 2);
  ParameterServerStrategy strategy(cluster.resolver("worker", 0));
  const auto scope = strategy.scope();
  CHECK(trained(true) == Approx(want));
  CHECK(trained(false) == Approx(whole));
}

TEST_CASE("servers step each variable at its own rate", "[strategy][parameter_server]") {
  const auto trained = [] {
    random::set_seed(4);
    NetOf<optim::Lamb> net;
    net.optimizer.multiply_learning_rate({"bias"}, 0.5);
    for (int i = 0; i < 4; ++i) get_strategy().run([&] { return net.step(i); });
    return net.weights();
  };
  const std::vector<float> want = trained();
  ServerCluster cluster(1, 2);
  {
    ParameterServerStrategy strategy(cluster.resolver("worker", 0));
    const auto scope = strategy.scope();
    CHECK(trained() == want);
  }
  ParameterServerStrategy cutting({.variable_partitioner = {.num_shards = 2}, .num_replicas = 1});
  const auto scope = cutting.scope();
  check_throws<UnimplementedError>(trained, "is cut into parts: use no variable_partitioner");
}

TEST_CASE("local replicas of a worker are summed before they are sent",
          "[strategy][parameter_server]") {
  const LogicalDevices devices(3);
  ServerCluster cluster(1, 2);
  ParameterServerStrategy strategy(cluster.resolver("worker", 0), {.num_replicas = 3});
  CHECK(strategy.num_replicas_in_sync() == 3);
  const auto scope = strategy.scope();
  const Variable v(zeros({2}));
  optim::SGD sgd({.learning_rate = 1.0f});
  const auto steps = strategy.run([&] {
    const float mine = float(get_replica_context()->replica_id_in_sync_group() + 1);
    return sgd.apply_gradients({fill({2}, mine)}, {v});
  });
  CHECK(steps.values() == std::vector<int64_t>{1, 1, 1});
  CHECK(v.value().to_vector() == std::vector<float>{-6, -6});
  // Case 89: replicas may not write what says nothing of aggregation.
  check_throws<InvalidArgumentError>([&] { strategy.run([&] { v.assign(ones({2})); }); },
                                     "specify an aggregation method");
  const Variable sum(Tensor(0.0f), {.aggregation = VariableAggregation::Sum});
  strategy.run(
      [&] { sum.assign_add(Tensor(float(get_replica_context()->replica_id_in_sync_group()))); });
  CHECK(sum.value().item<float>() == 3);
}

TEST_CASE("three workers share variables and number their steps", "[strategy][parameter_server]") {
  ServerCluster cluster(3, 2);
  constexpr int kSteps = 20;
  const auto work = [&](int index) {
    ParameterServerStrategy strategy(cluster.resolver("worker", index));
    const auto scope = strategy.scope();
    Net net;
    std::vector<int64_t> numbers;
    for (int i = 0; i < kSteps; ++i)
      numbers.push_back(strategy.run([&] { return net.step(i); })[0]);
    return numbers;
  };
  std::vector<ClusterResolver*> resolvers;
  std::vector<std::future<std::vector<int64_t>>> workers;
  random::set_seed(4);
  for (int i = 2; i >= 0; --i) workers.push_back(std::async(std::launch::async, work, i));
  std::map<int64_t, int> seen;
  for (auto& worker : workers)
    for (const int64_t number : worker.get()) ++seen[number];
  CHECK(seen.size() == 3 * kSteps);
  CHECK(seen.begin()->first == 1);
  CHECK(seen.rbegin()->first == 3 * kSteps);
}

TEST_CASE("a step sees one value of each variable, and what it wrote itself",
          "[strategy][parameter_server]") {
  ServerCluster cluster(2, 1);
  ParameterServerStrategy strategy(cluster.resolver("worker", 0));
  ParameterServerStrategy second(cluster.resolver("worker", 1));
  const auto make = [](Strategy& of) {
    const auto scope = of.scope();
    return Variable(Tensor(1.0f), {.name = "v", .aggregation = VariableAggregation::Sum});
  };
  const Variable v = make(strategy), same = make(second);
  CHECK(same.value().item<float>() == 1);
  strategy.run([&] {
    CHECK(v.value().item<float>() == 1);
    std::thread([&] { same.assign(Tensor(2.0f)); }).join();
    CHECK(v.value().item<float>() == 1);
    v.assign_add(Tensor(10.0f));
    CHECK(v.value().item<float>() == 12);
  });
  CHECK(v.value().item<float>() == 12);
  {
    const CacheVariableReads cached;
    CHECK(v.value().item<float>() == 12);
    v.assign(Tensor(5.0f));
    CHECK(v.value().item<float>() == 12);  // also across writes
    check_throws<FailedPreconditionError>([] { const CacheVariableReads again; }, "nested");
  }
  CHECK(v.value().item<float>() == 5);
}

TEST_CASE("embeddings fetch their rows alone, and update no others",
          "[strategy][parameter_server]") {
  const int64_t shards = GENERATE(1, 2);
  ServerCluster cluster(1, 2);
  ParameterServerStrategy strategy(cluster.resolver("worker", 0),
                                   {.variable_partitioner = {.num_shards = shards}});
  const auto scope = strategy.scope();
  random::set_seed(8);
  nn::Embedding table({.input_dim = 100, .output_dim = 4});
  optim::SGD sgd({.learning_rate = 1.0f});
  const Tensor ids({5}, std::vector<int64_t>{99, 3, 3, 50, 0});
  table.ensure_built({5});
  const std::vector<float> before = table.embeddings().value().to_vector();
  strategy.run([&] {
    GradientTape tape;
    sgd.minimize(reduce_sum(table(ids)), table.trainable_variables(), tape);
  });
  const std::vector<float> after = table.embeddings().value().to_vector();
  std::map<int64_t, float> change{{0, 1}, {3, 2}, {50, 1}, {99, 1}};
  for (size_t i = 0; i < after.size(); ++i)
    CHECK(after[i] == Approx(before[i] - change[int64_t(i / 4)]).margin(1e-6));
}

namespace {

int64_t requests(const char* name) {
  return parameter_server::server_metrics().requests.get_cell({name}).value();
}

/// A table that is also the head, and a layer with LoRA between.
struct TiedModel {
  nn::Embedding table{{.input_dim = 100, .output_dim = 8}};
  nn::Dense query{{.units = 8}};

  Tensor operator()(const Tensor& ids) {
    return matmul(query(table(ids)), table.merged_weight(), {.transpose_b = true});
  }
  std::vector<Variable> trained() const { return {query.lora_a(), query.lora_b()}; }
};

}  // namespace

TEST_CASE("of a model with LoRA frozen weights come once, and its matrices travel",
          "[strategy][parameter_server][lora]") {
  ServerCluster cluster(1, 2);
  ParameterServerStrategy strategy(cluster.resolver("worker", 0));
  const auto scope = strategy.scope();
  random::set_seed(8);
  TiedModel model;
  const Tensor ids({5}, std::vector<int64_t>{99, 3, 3, 50, 0});
  model.table.ensure_built({5});
  model.query.ensure_built({5, 8});
  model.query.enable_lora(2);
  model.table.set_trainable(false);
  const Variable table = model.table.embeddings(), kernel = model.query.lora_weight();
  optim::Adam adam({.learning_rate = 0.1f});
  std::set<const void*> tables, kernels, matrices;
  std::vector<int64_t> gathers;
  for (int step = 0; step < 4; ++step) {
    const int64_t gathered = requests("gather");
    strategy.run([&] {
      GradientTape tape;
      const Tensor loss = reduce_mean(square(model(ids) - 1.0f));
      tables.insert(table.value().array().bytes());
      kernels.insert(kernel.value().array().bytes());
      matrices.insert(model.query.lora_b().value().array().bytes());
      adam.minimize(loss, model.trained(), tape);
    });
    gathers.push_back(requests("gather") - gathered);
  }
  CHECK(tables.size() == 1);  // the server answers that its value has not changed
  CHECK(kernels.size() == 1);
  CHECK(matrices.size() > 1);
  CHECK(gathers == std::vector<int64_t>{1, 0, 0, 0});  // later steps know that they read it whole
}

TEST_CASE("functions of a coordinator run, reduce and create", "[strategy][parameter_server]") {
  const std::vector<float> want = train_alone(2);
  ServerCluster cluster(1, 2, true);
  ParameterServerStrategy chief(cluster.resolver("chief", 0));
  ParameterServerStrategy strategy(cluster.resolver("worker", 0));
  random::set_seed(4);
  const auto scope = strategy.scope();
  Net net;  // built by the first function
  std::thread other([&] {
    const auto chiefs = chief.scope();
    Net twin;  // the chief's: learning rate and iterations
  });
  other.join();
  auto& extended = *parameter_server_extended(strategy);
  std::vector<int64_t> numbers;
  extended.run_closure([&] { numbers.push_back(net.step(0)); });
  extended.run_closure([&] {
    const auto steps = strategy.run([&] { return Tensor(float(net.step(1))); });
    numbers.push_back(int64_t(strategy.reduce(ReduceOp::Sum, steps).item<float>()));
  });
  CHECK(numbers == std::vector<int64_t>{1, 2});
  CHECK(net.weights() == want);
  CHECK_FALSE(extended.should_checkpoint());
  CHECK(parameter_server_extended(chief)->should_checkpoint());
}

TEST_CASE("without a cluster everything is in this process", "[strategy][parameter_server]") {
  const int64_t shards = GENERATE(1, 2);
  const LogicalDevices devices(2);
  const std::vector<float> want = train_alone(10);
  ParameterServerStrategy strategy(
      {.variable_partitioner = {.num_shards = shards}, .num_replicas = 1});
  CHECK(strategy.extended().parameter_devices() ==
        std::vector<std::string>{"/job:localhost/replica:0/task:0/device:CPU:0"});
  CHECK(strategy.extended().should_checkpoint());
  const auto scope = strategy.scope();
  random::set_seed(4);
  Net net;
  for (int i = 0; i < 10; ++i) CHECK(strategy.run([&] { return net.step(i); })[0] == i + 1);
  CHECK(net.weights() == want);
}

TEST_CASE("the coordinator is warned of work of its own (case 89)",
          "[strategy][parameter_server]") {
  ServerCluster cluster(1, 1, true);
  ParameterServerStrategy strategy(cluster.resolver("chief", 0));
  parameter_server_extended(strategy)->set_coordinated();
  CHECK(strategy.run([] { return 3; })[0] == 3);
}

TEST_CASE("a coordinator does not save what only its workers have made",
          "[strategy][parameter_server]") {
  ServerCluster cluster(1, 1, true);
  ParameterServerStrategy strategy(cluster.resolver("chief", 0));
  const auto scope = strategy.scope();
  parameter_server_extended(strategy)->set_coordinated();
  nn::Sequential net(nn::Flatten(), nn::Dense({.units = 2}));
  optim::Adam adam;
  optim::SGD sgd;
  const TemporaryDirectory directory;
  const auto save = [&](const Trackable& object) {
    train::Checkpoint checkpoint(train::CheckpointParts{{"part", &object}});
    return checkpoint.write(directory / "ckpt");
  };
  const std::string message = "not all variables of 'part' are known to the coordinator";
  check_throws<FailedPreconditionError>([&] { save(net); }, message);
  check_throws<FailedPreconditionError>([&] { save(adam); }, message);
  net(zeros({1, 3}));
  adam.build(net.trainable_variables());
  for (const Trackable* complete : {static_cast<Trackable*>(&net), static_cast<Trackable*>(&adam),
                                    static_cast<Trackable*>(&sgd)})
    CHECK(save(*complete) == directory / "ckpt");
}

TEST_CASE("a variable that only one worker creates is an error with its task and name",
          "[strategy][parameter_server]") {
  ServerCluster cluster(3, 2);
  ParameterServerStrategy chief(cluster.resolver("worker", 0));
  const auto both = [](Strategy& strategy) {
    const auto scope = strategy.scope();
    return Variable(fill({2}, 3.0f), {.name = "both"});
  };
  both(chief);
  ParameterServerStrategy other(cluster.resolver("worker", 1));
  CHECK(both(other).value().to_vector() == std::vector<float>{3, 3});
  ::setenv("DISTRIBUTE_STARTUP_TIMEOUT", "2", 1);
  ParameterServerStrategy strategy(cluster.resolver("worker", 2));
  ::unsetenv("DISTRIBUTE_STARTUP_TIMEOUT");
  const auto scope = strategy.scope();
  CHECK(both(strategy).value().to_vector() == std::vector<float>{3, 3});
  const Variable own(zeros({3}), {.name = "own"});
  check_throws<DeadlineExceededError>([&] { own.value(); },
                                      "worker 2 has waited 2 s for variable 'own' [3] float32, "
                                      "which no other task has created");
  check_throws<DeadlineExceededError>(
      [&] { parameter_server_extended(strategy)->wait_until_initialized(); },
      "worker 2 has waited 2 s for the chief, worker 0 (127.0.0.1:");
}
