// One copy of each variable and replicas on GPUs: the same training as on CPUs, with few copies.
#include <distribute/base/error.hpp>
#include <distribute/device/detail/cuda_graph.hpp>
#include <distribute/nn/metrics.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/optim/adam.hpp>
#include <distribute/optim/sgd.hpp>
#include <distribute/strategy/central_storage_strategy.hpp>
#include <distribute/strategy/parameter_server_strategy.hpp>

#include <tests/strategy/gpu_training.hpp>
#include <tests/support/logical_devices.hpp>

using namespace distribute;
using namespace strategy_test;
using distribute::testing::ContractGpu;
using distribute::testing::FakeCuda;

namespace {

const MakeOptimizer kMakers[] = {
    [] {
      return std::make_unique<optim::SGD>(optim::SGDOptions{
          .learning_rate = 0.05, .momentum = 0.9, .nesterov = true, .weight_decay = 0.01});
    },
    [] {
      return std::make_unique<optim::Adam>(
          optim::AdamOptions{.learning_rate = 0.01, .use_ema = true});
    },
    [] {
      return std::make_unique<optim::SGD>(
          optim::SGDOptions{.learning_rate = 0.05, .momentum = 0.9, .global_clipnorm = 1.0});
    },
};

std::vector<Tensor> train_on_cpus(int replicas, const MakeOptimizer& make) {
  const LogicalDevices devices(replicas);
  std::vector<std::string> names;
  for (int i = 0; i < replicas; ++i) names.push_back(str_cat("/cpu:", i));
  CentralStorageStrategy strategy({.compute_devices = names});
  return train_images(strategy, make, 3);
}

std::vector<std::string> gpu_names(int count) {
  return strategy_internal::devices_of(GpuDevice(), count);
}

Device gpu(int index) { return {DeviceType::Gpu, index}; }

}  // namespace

TEST_CASE("GPUs with central variables train as CPUs do", "[strategy][central][gpu_contract]") {
  const MakeOptimizer& make = kMakers[GENERATE(0, 1, 2)];
  for (const int replicas : {3, 2, 1}) {
    INFO(replicas << " replicas");
    const auto cpu = train_on_cpus(replicas, make);
    const ContractGpu contract;
    // One GPU keeps the variables itself unless the options say no.
    for (const char* home : {"", "/cpu:0", "/gpu:0"}) {
      INFO("variables on '" << home << "'");
      CentralStorageStrategy strategy(
          {.compute_devices = gpu_names(replicas), .parameter_device = home});
      const std::string where = std::string(home) == "/cpu:0" || (replicas > 1 && !*home)
                                    ? "/device:CPU:0"
                                    : "/device:GPU:0";
      CHECK(strategy.extended().parameter_devices() ==
            std::vector<std::string>{"/job:localhost/replica:0/task:0" + where});
      check_close_results(cpu, train_images(strategy, make, 3));
    }
  }
}

TEST_CASE("parameter servers without a cluster keep variables on the host of the GPUs",
          "[strategy][central][gpu_contract]") {
  const auto cpu = train_on_cpus(2, kMakers[0]);
  const ContractGpu contract;
  ParameterServerStrategy<GpuDevice> strategy({.num_replicas = 2});
  check_close_results(cpu, train_images(strategy, kMakers[0], 3));
  const auto scope = strategy.scope();
  CHECK(Variable(ones({2})).device() == "/job:localhost/replica:0/task:0/device:CPU:0");
}

TEST_CASE("every visible GPU computes by default", "[strategy][central][fake_gpu]") {
  const FakeCuda fake({.gpus = 3});
  CentralStorageStrategy strategy;
  CHECK(strategy.num_replicas_in_sync() == 3);
  CHECK(strategy.extended().parameter_devices() ==
        std::vector<std::string>{"/job:localhost/replica:0/task:0/device:CPU:0"});
  const auto scope = strategy.scope();
  const Variable v(Tensor{1.0f, 2.0f});
  CHECK(v.value().device() == Device{});
  const auto values = strategy.run([&] { return v.value(); });
  for (int i = 0; i < 3; ++i) CHECK(values[size_t(i)].device() == gpu(i));
  CHECK(values[2].to_vector() == std::vector<float>{1, 2});
}

TEST_CASE("without a GPU a GPU device is refused", "[strategy][central]") {
  if (!physical_gpus().empty()) return;
  CHECK_THROWS_AS(CentralStorageStrategy({.compute_devices = {"/gpu:0"}}), InvalidArgumentError);
  CHECK_THROWS_AS(CentralStorageStrategy({.parameter_device = "/gpu:0"}), InvalidArgumentError);
  CHECK_THROWS_AS(ParameterServerStrategy<GpuDevice>(), FailedPreconditionError);
  CHECK(CentralStorageStrategy().extended().worker_devices() ==
        std::vector<std::string>{"/job:localhost/replica:0/task:0/device:CPU:0"});
}

TEST_CASE("a step in which the host has part is not recorded", "[strategy][central][fake_gpu]") {
  const FakeCuda fake;
  CentralStorageStrategy strategy({.compute_devices = gpu_names(1), .parameter_device = "/cpu:0"});
  const auto scope = strategy.scope();
  const Variable v(Tensor{1.0f, 2.0f});
  strategy.run([&] {
    const auto record = [&] { CudaGraph::capture(gpu(0), [&] { v.value(); }); };
    CHECK_THROWS_WITH(record(), Catch::Matchers::Contains("the host has part in it"));
    CHECK(v.value().to_vector() == std::vector<float>{1, 2});
  });
}

TEST_CASE("a step copies each value once to each GPU, and its gradients with one wait",
          "[strategy][central][fake_gpu]") {
  FakeCuda fake;
  const int replicas = GENERATE(1, 2, 3);
  CentralStorageStrategy strategy(
      {.compute_devices = gpu_names(replicas), .parameter_device = "/cpu:0"});
  const auto scope = strategy.scope();
  nn::Sequential model(nn::Dense({.units = 6}), nn::Dense({.units = 2}));
  optim::SGD optimizer({.learning_rate = 0.1});
  std::vector<Tensor> xs;
  for (int r = 0; r < replicas; ++r) xs.push_back(contract_numbers({4, 3}).to(gpu(r)));
  const auto forward = [&](const Tensor& x) { return reduce_sum(square(model(x) + model(x))); };
  const auto step = [&](const Tensor& x) {
    GradientTape tape;
    const Tensor loss = forward(x);
    const auto variables = model.trainable_variables();
    optimizer.apply_gradients(tape.gradient(loss, variables), variables);
  };
  constexpr int kVariables = 4;
  fake.forget_calls();
  strategy.run(step, PerReplica<Tensor>(xs));
  int page_locked = fake.count("cuMemHostAlloc");
  for (int i = 0; i < 4; ++i) {
    fake.forget_calls();
    strategy.run(step, PerReplica<Tensor>(xs));
    CHECK(fake.count("cuMemcpyHtoDAsync") == kVariables * replicas);
    CHECK(fake.count("cuMemcpyDtoHAsync") == kVariables * replicas);
    CHECK(fake.count("cuStreamSynchronize") == replicas);
    CHECK(fake.count("cuMemcpyPeerAsync") == 0);
    CHECK(fake.count("cuMemcpyDtoDAsync") == 0);
    page_locked += fake.count("cuMemHostAlloc");
    CHECK(fake.count("cuMemAlloc") == 0);
    CHECK(fake.count("launch update") == 0);
  }
  CHECK(page_locked <= kVariables + replicas);  // used again: what one step may hold at a time
  strategy.run(forward, PerReplica<Tensor>(xs));
  fake.forget_calls();
  strategy.run(forward, PerReplica<Tensor>(xs));  // nothing has changed since
  CHECK(fake.count("cuMemcpyHtoDAsync") == 0);
  CHECK(fake.count("cuStreamSynchronize") == 0);
  model.trainable_variables()[0].assign(ones({3, 6}));
  strategy.run(forward, PerReplica<Tensor>(xs));
  CHECK(fake.count("cuMemcpyHtoDAsync") == replicas);
}

TEST_CASE("the host sees what replicas on GPUs have written, and they what it has",
          "[strategy][central][gpu_contract]") {
  const ContractGpu contract;
  CentralStorageStrategy strategy({.compute_devices = gpu_names(3)});
  const auto scope = strategy.scope();
  const auto make = [](VariableAggregation aggregation) {
    return Variable(Tensor{1.0f, 2.0f}, {.aggregation = aggregation});
  };
  const Variable sum = make(VariableAggregation::Sum), mean = make(VariableAggregation::Mean),
                 first = make(VariableAggregation::OnlyFirstReplica),
                 none = make(VariableAggregation::None);
  const Variable number(Tensor(1.0f), {.aggregation = VariableAggregation::Sum});
  const auto mine = [] {
    const float id = float(get_replica_context()->replica_id_in_sync_group() + 1);
    return fill({2}, id).to(current_device());
  };
  const auto read = strategy.run([&] {
    sum.assign_add(mine());
    mean.assign(mine() * 2.0f);
    first.assign_sub(mine());
    number.assign_add(reduce_sum(mine()));
    return sum.value() + mean.value();
  });
  CHECK(sum.value().to_vector() == std::vector<float>{7, 8});
  CHECK(mean.value().to_vector() == std::vector<float>{4, 4});
  CHECK(first.value().to_vector() == std::vector<float>{0, 1});
  CHECK(number.value().item<float>() == 13);
  for (const Variable& variable : {sum, mean, first, number})
    CHECK(variable.value().device() == Device{});
  for (const Tensor& one : read.values()) CHECK(one.to_vector() == std::vector<float>{11, 12});
  CHECK_THROWS_AS(strategy.run([&] { none.assign(mine()); }), InvalidArgumentError);
  const Tensor same = ones({2}).to(gpu(0));  // one tensor of all replicas is no sum
  CHECK_THROWS_AS(strategy.run([&] { sum.assign_add(same); }), InvalidArgumentError);

  sum.assign(Tensor{5.0f, 6.0f});
  sum.scatter_add({Tensor{4.0f}.view({1}), Tensor(Shape{1}, std::vector<int64_t>{1}), {}});
  strategy.extended().update(mean, [](const Variable& v) { v.assign(v.value() * 3.0f); });
  const auto again = strategy.run([&] { return sum.value() - mean.value(); });
  for (const Tensor& one : again.values()) CHECK(one.to_vector() == std::vector<float>{-7, -2});
}

TEST_CASE("metrics count what all GPUs have seen", "[strategy][central][gpu_contract]") {
  const ContractGpu contract;
  CentralStorageStrategy strategy({.compute_devices = gpu_names(2)});
  const auto scope = strategy.scope();
  nn::metrics::Mean metric;
  for (int i = 0; i < 2; ++i)
    strategy.run([&] {
      const float id = float(get_replica_context()->replica_id_in_sync_group());
      metric.update_state(fill({3}, id + 1).to(current_device()));
    });
  CHECK(metric.result().item<float>() == 1.5f);
  metric.reset_state();
  strategy.run([&] { metric.update_state(fill({3}, 4.0f).to(current_device())); });
  CHECK(metric.result().item<float>() == 4.0f);
}

TEST_CASE("GPUs fetch the rows of embeddings that they look up, and update no others",
          "[strategy][central][fake_gpu]") {
  FakeCuda fake;
  CentralStorageStrategy strategy({.compute_devices = gpu_names(2)});
  check_embedding_step(strategy);
  CHECK(fake.count("cuMemcpyDtoHAsync") == 2 * 3);  // of each replica: ids, values, rows
}

TEST_CASE("a replica on a GPU that fails ends the others", "[strategy][central][gpu_contract]") {
  const ContractGpu contract;
  CentralStorageStrategy strategy({.compute_devices = gpu_names(3)});
  const auto scope = strategy.scope();
  const Variable v(ones({2}));
  optim::SGD sgd({.learning_rate = 1.0f});
  const auto step = [&](bool fails) {
    if (fails && get_replica_context()->replica_id_in_sync_group() == 1)
      throw DataLossError("a bad picture");
    sgd.apply_gradients({ones({2}).to(current_device())}, {v});
  };
  CHECK_THROWS_WITH(strategy.run([&] { step(true); }), "a bad picture");
  strategy.run([&] { step(false); });
  CHECK(v.value().to_vector() == std::vector<float>{-2, -2});
}
