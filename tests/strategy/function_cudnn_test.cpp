// Recorded steps whose convolutions and normalizations are cuDNN's have the bits of plain ones.
#include <distribute/strategy/function.hpp>

#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/nn/activation.hpp>
#include <distribute/nn/convolution.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/loss.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/normalization.hpp>
#include <distribute/nn/reshaping.hpp>
#include <distribute/optim/sgd.hpp>
#include <distribute/strategy/mirrored_strategy.hpp>

#include "../support/fake_blas.hpp"
#include "../support/fake_cudnn.hpp"
#include "../support/fake_nccl.hpp"
#include "../support/gpu_contract.hpp"

#include <functional>
#include <utility>
#include <vector>

using namespace distribute::testing;
using distribute::PerReplica;
using distribute::Shape;
using distribute::Tensor;
using distribute::data::Batch;
namespace nn = distribute::nn;

#if DISTRIBUTE_HAS_CUDNN

namespace {

Batch batch_of(uint64_t step, int replica) {
  std::vector<int64_t> classes;
  for (int64_t i = 0; i < 3; ++i) classes.push_back((i * 7 + int64_t(step) + replica) % 5);
  return {contract_numbers({3, 6, 6, 4}, step * 8 + uint64_t(replica) + 1),
          Tensor(Shape{3}, classes)};
}

/// Losses and variables after five steps.
std::vector<std::vector<float>> trained(bool records, int replicas, bool synchronized) {
  const FakeCuda cuda({.gpus = replicas});
  const distribute::collective::ScopedNccl nccl(FakeNccl::table());
  const distribute::ScopedCudaBlas blas(FakeBlas::table());
  const distribute::cudnn_internal::ScopedCudnn dnn(FakeCudnn::table());
  distribute::MirroredStrategy<distribute::GpuDevice> strategy;
  const auto scope = strategy.scope();
  nn::Sequential model(
      nn::Conv2D({.filters = 8, .kernel_size = 3, .use_bias = false}),
      nn::BatchNormalization({.synchronized = synchronized, .activation = nn::relu}),
      nn::Conv2D({.filters = 8, .kernel_size = 2}),
      nn::BatchNormalization({.synchronized = synchronized}), nn::Flatten(),
      nn::Dense({.units = 5}));
  distribute::optim::SGD optimizer({.learning_rate = 0.05, .momentum = 0.9});
  model(batch_of(0, 0).x);
  for (const distribute::Variable& variable : model.trainable_variables())
    variable.assign(contract_numbers(variable.shape(), 5));
  const auto step = [&](const Batch& batch) {
    distribute::GradientTape tape;
    const Tensor losses = nn::sparse_categorical_crossentropy(
        batch.y, model(batch.x, {.training = true}), {.from_logits = true});
    const Tensor loss = nn::compute_average_loss(losses, replicas * batch.y.shape()[0]);
    optimizer.minimize(loss, model.trainable_variables(), tape);
    return loss;
  };
  distribute::Function<std::function<Tensor(const Batch&)>> function(step);
  std::vector<std::vector<float>> all;
  for (uint64_t i = 0; i < 5; ++i) {
    std::vector<Batch> parts;
    for (int r = 0; r < replicas; ++r) parts.push_back(batch_of(i, r));
    const PerReplica<Batch> batch(std::move(parts));
    const auto losses = records ? strategy.run(function, batch) : strategy.run(step, batch);
    for (const Tensor& loss : losses.values()) all.push_back(loss.to_vector());
  }
  CHECK(function.launches() == (records ? 3 : 0));
  CHECK(FakeCudnn::executed > 0);
  for (const distribute::Variable& variable : model.variables())
    for (int r = 0; r < variable.impl().num_components(); ++r)
      all.push_back(variable.impl().component(r).to_vector());
  return all;
}

}  // namespace

TEST_CASE("recorded steps with cuDNN's convolutions and normalizations have the bits of plain ones",
          "[strategy][function]") {
  for (const int replicas : {1, 2})
    for (const bool synchronized : {false, true}) {
      INFO(replicas << " replicas" << (synchronized ? ", synchronized" : ""));
      CHECK(trained(false, replicas, synchronized) == trained(true, replicas, synchronized));
    }
}

#endif
