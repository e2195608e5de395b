#pragma once
/// Small trainings on any strategy, to compare those over GPUs with those over CPUs.

#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/nn/convolution.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/embedding.hpp>
#include <distribute/nn/loss.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/normalization.hpp>
#include <distribute/nn/pooling.hpp>
#include <distribute/nn/reshaping.hpp>
#include <distribute/ops/random.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/optim/optimizer.hpp>
#include <distribute/optim/sgd.hpp>
#include <distribute/replica/replica_context.hpp>
#include <distribute/strategy/strategy.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/gpu_contract.hpp>

#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace strategy_test {

using distribute::Device;
using distribute::PerReplica;
using distribute::Shape;
using distribute::Tensor;
using distribute::testing::contract_numbers;
namespace nn = distribute::nn;
namespace optim = distribute::optim;

using MakeOptimizer = std::function<std::unique_ptr<optim::Optimizer>()>;

/// Losses of some steps of a small convolutional network, then its variables.
inline std::vector<Tensor> train_images(distribute::Strategy& strategy, const MakeOptimizer& make,
                                        int steps, bool synchronized = false) {
  const auto scope = strategy.scope();
  distribute::random::set_seed(4);
  nn::Sequential model(nn::Conv2D({.filters = 4, .kernel_size = 3, .use_bias = false}),
                       nn::BatchNormalization({.synchronized = synchronized}), nn::MaxPool2D(),
                       nn::Flatten(), nn::Dense({.units = 5}));
  const auto optimizer = make();
  const int replicas = strategy.num_replicas_in_sync();
  const int64_t rows = 12 / replicas;
  const Tensor x = contract_numbers({12, 8, 8, 2}, 3);
  std::vector<int64_t> classes;
  for (int64_t i = 0; i < 12; ++i) classes.push_back(i * 7 % 5);
  const Tensor y(Shape{12}, classes);
  std::vector<Tensor> xs, ys, results;
  for (int r = 0; r < replicas; ++r) {
    xs.push_back(x.rows(r * rows, (r + 1) * rows));
    ys.push_back(y.rows(r * rows, (r + 1) * rows));
  }
  const auto step = [&](const Tensor& images, const Tensor& labels) {
    distribute::GradientTape tape;
    const Tensor logits = model(images, {.training = true});
    const Tensor losses =
        nn::sparse_categorical_crossentropy(labels, logits, {.from_logits = true});
    const Tensor loss = nn::compute_average_loss(losses, 12);
    const auto variables = model.trainable_variables();
    optimizer->apply_gradients(tape.gradient(loss, variables), variables);
    return loss;
  };
  for (int i = 0; i < steps; ++i) {
    const auto losses = strategy.run(step, PerReplica<Tensor>(xs), PerReplica<Tensor>(ys));
    results.push_back(strategy.reduce(distribute::ReduceOp::Sum, losses).to(Device{}));
  }
  for (const distribute::Variable& variable : model.variables())
    results.push_back(variable.read_value().to(Device{}).row_major());
  return results;
}

inline void check_close_results(const std::vector<Tensor>& cpu, const std::vector<Tensor>& gpu) {
  REQUIRE(cpu.size() == gpu.size());
  for (size_t i = 0; i < cpu.size(); ++i) {
    const auto a = cpu[i].to_vector(), b = gpu[i].to_vector();
    REQUIRE(a.size() == b.size());
    for (size_t k = 0; k < a.size(); ++k) {
      INFO("result " << i << " element " << k);
      REQUIRE(a[k] == Approx(b[k]).margin(2e-4).epsilon(2e-3));
    }
  }
}

/// A step over an embedding's rows by two replicas, each on its own GPU; no other row may change.
inline void check_embedding_step(distribute::Strategy& strategy) {
  const auto scope = strategy.scope();
  nn::Embedding table({.input_dim = 100, .output_dim = 4});
  optim::SGD sgd({.learning_rate = 1.0f});
  table.ensure_built({5});
  const std::vector<float> before = table.embeddings().value().to_vector();
  const std::vector<int64_t> ids[] = {{99, 3, 3, 50, 0}, {1, 3, 0, 0, 98}};
  const auto devices = strategy.run([&] {
    const int replica = distribute::get_replica_context()->replica_id_in_sync_group();
    distribute::GradientTape tape;
    const Tensor rows = table(Tensor({5}, ids[replica]));
    sgd.minimize(distribute::reduce_sum(rows), table.trainable_variables(), tape);
    return rows.device();
  });
  for (int i = 0; i < 2; ++i) CHECK(devices[size_t(i)] == Device{distribute::DeviceType::Gpu, i});
  std::map<int64_t, float> change;
  for (const auto& list : ids)
    for (const int64_t id : list) ++change[id];
  const std::vector<float> after = table.embeddings().value().to_vector();
  for (size_t i = 0; i < after.size(); ++i)
    CHECK(after[i] == Approx(before[i] - change[int64_t(i / 4)]).margin(1e-6));
}

}  // namespace strategy_test
