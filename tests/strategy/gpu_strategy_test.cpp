// Strategies over GPUs: the same training as on the CPU.
#include <distribute/base/error.hpp>
#include <distribute/device/detail/cuda_memory.hpp>
#include <distribute/device/placement.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/optim/adagrad.hpp>
#include <distribute/optim/adam.hpp>
#include <distribute/optim/lamb.hpp>
#include <distribute/optim/sgd.hpp>
#include <distribute/strategy/distributed_dataset.hpp>
#include <distribute/strategy/mirrored_strategy.hpp>
#include <distribute/strategy/one_device_strategy.hpp>

#include <tests/strategy/gpu_training.hpp>
#include <tests/support/library_gpu.hpp>

#include <memory>

using namespace distribute::testing;
using namespace strategy_test;
using distribute::DeviceType;

TEST_CASE("one GPU trains as the CPU does", "[strategy][gpu_contract]") {
  const MakeOptimizer makers[] = {
      [] { return std::make_unique<optim::SGD>(optim::SGDOptions{.learning_rate = 0.05}); },
      [] {
        return std::make_unique<optim::SGD>(
            optim::SGDOptions{.learning_rate = 0.05, .momentum = 0.9, .weight_decay = 0.01});
      },
      [] {
        return std::make_unique<optim::SGD>(optim::SGDOptions{
            .learning_rate = 0.05, .momentum = 0.9, .nesterov = true, .global_clipnorm = 1.0});
      },
      [] {
        auto sgd = std::make_unique<optim::SGD>(
            optim::SGDOptions{.learning_rate = 0.05, .momentum = 0.9, .coupled_weight_decay = 0.1});
        sgd->exclude_from_weight_decay(std::vector<std::string>{"bias"});
        return sgd;
      },
      [] { return std::make_unique<optim::Adam>(optim::AdamOptions{.learning_rate = 0.01}); },
      [] {
        return std::make_unique<optim::Adam>(
            optim::AdamOptions{.learning_rate = 0.01, .amsgrad = true, .use_ema = true});
      },
      [] { return std::make_unique<optim::RMSprop>(optim::RMSpropOptions{.learning_rate = 0.01}); },
      [] {
        return std::make_unique<optim::RMSprop>(
            optim::RMSpropOptions{.learning_rate = 0.01, .momentum = 0.5, .centered = true});
      },
      [] { return std::make_unique<optim::Adagrad>(optim::AdagradOptions{.learning_rate = 0.05}); },
      [] { return std::make_unique<optim::Nadam>(optim::NadamOptions{.learning_rate = 0.01}); },
      [] { return std::make_unique<optim::Adamax>(optim::AdamaxOptions{.learning_rate = 0.01}); },
      [] { return std::make_unique<optim::Adadelta>(optim::AdadeltaOptions{.learning_rate = 1}); },
      [] { return std::make_unique<optim::Lion>(optim::LionOptions{.learning_rate = 0.001}); },
      [] { return std::make_unique<optim::Ftrl>(optim::FtrlOptions{.learning_rate = 0.05}); },
      [] {
        return std::make_unique<optim::Lamb>(
            optim::LambOptions{.learning_rate = 0.01, .weight_decay = 0.1});
      },
      [] {
        auto sgd = std::make_unique<optim::SGD>(
            optim::SGDOptions{.learning_rate = 0.05, .momentum = 0.9, .coupled_weight_decay = 0.1});
        sgd->multiply_learning_rate(std::vector<std::string>{"dense"}, 0.25);
        return sgd;
      },
  };
  for (const MakeOptimizer& make : makers) {
    distribute::OneDeviceStrategy cpu_strategy("/cpu:0");
    const auto cpu = train_images(cpu_strategy, make, 3);
    ContractGpu gpu;
    distribute::OneDeviceStrategy strategy("/gpu:0");
    check_close_results(cpu, train_images(strategy, make, 3));
  }
}

TEST_CASE("an optimizer's step over all variables is one launch", "[strategy][fake_gpu]") {
  FakeCuda fake;
  distribute::OneDeviceStrategy strategy("/gpu:0");
  train_images(
      strategy, [] { return std::make_unique<optim::Adam>(optim::AdamOptions{}); }, 2);
  CHECK(fake.count("launch update") == 2);
}

TEST_CASE("variables with a rate of their own are a launch of their own", "[strategy][fake_gpu]") {
  FakeCuda fake;
  distribute::OneDeviceStrategy strategy("/gpu:0");
  const auto make = [] {
    auto adam = std::make_unique<optim::Adam>(optim::AdamOptions{});
    adam->multiply_learning_rate(std::vector<std::string>{"bias", "beta"}, 2);
    return adam;
  };
  train_images(strategy, make, 2);
  CHECK(fake.count("launch update") == 2 * 2);
}

TEST_CASE("replicas on logical GPUs of one GPU train as those of the CPU",
          "[strategy][gpu_contract]") {
  const MakeOptimizer make = [] {
    return std::make_unique<optim::SGD>(optim::SGDOptions{.learning_rate = 0.05, .momentum = 0.9});
  };
  for (int replicas : {3, 2}) {
    distribute::config::set_logical_device_configuration(replicas);
    distribute::MirroredStrategy<distribute::CpuDevice> cpu_strategy;
    const auto cpu = train_images(cpu_strategy, make, 3);
    distribute::config::set_logical_device_configuration(1);
    ContractGpu gpu;
    distribute::MirroredStrategy<distribute::GpuDevice> strategy({.num_replicas = replicas});
    REQUIRE(strategy.num_replicas_in_sync() == replicas);
    check_close_results(cpu, train_images(strategy, make, 3));
  }
}

TEST_CASE("batches normalized over logical GPUs are those of one batch on the CPU",
          "[strategy][gpu_contract]") {
  const MakeOptimizer make = [] {
    return std::make_unique<optim::SGD>(optim::SGDOptions{.learning_rate = 0.05, .momentum = 0.9});
  };
  distribute::OneDeviceStrategy whole("/cpu:0");
  const auto cpu = train_images(whole, make, 3);
  LibraryGpu gpu;
  distribute::MirroredStrategy<distribute::GpuDevice> strategy({.num_replicas = 3});
  check_close_results(cpu, train_images(strategy, make, 3, true));
}

TEST_CASE("every visible GPU is a replica by default", "[strategy][fake_gpu]") {
  FakeCuda fake({.gpus = 3});
  distribute::MirroredStrategy strategy;
  CHECK(strategy.num_replicas_in_sync() == 3);
  CHECK(distribute::config::list_physical_devices("GPU").size() == 3);
  CHECK(distribute::config::list_logical_devices("GPU").at(2).name == "/device:GPU:2");
  const auto scope = strategy.scope();
  const distribute::Variable v(Tensor{1.0f, 2.0f});
  for (int i = 0; i < 3; ++i) CHECK(v.impl().component(i).device() == Device{DeviceType::Gpu, i});
  const auto sums = strategy.run([&] {
    distribute::ReplicaContext& replica = *distribute::get_replica_context();
    const Tensor x = v.value() * float(replica.replica_id_in_sync_group() + 1);
    return replica.all_reduce(distribute::ReduceOp::Sum, x);
  });
  for (const Tensor& sum : sums.values()) CHECK(sum.to_vector() == std::vector<float>{6, 12});
  CHECK(fake.count("cuMemcpyPeerAsync") > 0);
}

TEST_CASE("without a GPU the GPU strategy says why", "[strategy][gpu_contract]") {
  if (!distribute::physical_gpus().empty()) return;
  CHECK_THROWS_AS(distribute::MirroredStrategy<distribute::GpuDevice>(),
                  distribute::FailedPreconditionError);
  CHECK_THROWS_AS(distribute::OneDeviceStrategy("/gpu:0"), distribute::InvalidArgumentError);
}

TEST_CASE("batches are on their replicas' GPUs, unless the options say no",
          "[strategy][gpu_contract]") {
  ContractGpu gpu;
  distribute::MirroredStrategy<distribute::GpuDevice> strategy({.num_replicas = 3});
  const auto range = distribute::data::Dataset::range(18).batch(6);
  const auto devices_of = [&](const distribute::InputOptions& options) {
    std::vector<std::vector<Device>> steps;
    for (const auto& step : strategy.experimental_distribute_dataset(range, options)) {
      steps.emplace_back();
      for (const auto& batch : step.values()) steps.back().push_back(batch.x.device());
    }
    return steps;
  };
  const std::vector<Device> gpus{{DeviceType::Gpu, 0}, {DeviceType::Gpu, 1}, {DeviceType::Gpu, 2}};
  const auto fetched = devices_of({});
  REQUIRE(fetched.size() == 3);
  for (const auto& step : fetched) CHECK(step == gpus);
  for (const auto& step : devices_of({.experimental_fetch_to_device = false}))
    for (const Device device : step) CHECK(device.type == DeviceType::Cpu);
}
