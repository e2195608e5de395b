#include <distribute/nn/dense.hpp>
#include <distribute/nn/dropout.hpp>
#include <distribute/nn/loss.hpp>
#include <distribute/nn/metrics.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/normalization.hpp>
#include <distribute/ops/activation.hpp>
#include <distribute/ops/random.hpp>
#include <distribute/optim/adam.hpp>
#include <distribute/optim/loss_scale_optimizer.hpp>
#include <distribute/optim/sgd.hpp>
#include <distribute/strategy/mirrored_strategy.hpp>

#include "golden_support.hpp"

using namespace distribute;
using namespace distribute_test;

namespace {

int replica_here() { return get_replica_context()->replica_id_in_sync_group(); }

/// Weights after three steps on eight examples that the replicas share.
std::vector<float> train(int replicas, optim::Optimizer& optimizer, MirroredStrategy<>& strategy) {
  random::set_seed(3);
  nn::Sequential model(nn::Dense({.units = 5, .activation = nn::tanh}),
                       nn::BatchNormalization({.synchronized = true}), nn::Dense({.units = 3}));
  const Tensor x = random::normal({8, 4}, 1), y = random::uniform_int({8}, 2, 0, 3);
  for (int step = 0; step < 3; ++step)
    strategy.run([&] {
      const int64_t share = 8 / replicas, begin = share * replica_here();
      GradientTape tape;
      const Tensor logits = model(x.rows(begin, begin + share), {.training = true});
      const Tensor losses = nn::sparse_categorical_crossentropy(y.rows(begin, begin + share),
                                                                logits, {.from_logits = true});
      optimizer.minimize(nn::compute_average_loss(losses, 8), model.trainable_variables(), tape);
    });
  std::vector<float> weights;
  for (const Variable& variable : model.variables())
    for (const float w : variable.value().to_vector()) weights.push_back(w);
  return weights;
}

template <typename Optimizer, typename Options>
void check_replicas_agree(const Options& options) {
  std::vector<float> wanted;
  for (const int replicas : {1, 2, 4}) {
    MirroredStrategy strategy({.num_replicas = replicas});
    const auto scope = strategy.scope();
    Optimizer optimizer(options);
    const std::vector<float> got = train(replicas, optimizer, strategy);
    CHECK(optimizer.iterations() == 3);
    if (wanted.empty()) wanted = got;
    REQUIRE(got.size() == wanted.size());
    for (size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(wanted[i]).margin(2e-5));
  }
}

}  // namespace

TEST_CASE("any number of replicas trains the same weights", "[nn][replicas]") {
  check_replicas_agree<optim::SGD>(optim::SGDOptions{.learning_rate = 0.1f, .momentum = 0.9});
  check_replicas_agree<optim::SGD>(
      optim::SGDOptions{.learning_rate = 0.1f, .weight_decay = 0.1, .global_clipnorm = 0.1});
  check_replicas_agree<optim::Adam>(
      optim::AdamOptions{.learning_rate = 0.01f, .epsilon = 0.01, .clipvalue = 0.05});
}

namespace {

/// Weights 10 and {10, 10} after a step of rate 1 on two replicas with equal gradients.
std::vector<std::vector<float>> clipped_step(optim::SGDOptions options,
                                             std::vector<Tensor>* reduced = nullptr) {
  MirroredStrategy strategy({.num_replicas = 2});
  const auto scope = strategy.scope();
  const std::vector<Variable> weights{Variable(Tensor{10.0f}, {.name = "a"}),
                                      Variable(Tensor{10.0f, 10.0f}, {.name = "b"})};
  options.learning_rate = 1.0;
  optim::SGD optimizer(options);
  strategy.run([&] {
    const int replica = replica_here();
    const Tensor second = replica ? Tensor{0.3f, 0.4f} : Tensor{3.0f, 4.0f};
    optim::ApplyOptions apply;
    if (replica == 0) apply.reduced_gradients = reduced;
    std::vector<Tensor> unused;
    if (reduced && replica) apply.reduced_gradients = &unused;
    optimizer.apply_gradients({Tensor{3.0f}, second}, weights, apply);
  });
  return {weights[0].value().to_vector(), weights[1].value().to_vector()};
}

void check_near(const std::vector<std::vector<float>>& got,
                const std::vector<std::vector<float>>& wanted) {
  REQUIRE(got.size() == wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i)
    for (size_t k = 0; k < wanted[i].size(); ++k)
      CHECK(got[i].at(k) == Approx(wanted[i][k]).epsilon(1e-6));
}

}  // namespace

// The numbers are those of TensorFlow 2.21 with Keras 3.15 and two logical CPUs.
TEST_CASE("clip_per_replica clips before the sum, as Keras does", "[nn][replicas]") {
  check_near(clipped_step({.clipnorm = 1.0, .clip_per_replica = true}), {{8}, {9.1f, 8.8f}});
  check_near(clipped_step({.clipvalue = 0.5, .clip_per_replica = true}), {{9}, {9.2f, 9.1f}});
  check_near(clipped_step({.global_clipnorm = 1.0, .clip_per_replica = true}),
             {{8.49911022f}, {9.38686466f, 9.18248653f}});
}

TEST_CASE("without clip_per_replica the sum is clipped", "[nn][replicas]") {
  check_near(clipped_step({}), {{4}, {6.7f, 5.6f}});
  check_near(clipped_step({.clipnorm = 1.0}), {{9}, {9.4f, 9.2f}});
  check_near(clipped_step({.clipvalue = 0.5}), {{9.5f}, {9.5f, 9.5f}});
}

TEST_CASE("reduced_gradients gives what the update takes", "[nn][replicas]") {
  std::vector<Tensor> reduced;
  check_near(clipped_step({}, &reduced), {{4}, {6.7f, 5.6f}});
  REQUIRE(reduced.size() == 2);
  check_near({reduced[0].to_vector(), reduced[1].to_vector()}, {{6}, {3.3f, 4.4f}});
  check_near(clipped_step({.clipnorm = 1.0}, &reduced), {{9}, {9.4f, 9.2f}});
  check_near({reduced[0].to_vector(), reduced[1].to_vector()}, {{1}, {0.6f, 0.8f}});
  check_near(clipped_step({.clipnorm = 1.0, .clip_per_replica = true}, &reduced),
             {{8}, {9.1f, 8.8f}});
  check_near({reduced[0].to_vector(), reduced[1].to_vector()}, {{2}, {0.9f, 1.2f}});
}

TEST_CASE("minimize gives the reduced gradients, too", "[nn][replicas]") {
  MirroredStrategy strategy({.num_replicas = 3});
  const auto scope = strategy.scope();
  const Variable used(Tensor{2.0f}, {.name = "used"}), idle(Tensor{1.0f}, {.name = "idle"});
  optim::SGD optimizer({.learning_rate = 1.0});
  const auto norms = strategy.run([&] {
    GradientTape tape;
    const Tensor loss = reduce_sum(multiply(used.value(), used.value()));
    std::vector<Tensor> reduced;
    optimizer.minimize(loss, {idle, used}, tape, {.reduced_gradients = &reduced});
    CHECK(!reduced.at(0));
    return reduced.at(1).item<float>();
  });
  CHECK(norms.values() == std::vector<float>{12, 12, 12});  // 3 replicas, each 2 * 2
  CHECK(used.value().item<float>() == -10.0f);
}

TEST_CASE("wrappers that sum gradients first refuse clip_per_replica", "[nn][replicas]") {
  optim::SGD optimizer({.clipnorm = 1.0, .clip_per_replica = true});
  CHECK_THROWS_WITH(optim::LossScaleOptimizer(optimizer), Contains("clip_per_replica"));
}

TEST_CASE("moving averages of mirrored weights are swapped on all replicas", "[nn][replicas]") {
  MirroredStrategy strategy({.num_replicas = 2});
  const auto scope = strategy.scope();
  const Variable w(Tensor{1.0f}, {.name = "w"});
  optim::SGD optimizer({.learning_rate = 1.0f, .use_ema = true, .ema_momentum = 0.5});
  for (int step = 0; step < 2; ++step)
    strategy.run([&] { optimizer.apply_gradients({Tensor{1.0f}}, {w}); });
  CHECK(w.value().item<float>() == -3.0f);  // two replicas' gradients add up
  optimizer.swap_averages({w});
  const auto read = strategy.run([&] { return w.value().item<float>(); });
  CHECK(read.values() == std::vector<float>{-2.0f, -2.0f});
}

TEST_CASE("slots are mirrored like their variables", "[nn][replicas]") {
  MirroredStrategy strategy({.num_replicas = 2});
  const auto scope = strategy.scope();
  const Variable w(Tensor{1.0f}, {.name = "w"});
  optim::Adam optimizer;
  strategy.run([&] { optimizer.apply_gradients({Tensor{1.0f}}, {w}); });
  const auto slots = optimizer.slot_variables();
  REQUIRE(slots.size() == 2);
  CHECK(slots[0].variable.name() == "w/m");
  CHECK(slots[0].variable.impl().num_components() == 2);
  CHECK(optimizer.iterations_variable().impl().num_components() == 2);
}

TEST_CASE("apply_gradients outside run is refused under a strategy", "[nn][replicas]") {
  MirroredStrategy strategy({.num_replicas = 2});
  const auto scope = strategy.scope();
  const Variable w(Tensor{1.0f});
  optim::SGD optimizer;
  CHECK_THROWS_AS(optimizer.apply_gradients({Tensor{1.0f}}, {w}), FailedPreconditionError);
}

TEST_CASE("gradients summed already are not summed again", "[nn][replicas]") {
  MirroredStrategy strategy({.num_replicas = 2});
  const auto scope = strategy.scope();
  const Variable w(Tensor{1.0f});
  optim::SGD optimizer({.learning_rate = 1.0f});
  strategy.run([&] {
    optimizer.apply_gradients({Tensor{0.25f}}, {w}, {.skip_gradients_aggregation = true});
  });
  CHECK(w.value().item<float>() == 0.75f);
}

TEST_CASE("metrics add up over replicas", "[nn][replicas]") {
  MirroredStrategy strategy({.num_replicas = 2});
  const auto scope = strategy.scope();
  nn::metrics::Mean mean;
  const auto local = strategy.run([&] {
    const std::vector<float> values(size_t(replica_here() + 1), float(replica_here() + 1));
    mean.update_state(Tensor({replica_here() + 1}, values));
    return mean.result().item<float>();
  });
  CHECK(local.values() == std::vector<float>{1.0f, 2.0f});
  CHECK(mean.result().item<float>() == Approx(5.0 / 3));
  mean.reset_state();
  CHECK(mean.result().item<float>() == 0.0f);
}

TEST_CASE("moving statistics differ per replica and are averaged when read", "[nn][replicas]") {
  MirroredStrategy strategy({.num_replicas = 2});
  const auto scope = strategy.scope();
  nn::BatchNormalization layer({.momentum = 0.5});
  const auto local = strategy.run([&] {
    layer(fill({4, 1}, float(2 + 4 * replica_here())), {.training = true});
    return layer.moving_mean().value().item<float>();
  });
  CHECK(local.values() == std::vector<float>{1.0f, 3.0f});
  CHECK(layer.moving_mean().value().item<float>() == 2.0f);
}

TEST_CASE("dropout masks differ between replicas", "[nn][replicas]") {
  MirroredStrategy strategy({.num_replicas = 2});
  nn::Dropout layer({.seed = 1});
  const auto masks =
      strategy.run([&] { return layer(ones({64}), {.training = true}).to_vector(); });
  CHECK(masks[0] != masks[1]);
}
