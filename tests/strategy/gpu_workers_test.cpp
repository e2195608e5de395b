// Workers whose replicas are on GPUs: the same training as on CPUs.
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/collective/connect_workers.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/normalization.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/optim/adam.hpp>
#include <distribute/replica/replica_context.hpp>
#include <distribute/strategy/devices.hpp>
#include <distribute/strategy/mirrored_strategy.hpp>

#include <tests/cluster/cluster_support.hpp>
#include <tests/support/fake_nccl.hpp>
#include <tests/support/gpu_contract.hpp>
#include <tests/support/thread_workers.hpp>

#include <utility>

using namespace distribute;
using distribute::testing::contract_numbers;
using distribute::testing::ContractGpu;
using distribute::testing::FakeCuda;
using distribute::testing::FakeNccl;

namespace {

using Weights = std::vector<float>;

/// Steps of a net with moving averages; all its variables afterwards. Replica r trains on part r,
/// whatever its worker.
Weights train(Strategy& strategy) {
  const auto scope = strategy.scope();
  nn::Sequential model(nn::Dense({.units = 6, .use_bias = false}), nn::BatchNormalization(),
                       nn::Dense({.units = 1}));
  optim::Adam optimizer({.learning_rate = 0.02f});
  const Tensor x = contract_numbers({12, 4}, 3);
  model(x);  // threads share the counter of seeds: weights of our own
  for (const Variable& variable : model.trainable_variables())
    variable.assign(contract_numbers(variable.shape(), 5));
  const int64_t rows = 12 / strategy.num_replicas_in_sync();
  for (int step = 0; step < 3; ++step)
    strategy.run([&] {
      const int64_t first = get_replica_context()->replica_id_in_sync_group() * rows;
      GradientTape tape;
      const Tensor y = model(x.rows(first, first + rows), {.training = true});
      const auto variables = model.trainable_variables();
      optimizer.apply_gradients(tape.gradient(reduce_sum(y * y), variables), variables);
    });
  Weights all;
  for (const Variable& variable : model.variables())
    for (const float value : variable.read_value().to(Device{}).to_vector()) all.push_back(value);
  return all;
}

/// Of each worker.
std::vector<Weights> train_workers(int workers, int replicas, const ThreadWorkers& kind = {}) {
  std::vector<Weights> weights(static_cast<size_t>(workers));
  const auto body = [&](Strategy& strategy, int w) { weights[size_t(w)] = train(strategy); };
  run_clean(workers, replicas, body, kind);
  return weights;
}

void check_same_training(const std::vector<Weights>& workers, const Weights& cpu) {
  for (const Weights& weights : workers) CHECK(weights == workers[0]);
  REQUIRE(workers[0].size() == cpu.size());
  for (size_t i = 0; i < cpu.size(); ++i) {
    INFO("element " << i);
    REQUIRE(workers[0][i] == Approx(cpu[i]).margin(2e-4).epsilon(2e-3));
  }
}

/// Workers of a job that have GPUs 2 w and 2 w + 1.
class GpuJob {
 public:
  explicit GpuJob(int workers) : workers_(workers), job_(workers) {}
  /// Calls body(strategy, worker, whether NCCL is used) for each; their errors.
  std::vector<std::string> run(const CommunicationOptions& options,
                               const std::function<void(Strategy&, int, bool)>& body) {
    return on_ranks(workers_, [&](int w) {
      const std::vector<std::string> devices{str_cat("/gpu:", 2 * w), str_cat("/gpu:", 2 * w + 1)};
      auto group = collective::connect_workers(job_.join(w, quick_options()), 2, options,
                                               strategy_internal::gpus_among(devices));
      const bool has_nccl = group.gpus.size() == 2;
      Strategy strategy(std::make_unique<strategy_internal::MultiWorkerExtended>(
          devices, std::move(group), strategy_internal::WorkerTask{.index = w, .is_chief = w == 0},
          options));
      body(strategy, w, has_nccl);
    });
  }

 private:
  const int workers_;
  TestJob job_;
};

}  // namespace

TEST_CASE("workers on GPUs train as workers on CPUs do", "[strategy][multi_worker][gpu_contract]") {
  for (const auto& [workers, replicas] : {std::pair{3, 1}, std::pair{2, 2}}) {
    INFO(workers << " workers of " << replicas);
    const Weights cpu = train_workers(workers, replicas)[0];
    const ContractGpu gpu;
    const auto devices = strategy_internal::devices_of(GpuDevice(), workers * replicas);
    check_same_training(train_workers(workers, replicas, {.devices = devices}), cpu);
  }
}

TEST_CASE("one worker's GPUs need no other worker", "[strategy][multi_worker][gpu_contract]") {
  const Weights cpu = train_workers(1, 3)[0];
  const ContractGpu gpu;
  const auto devices = strategy_internal::devices_of(GpuDevice(), 3);
  check_same_training(train_workers(1, 3, {.devices = devices}), cpu);
}

TEST_CASE("workers' GPUs sum gradients over NCCL", "[strategy][multi_worker][nccl]") {
  const Weights cpu = train_workers(3, 2)[0];
  const FakeCuda cuda({.gpus = 6});
  const collective::ScopedNccl scoped(FakeNccl::table());
  std::vector<Weights> all(3);
  const auto errors = GpuJob(3).run({}, [&](Strategy& strategy, int w, bool has_nccl) {
    require(has_nccl, "no NCCL");
    all[size_t(w)] = train(strategy);
  });
  for (const std::string& error : errors) CHECK(error == "");
  CHECK(FakeNccl::calls() == 18);  // one for each replica and step
  check_same_training(all, cpu);
}

TEST_CASE("where NCCL cannot be, host memory is used, or it is an error",
          "[strategy][multi_worker][nccl]") {
  const FakeCuda cuda({.gpus = 3});
  const collective::ScopedNccl scoped(FakeNccl::table());
  set_logical_gpus({{0}, {1}, {2}, {1}});
  const auto plain = GpuJob(2).run({}, [](Strategy& strategy, int, bool has_nccl) {
    require(!has_nccl, "NCCL with two replicas on a GPU");
    train(strategy);
  });
  CHECK(plain == std::vector<std::string>(2));
  CHECK(FakeNccl::calls() == 0);
  const auto wanted = GpuJob(2).run({.implementation = CommunicationImplementation::Nccl},
                                    [](Strategy&, int, bool) {});
  for (const std::string& error : wanted)
    CHECK_THAT(error, Catch::Matchers::Contains("Nccl: two replicas share GPU 0000:01:00.0"));
}

TEST_CASE("reductions between workers give results on their GPUs",
          "[strategy][multi_worker][gpu_contract]") {
  const ContractGpu gpu;
  const auto devices = strategy_internal::devices_of(GpuDevice(), 6);
  const auto on_gpu = [](const Tensor& result, const std::vector<float>& values, const char* what) {
    require(result.device().type == DeviceType::Gpu && result.to_vector() == values, what);
  };
  run_clean(3, 2,
            [&](Strategy& strategy, int w) {
              const auto scope = strategy.scope();
              const Variable v([w] { return fill(Shape{2}, float(w + 7)); });
              on_gpu(v.value(), {7, 7}, "the chief's value");
              const auto mine = strategy.run([&] {
                ReplicaContext& replica = *get_replica_context();
                const Tensor x = v.value() * float(replica.replica_id_in_sync_group() + 1);
                on_gpu(replica.all_reduce(ReduceOp::Sum, x), {147, 147}, "all_reduce");
                on_gpu(replica.all_gather(x.rows(0, 1), 0), {7, 14, 21, 28, 35, 42}, "all_gather");
                const Tensor row =
                    to_tensor(IndexedSlices{.values = x.view({1, 2}),
                                            .indices = Tensor(Shape{1}, std::vector<int64_t>{1}),
                                            .dense_shape = {3, 2}});
                const IndexedSlices rows = indexed_slices(replica.all_reduce(ReduceOp::Mean, row));
                on_gpu(reduce_sum(rows.values, {0}), {24.5, 24.5}, "a sparse mean");
                require(rows.indices.shape() == Shape{6}, "its rows");
                return x;
              });
              on_gpu(strategy.reduce(ReduceOp::Mean, mine), {24.5, 24.5}, "reduce");
              require(strategy.gather(mine, 0).shape() == Shape{12}, "gather");
            },
            {.devices = devices});
}

TEST_CASE("MirroredStrategy on GPUs of their own sums gradients over NCCL",
          "[strategy][mirrored][nccl]") {
  const Weights cpu = train_workers(1, 3)[0];
  const FakeCuda cuda({.gpus = 3});
  const collective::ScopedNccl scoped(FakeNccl::table());
  MirroredStrategy<GpuDevice> strategy;
  REQUIRE(strategy.num_replicas_in_sync() == 3);
  check_same_training({train(strategy)}, cpu);
  CHECK(FakeNccl::calls() == 9);  // one for each replica and step

  const auto values = strategy.run([] {
    ReplicaContext& replica = *get_replica_context();
    const float number = float(replica.replica_id_in_sync_group() + 1);
    const Tensor x = fill(Shape{2}, number).to(current_device());
    return replica.all_gather(replica.all_reduce(ReduceOp::Mean, x), 0);
  });
  for (const Tensor& value : values.values()) CHECK(value.to_vector() == Weights(6, 2.0f));
  CHECK(FakeNccl::calls() == 12);
}

TEST_CASE("gradients of GPUs may travel in several buckets, and as bfloat16",
          "[strategy][multi_worker][nccl]") {
  const Weights cpu = train_workers(3, 2)[0];
  const FakeCuda cuda({.gpus = 6});
  for (const bool bfloat16 : {false, true}) {
    const collective::ScopedNccl scoped(FakeNccl::table());
    std::vector<Weights> all(3);
    const auto errors =
        GpuJob(3).run({.bytes_per_pack = 1, .bfloat16_gradients = bfloat16},
                      [&](Strategy& strategy, int w, bool) { all[size_t(w)] = train(strategy); });
    CHECK(errors == std::vector<std::string>(3));
    CHECK(FakeNccl::calls() == 18 * 5);  // one for each variable
    if (!bfloat16) check_same_training(all, cpu);
    for (size_t i = 0; i < cpu.size(); ++i) CHECK(all[2][i] == Approx(cpu[i]).margin(0.05));
  }
}

TEST_CASE("a replica that fails ends the others' sums, and the next run has a new group",
          "[strategy][mirrored][nccl]") {
  const FakeCuda cuda({.gpus = 3});
  const collective::ScopedNccl scoped(FakeNccl::table());
  MirroredStrategy<GpuDevice> strategy;
  const auto sum = [](bool one_fails) {
    ReplicaContext& replica = *get_replica_context();
    if (one_fails && replica.replica_id_in_sync_group() == 1) throw DataLossError("a bad picture");
    return replica.all_reduce(ReduceOp::Sum, fill(Shape{1}, 2.0f).to(current_device()));
  };
  CHECK_THROWS_WITH(strategy.run([&] { return sum(true); }), "a bad picture");
  {
    collective::NcclTable broken = collective::nccl();
    broken.ncclCommInitRankConfig = [](auto...) { return 6; };
    const collective::ScopedNccl without(broken);
    CHECK_THROWS_WITH(strategy.run([&] { return sum(false); }),
                      Catch::Matchers::Contains("ncclCommInitRankConfig"));
  }
  const auto values = strategy.run([&] { return sum(false); });
  for (const Tensor& value : values.values()) CHECK(value.item<float>() == 6.0f);
}
