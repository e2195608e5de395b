#include <distribute/optim/loss_scale_optimizer.hpp>

#include <distribute/checkpoint/checkpoint.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/optim/adam.hpp>
#include <distribute/optim/serialization.hpp>
#include <distribute/optim/sgd.hpp>
#include <distribute/strategy/mirrored_strategy.hpp>

#include "../support/catch.hpp"
#include "../support/check_throws.hpp"
#include "../support/temporary_directory.hpp"

using namespace distribute;

namespace {

const float kInfinity = std::numeric_limits<float>::infinity();

/// The weight and optimizers that a step of these tests moves.
struct Scaled {
  explicit Scaled(optim::LossScaleOptimizerOptions options = {}) : optimizer(sgd, options) {}
  Variable w{Tensor{1.0f, 2.0f}, {.name = "w"}};
  optim::SGD sgd{{.learning_rate = 0.5f}};
  optim::LossScaleOptimizer optimizer;

  int64_t step(const Tensor& scaled_gradient) {
    return optimizer.apply_gradients({scaled_gradient}, {w});
  }
};

}  // namespace

TEST_CASE("scaled gradients move weights as plain ones do", "[optim][loss_scale]") {
  Scaled scaled;
  CHECK(scaled.optimizer.loss_scale() == 32768.0f);
  CHECK(scaled.optimizer.scale_loss(Tensor(0.5f)).item<float>() == 16384.0f);
  scaled.step(Tensor{32768.0f, -65536.0f});
  CHECK(scaled.w.value().to_vector() == std::vector<float>{0.5f, 3.0f});
  CHECK(scaled.optimizer.iterations() == 1);
}

TEST_CASE("a step that is not finite changes no weight and halves the scale",
          "[optim][loss_scale]") {
  for (float bad : {kInfinity, -kInfinity, std::nanf("")}) {
    Scaled scaled({.initial_scale = 8, .dynamic_growth_steps = 2});
    CHECK(scaled.step(Tensor{8.0f, 8.0f}) == 1);
    CHECK(scaled.step(Tensor{1.0f, bad}) == 0);
    CHECK(scaled.w.value().to_vector() == std::vector<float>{0.5f, 1.5f});
    CHECK(scaled.optimizer.loss_scale() == 4.0f);
    CHECK(scaled.optimizer.iterations() == 1);
    // The good steps are counted anew.
    scaled.step(Tensor{0.0f, 0.0f});
    CHECK(scaled.optimizer.loss_scale() == 4.0f);
    scaled.step(Tensor{0.0f, 0.0f});
    CHECK(scaled.optimizer.loss_scale() == 8.0f);
  }
}

TEST_CASE("the scale falls below 1 and does not grow to infinity", "[optim][loss_scale]") {
  Scaled small({.initial_scale = 2});
  for (int i = 0; i < 3; ++i) small.step(Tensor{kInfinity, 0.0f});
  CHECK(small.optimizer.loss_scale() == 0.25f);  // as in Keras
  Scaled large({.initial_scale = 2e38, .dynamic_growth_steps = 1});
  for (int i = 0; i < 3; ++i) large.step(Tensor{0.0f, 0.0f});
  CHECK(large.optimizer.loss_scale() == 2e38f);
}

TEST_CASE("a fixed scale stays and leaves out no step", "[optim][loss_scale]") {
  Scaled scaled({.dynamic = false, .initial_scale = 4});
  scaled.step(Tensor{4.0f, kInfinity});
  CHECK(scaled.w.value().to_vector() == std::vector<float>{0.5f, -kInfinity});
  CHECK(scaled.optimizer.loss_scale() == 4.0f);
}

TEST_CASE("float16 gradients that would vanish arrive", "[optim][loss_scale]") {
  Scaled scaled;
  const auto loss_of = [&] {  // the gradient of 1e-8 is none of float16's numbers
    const Tensor half = cast(scaled.w.value(), DType::Float16);
    return reduce_sum(cast(half * cast(Tensor{1.0f, 1.0f}, DType::Float16), DType::Float32) *
                      1e-8f);
  };
  {
    GradientTape tape;
    const Tensor loss = loss_of();
    CHECK(tape.gradient(loss, scaled.w).to_vector() == std::vector<float>{0.0f, 0.0f});
  }
  GradientTape tape;
  scaled.optimizer.minimize(loss_of(), {scaled.w}, tape);
  const auto moved = scaled.w.value().to_vector();
  CHECK(1.0f - moved[0] == Approx(0.5e-8).margin(6e-8));
  CHECK(scaled.optimizer.iterations() == 1);

  Variable tiny(Tensor{0.0f}, {.name = "tiny"});
  GradientTape other;
  const Tensor x = cast(tiny.value(), DType::Float16);
  scaled.optimizer.minimize(reduce_sum(cast(x, DType::Float32) * 1e-8f), {tiny}, other);
  CHECK(tiny.value().to_vector()[0] == Approx(-0.5e-8).epsilon(1e-3));
}

TEST_CASE("all replicas leave a step out when one gradient overflows", "[optim][loss_scale]") {
  MirroredStrategy strategy({"cpu:0", "cpu:1", "cpu:2"});
  const auto scope = strategy.scope();
  Scaled scaled({.initial_scale = 16});
  const auto run = [&](float third) {
    strategy.run([&] {
      const int id = get_replica_context()->replica_id_in_sync_group();
      scaled.step(Tensor{16.0f, id == 2 ? third : 16.0f});
    });
  };
  run(kInfinity);
  CHECK(scaled.optimizer.loss_scale() == 8.0f);
  CHECK(scaled.w.value().to_vector() == std::vector<float>{1.0f, 2.0f});
  run(32.0f);  // 2 + 2 + 2, and 2 + 2 + 4
  CHECK(scaled.w.value().to_vector() == std::vector<float>{-2.0f, -2.0f});
  CHECK(scaled.optimizer.iterations() == 1);
}

TEST_CASE("what is finite is the scaled gradient, element by element", "[optim][loss_scale]") {
  // Of Keras 3.15: the gradient of a scale below 1 may overflow when it is unscaled.
  Scaled small({.initial_scale = 0.25});
  CHECK(small.step(Tensor{2e38f, 1.0f}) == 1);
  CHECK(small.w.value().to_vector() == std::vector<float>{-kInfinity, 0.0f});
  CHECK(small.optimizer.loss_scale() == 0.25f);
  Scaled large({.initial_scale = 1});
  CHECK(large.step(Tensor{3e38f, 3e38f}) == 1);  // the norm is above float32's largest number
  CHECK(large.w.value().to_vector() == std::vector<float>{-1.5e38f, -1.5e38f});
}

TEST_CASE("batches of a step are unscaled one by one", "[optim][loss_scale]") {
  // Of Keras 3.15 with two CPUs and gradient_accumulation_steps=2, whose second batch is infinite
  // on the first replica. Here it may be any replica; Keras asks the first one alone.
  const int bad = GENERATE(0, 1);
  MirroredStrategy strategy({"cpu:0", "cpu:1"});
  const auto scope = strategy.scope();
  Scaled scaled({.initial_scale = 8, .dynamic_growth_steps = 2});
  std::vector<float> scales, unscaled;
  for (int i = 0; i < 4; ++i) {
    const PerReplica<float> second = strategy.run([&] {
      const int id = get_replica_context()->replica_id_in_sync_group();
      const float first = i == 1 && id == bad ? kInfinity : 4;
      std::vector<Tensor> gradients{Tensor{first, 8.0f}};
      const bool counts = scaled.optimizer.unscale_batch(gradients);
      return counts ? gradients[0].to_vector()[1] : 0.0f;
    });
    CHECK(second.values()[0] == second.values()[1]);
    unscaled.push_back(second.values()[0]);
    scales.push_back(scaled.optimizer.loss_scale());
  }
  CHECK(unscaled == std::vector<float>{1, 0, 2, 2});
  CHECK(scales == std::vector<float>{8, 4, 4, 8});
  CHECK(scaled.optimizer.iterations() == 0);
}

TEST_CASE("scale and good steps are in the checkpoint", "[optim][loss_scale]") {
  const TemporaryDirectory folder;
  Scaled first({.initial_scale = 64, .dynamic_growth_steps = 3});
  first.step(Tensor{kInfinity, 0.0f});
  for (int i = 0; i < 2; ++i) first.step(Tensor{0.0f, 0.0f});
  train::Checkpoint saved({{"optimizer", &first.optimizer}});
  const std::string path = saved.save(folder / "ckpt");
  Scaled second({.initial_scale = 1024, .dynamic_growth_steps = 3});
  train::Checkpoint restored({{"optimizer", &second.optimizer}});
  restored.restore(path);
  CHECK(second.optimizer.loss_scale() == 32.0f);
  CHECK(second.optimizer.iterations() == 2);
  second.step(Tensor{0.0f, 0.0f});  // the third good one
  CHECK(second.optimizer.loss_scale() == 64.0f);
}

TEST_CASE("a scaled training that goes on from a checkpoint has the bits of an uninterrupted one",
          "[optim][loss_scale]") {
  struct Training {
    Variable w{Tensor{1.0f, 2.0f}, {.name = "w"}};
    optim::LossScaleOptimizer optimizer{
        std::make_unique<optim::Adam>(optim::AdamOptions{.learning_rate = 0.1}),
        {.initial_scale = 64, .dynamic_growth_steps = 3}};
    train::Checkpoint checkpoint{{{"w", w}, {"optimizer", &optimizer}}};

    void train(int first, int last) {
      for (int step = first; step < last; ++step) {
        GradientTape tape;
        const Tensor loss = reduce_sum(square(w.value()) * (step == 1 ? kInfinity : float(step)));
        optimizer.minimize(loss, {w}, tape);
      }
    }
  };
  const TemporaryDirectory folder;
  Training whole, first, second;
  whole.train(0, 8);
  first.train(0, 4);
  second.checkpoint.restore(first.checkpoint.save(folder / "ckpt"));
  second.train(4, 8);
  CHECK(second.w.value().to_vector() == whole.w.value().to_vector());
  CHECK(second.optimizer.loss_scale() == whole.optimizer.loss_scale());
  CHECK(whole.optimizer.loss_scale() == 128);  // halved at step 1, doubled behind 4 and 7
  CHECK(second.optimizer.iterations() == 7);
}

TEST_CASE("errors are those of the wrapped optimizer", "[optim][loss_scale]") {
  Scaled scaled;
  CHECK_THROWS_AS(scaled.optimizer.apply_gradients({Tensor()}, {scaled.w}), InvalidArgumentError);
  CHECK_THROWS_AS(scaled.optimizer.apply_gradients({Tensor{1.0f}}, {scaled.w}),
                  InvalidArgumentError);
  CHECK_THROWS_AS(optim::LossScaleOptimizer(scaled.sgd, {.initial_scale = 0}),
                  InvalidArgumentError);
  CHECK_THROWS_AS(optim::LossScaleOptimizer(scaled.sgd, {.dynamic_growth_steps = 0}),
                  InvalidArgumentError);
}

TEST_CASE("an optimizer that scales the loss is written with the one inside of it",
          "[optim][loss_scale]") {
  optim::Adam adam({.learning_rate = 0.5, .clipnorm = 2.0});
  optim::LossScaleOptimizer optimizer(adam, {.initial_scale = 1024, .dynamic_growth_steps = 3});
  const std::string text = optim::serialize(optimizer);
  const auto made = optim::deserialize(text);
  CHECK(optim::serialize(*made) == text);
  auto& again = dynamic_cast<optim::LossScaleOptimizer&>(*made);
  CHECK(again.loss_scale() == 1024);
  CHECK(again.name() == "loss_scale_optimizer");
  CHECK(again.inner_optimizer().class_name() == "Adam");
  CHECK(again.learning_rate() == 0.5f);

  // The same step as of the one that was written.
  Variable w{Tensor{1.0f, 2.0f}}, v{Tensor{1.0f, 2.0f}};
  optimizer.apply_gradients({Tensor{1024.0f, -4096.0f}}, {w});
  again.apply_gradients({Tensor{1024.0f, -4096.0f}}, {v});
  CHECK(w.value().to_vector() == v.value().to_vector());
}

TEST_CASE("Keras's text of an optimizer that scales the loss is read", "[optim][loss_scale]") {
  // json.dumps(keras.optimizers.serialize(LossScaleOptimizer(SGD(0.25), 1024.0, 3))), Keras 3.15
  const std::string text =
      R"({"module": "keras.optimizers", "class_name": "LossScaleOptimizer", "config":
      {"name": "loss_scale_optimizer_1", "inner_optimizer": {"module": "keras.optimizers",
      "class_name": "SGD", "config": {"name": "sgd", "learning_rate": 0.25, "weight_decay": null,
      "clipnorm": null, "global_clipnorm": null, "clipvalue": null, "use_ema": false,
      "ema_momentum": 0.99, "ema_overwrite_frequency": null, "loss_scale_factor": null,
      "gradient_accumulation_steps": null, "momentum": 0.0, "nesterov": false},
      "registered_name": null}, "initial_scale": 1024.0, "dynamic_growth_steps": 3},
      "registered_name": null})";
  const auto made = optim::deserialize(text);
  CHECK(made->name() == "loss_scale_optimizer_1");
  CHECK(made->learning_rate() == 0.25f);
  CHECK(made->scale_loss(Tensor(2.0f)).item<float>() == 2048);
  Variable w{Tensor(1.0f)};
  for (int i = 0; i < 3; ++i) made->apply_gradients({Tensor(0.0f)}, {w});
  CHECK(made->scale_loss(Tensor(1.0f)).item<float>() == 2048);

  const optim::LossScaleOptimizer fixed(std::make_unique<optim::SGD>(), {.dynamic = false});
  CHECK(optim::serialize(*optim::deserialize(optim::serialize(fixed))) == optim::serialize(fixed));
  CHECK_THROWS_SAYING(optim::deserialize(R"({"class_name": "LossScaleOptimizer", "config": {}})"),
                      InvalidArgumentError, "no 'inner_optimizer'");
  CHECK_THROWS_SAYING(optim::deserialize(R"({"class_name": "LossScaleOptimizer", "config":
                          {"inner_optimizer": {"class_name": "Hypothetical", "config": {}}}})"),
                      InvalidArgumentError, "'Hypothetical' is not known here");
  CHECK_THROWS_AS(optim::LossScaleOptimizer(std::unique_ptr<optim::Optimizer>()),
                  InvalidArgumentError);
}
