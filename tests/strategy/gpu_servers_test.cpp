// Workers on GPUs whose variables are on parameter servers: the same training as on CPUs.
#include <distribute/distribute.hpp>
#include <distribute/strategy/detail/parameter_server_extended.hpp>

#include <tests/strategy/gpu_training.hpp>
#include <tests/strategy/server_cluster.hpp>
#include <tests/support/logical_devices.hpp>

#include <future>
#include <set>

using namespace distribute;
using distribute::testing::ContractGpu;
using distribute::testing::FakeCuda;
using strategy_internal::parameter_server_extended;
using strategy_test::check_close_results;
using strategy_test::check_embedding_step;
using strategy_test::contract_numbers;
using strategy_test::MakeOptimizer;
using strategy_test::ServerCluster;
using strategy_test::train_images;

namespace {

const MakeOptimizer kAdam = [] {
  return std::make_unique<optim::Adam>(optim::AdamOptions{.learning_rate = 0.01});
};

/// The images' training by one worker, and what the servers have in the end.
template <typename Kind>
std::vector<Tensor> train_worker(const ParameterServerOptions& options) {
  ServerCluster cluster(1, 2);
  ParameterServerStrategy<Kind> strategy(cluster.resolver("worker", 0), options);
  return train_images(strategy, kAdam, 3);
}

Device gpu(int index) { return {DeviceType::Gpu, index}; }

}  // namespace

TEST_CASE("a worker's GPUs train as its CPUs do", "[strategy][parameter_server][gpu_contract]") {
  const int replicas = GENERATE(3, 1);  // a GPU in use cannot be divided further
  const int64_t shards = GENERATE(1, 2);
  CAPTURE(replicas, shards);
  const ParameterServerOptions options{.variable_partitioner = {.num_shards = shards},
                                       .num_replicas = replicas};
  const auto cpu = [&] {
    const LogicalDevices devices(replicas);
    return train_worker<CpuDevice>(options);
  }();
  const ContractGpu contract;
  check_close_results(cpu, train_worker<GpuDevice>(options));
}

TEST_CASE("values travel as bfloat16 to GPUs, too", "[strategy][parameter_server][gpu_contract]") {
  const ParameterServerOptions options{.num_replicas = 1, .bf16_on_wire = true};
  const auto cpu = train_worker<CpuDevice>(options);
  const ContractGpu contract;
  const auto on_gpu = train_worker<GpuDevice>(options);
  REQUIRE(cpu.size() == on_gpu.size());
  for (size_t i = 0; i < cpu.size(); ++i) {
    const auto a = cpu[i].to_vector(), b = on_gpu[i].to_vector();
    for (size_t k = 0; k < a.size(); ++k) CHECK(a[k] == Approx(b[k]).margin(0.02).epsilon(0.02));
  }
}

TEST_CASE("a worker pulls each value once to each GPU, and waits once for its gradients",
          "[strategy][parameter_server][fake_gpu]") {
  FakeCuda fake;
  ServerCluster cluster(1, 2);
  ParameterServerStrategy<GpuDevice> strategy(cluster.resolver("worker", 0), {.num_replicas = 2});
  const auto scope = strategy.scope();
  nn::Sequential model(nn::Dense({.units = 6}), nn::Dense({.units = 2}));
  optim::SGD optimizer({.learning_rate = 0.1});
  const PerReplica<Tensor> xs(
      {contract_numbers({4, 3}).to(gpu(0)), contract_numbers({4, 3}, 2).to(gpu(1))});
  const auto forward = [&](const Tensor& x) { return reduce_sum(square(model(x) + model(x))); };
  const auto step = [&](const Tensor& x) {
    GradientTape tape;
    const Tensor loss = forward(x);
    const auto variables = model.trainable_variables();
    return optimizer.apply_gradients(tape.gradient(loss, variables), variables);
  };
  strategy.run(step, xs);
  for (int i = 0; i < 2; ++i) {
    fake.forget_calls();
    CHECK(strategy.run(step, xs)[0] == i + 2);
    CHECK(fake.count("cuMemcpyHtoDAsync") == 2 * 4);
    CHECK(fake.count("cuMemcpyDtoHAsync") == 2 * 4);
    CHECK(fake.count("cuStreamSynchronize") == 2);
    CHECK(fake.count("cuMemAlloc") == 0);
    CHECK(fake.count("launch update") == 0);
  }
  strategy.run(forward, xs);
  fake.forget_calls();
  const auto losses = strategy.run(forward, xs);  // nothing new on the servers
  CHECK(fake.count("cuMemcpyHtoDAsync") == 0);
  CHECK(losses[1].device() == gpu(1));
  for (const Variable& variable : model.variables()) CHECK(variable.value().device() == Device{});
  model.trainable_variables()[0].assign(zeros({3, 6}));
  model.trainable_variables()[2].assign(zeros({6, 2}));
  const auto last = strategy.run(forward, xs);
  for (const Tensor& loss : last.values())
    CHECK(loss.item<float>() ==
          Approx(4 * 4 * reduce_sum(square(model.trainable_variables()[3].value())).item<float>()));
}

TEST_CASE("replicas on GPUs write what servers keep",
          "[strategy][parameter_server][gpu_contract]") {
  const ContractGpu contract;
  ServerCluster cluster(1, 1);
  const int replicas = GENERATE(2, 1);
  ParameterServerStrategy<GpuDevice> strategy(cluster.resolver("worker", 0),
                                              {.num_replicas = replicas});
  const auto scope = strategy.scope();
  const Variable sum(Tensor{1.0f, 2.0f}, {.aggregation = VariableAggregation::Sum}),
      mean(Tensor{1.0f, 2.0f}, {.aggregation = VariableAggregation::Mean});
  nn::metrics::Mean metric;
  const auto read = strategy.run([&] {
    const Tensor mine = fill({2}, float(get_replica_context()->replica_id_in_sync_group() + 1))
                            .to(current_device());
    sum.assign_add(mine);
    sum.assign_sub(mine * 3.0f);
    mean.assign(mine * 2.0f);
    metric.update_state(mine);
    return sum.value() + mean.value();
  });
  const float all = replicas == 1 ? 1 : 3, average = all / float(replicas);
  CHECK(sum.value().to_vector() == std::vector<float>{1 - 2 * all, 2 - 2 * all});
  CHECK(mean.value().to_vector() == std::vector<float>(2, 2 * average));
  CHECK(metric.result().item<float>() == average);
  for (const Tensor& one : read.values()) {
    CHECK(one.device().type == DeviceType::Gpu);
    CHECK(one.to_vector()[0] == 1 - 2 * all + 2 * average);
  }
}

TEST_CASE("first values that are made on a GPU reach their servers",
          "[strategy][parameter_server][gpu_contract]") {
  const ContractGpu contract;
  ServerCluster cluster(1, 1);
  ParameterServerStrategy<GpuDevice> strategy(cluster.resolver("worker", 0), {.num_replicas = 1});
  const auto scope = strategy.scope();
  std::optional<Variable> v;
  strategy.run([&] { v.emplace([] { return Tensor{1.0f, 2.0f}.to(current_device()); }); });
  CHECK(v->value().to_vector() == std::vector<float>{1, 2});
}

TEST_CASE("embeddings of GPUs take rows from servers and change no others",
          "[strategy][parameter_server][fake_gpu]") {
  const int64_t shards = GENERATE(1, 2);
  const FakeCuda fake;
  ServerCluster cluster(1, 2);
  ParameterServerStrategy<GpuDevice> strategy(
      cluster.resolver("worker", 0),
      {.variable_partitioner = {.num_shards = shards}, .num_replicas = 2});
  check_embedding_step(strategy);
}

TEST_CASE("workers on GPUs share variables, each at its own pace",
          "[strategy][parameter_server][gpu_contract]") {
  const ContractGpu contract;
  contract.want_logical(2);  // before threads use them
  ServerCluster cluster(3, 2);
  constexpr int kSteps = 6;
  const auto work = [&](int index) {
    ParameterServerStrategy<GpuDevice> strategy(cluster.resolver("worker", index),
                                                {.num_replicas = 2});
    const auto scope = strategy.scope();
    const Variable v(zeros({3}), {.name = "v"});
    optim::SGD sgd({.learning_rate = 1.0f});
    std::vector<int64_t> numbers;
    for (int i = 0; i < kSteps; ++i) {
      const auto steps = strategy.run([&] {
        GradientTape tape;
        return sgd.minimize(reduce_sum(v.value() * 2.0f), {v}, tape);
      });
      numbers.push_back(steps[0]);
    }
    return numbers;
  };
  std::vector<std::future<std::vector<int64_t>>> workers;
  for (int i = 0; i < 3; ++i) workers.push_back(std::async(std::launch::async, work, i));
  std::set<int64_t> seen;
  for (auto& worker : workers)
    for (const int64_t number : worker.get()) seen.insert(number);
  CHECK(seen.size() == 3 * kSteps);
  CHECK(*seen.rbegin() == 3 * kSteps);
}

TEST_CASE("synchronous steps of workers on GPUs apply the mean of their gradients",
          "[strategy][parameter_server][gpu_contract]") {
  const ContractGpu contract;
  contract.want_logical(2);
  ServerCluster cluster(2, 1);
  constexpr int kSteps = 4;
  const auto work = [&](int index) {
    ParameterServerStrategy<GpuDevice> strategy(
        cluster.resolver("worker", index),
        {.num_replicas = 2,
         .sync_replicas = SyncReplicas{.replicas_to_aggregate = 2, .num_init_tokens = 0}});
    const auto scope = strategy.scope();
    const Variable v(fill({2}, 8.0f), {.name = "v"});
    optim::SGD sgd({.learning_rate = 0.25f});
    for (int i = 0; i < kSteps; ++i)
      strategy.run([&] {  // half the worker's gradient each; worker 1's is three times as large
        GradientTape tape;
        const Tensor loss = reduce_sum(v.value() * v.value()) * (index == 0 ? 0.25f : 0.75f);
        sgd.minimize(loss, {v}, tape);
      });
    return v.value().to_vector();
  };
  auto other = std::async(std::launch::async, work, 1);
  const std::vector<float> values = work(0);
  // v -= 0.25 * (v + 3 v) / 2 in each step.
  for (const float value : values) CHECK(value == Approx(8.0f * std::pow(0.5f, kSteps)));
  CHECK(other.get() == values);
}

TEST_CASE("functions of a coordinator compute on their worker's GPU",
          "[strategy][parameter_server][gpu_contract]") {
  const auto train = [](auto kind) {
    ServerCluster cluster(1, 2, true);
    ParameterServerStrategy<CpuDevice> chief(cluster.resolver("chief", 0));
    ParameterServerStrategy<decltype(kind)> strategy(cluster.resolver("worker", 0),
                                                     {.num_replicas = 1});
    const auto scope = strategy.scope();
    random::set_seed(4);
    nn::Sequential model(nn::Dense({.units = 6, .activation = nn::relu}), nn::BatchNormalization(),
                         nn::Dense({.units = 2}));
    // Not Adam, which would make whole steps of the noise in the first bias's gradient.
    optim::SGD optimizer({.learning_rate = 0.02, .momentum = 0.9});
    std::thread([&] {
      const auto chiefs = chief.scope();
      const optim::SGD twin({.learning_rate = 0.02, .momentum = 0.9});
    }).join();
    auto& extended = *parameter_server_extended(strategy);
    std::vector<DeviceType> devices;
    const Tensor x = contract_numbers({6, 4}, 3);  // as batches of a dataset: on the host
    const auto step = [&] {
      GradientTape tape;
      const Tensor y = model(x, {.training = true});
      devices.push_back(y.device().type);
      const auto variables = model.trainable_variables();
      const Tensor loss = reduce_sum(square(y));
      return optimizer.apply_gradients(tape.gradient(loss, variables), variables);
    };
    extended.run_closure(step);
    extended.run_closure([&] { strategy.run(step); });
    std::vector<Tensor> results;
    for (const Variable& variable : model.variables()) results.push_back(variable.value());
    results.push_back(Tensor{float(devices[0]), float(devices[1])});
    return results;
  };
  auto cpu = train(CpuDevice());
  const ContractGpu contract;
  const auto on_gpu = train(GpuDevice());
  cpu.back() = Tensor{float(DeviceType::Gpu), float(DeviceType::Gpu)};
  check_close_results(cpu, on_gpu);
}

TEST_CASE("servers and chiefs need no GPU", "[strategy][parameter_server]") {
  using strategy_internal::devices_of_task;
  if (!physical_gpus().empty()) return;
  const std::vector<std::string> cpu{"/device:CPU:0"};
  CHECK(devices_of_task<GpuDevice>("ps", 3) == cpu);
  CHECK(devices_of_task<GpuDevice>("chief", 0) == cpu);
  CHECK_THROWS_AS(devices_of_task<GpuDevice>("worker", 0), FailedPreconditionError);
  const FakeCuda fake({.gpus = 2});
  CHECK(devices_of_task<GpuDevice>("ps", 3) == cpu);
  CHECK(devices_of_task<DefaultDevice>("ps", 0) == cpu);
  CHECK(devices_of_task<CpuDevice>("worker", 0) == cpu);
  for (const char* type : {"worker", "chief"})
    CHECK(devices_of_task<DefaultDevice>(type, 0) ==
          std::vector<std::string>{"/device:GPU:0", "/device:GPU:1"});
}
