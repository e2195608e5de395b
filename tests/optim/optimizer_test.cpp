#include <distribute/autograd/detail/accumulate.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/optim/adam.hpp>
#include <distribute/optim/schedules.hpp>
#include <distribute/optim/sgd.hpp>

#include <tests/support/check_throws.hpp>

#include "formulas_support.hpp"

using namespace distribute;
using namespace distribute_test;

TEST_CASE("clipping by norm, value and global norm follows Keras", "[optim][optimizer]") {
  optim::SGD norm({.learning_rate = 0.1f, .clipnorm = 0.5});
  check_formula(norm, {0.466431677f, -1.20982933f, 2.94482231f, 0.00999754947f},
                {0.997735023f, -2.02660251f});
  optim::SGD value({.learning_rate = 0.1f, .clipvalue = 0.25});
  check_formula(value, {0.48999998f, -1.21000004f, 2.9749999f, 0.00999000017f},
                {1.0f, -2.0250001f});
  optim::SGD global({.learning_rate = 0.1f, .global_clipnorm = 1.0});
  check_formula(global, {0.483903289f, -1.22721148f, 2.92068911f, 0.00999513455f},
                {0.988113642f, -2.00430512f});
  CHECK_THROWS_AS(optim::SGD({.clipnorm = 1.0, .clipvalue = 1.0}), InvalidArgumentError);
}

TEST_CASE("moving averages of the weights follow Keras and can be swapped in",
          "[optim][optimizer]") {
  const ThreeSteps steps;
  optim::SGD optimizer({.learning_rate = 0.1f, .use_ema = true, .ema_momentum = 0.8});
  CHECK_THROWS_AS(optimizer.swap_averages(steps.variables()), FailedPreconditionError);
  steps.run(optimizer);
  const std::vector<float> trained{0.460000038f, -1.24500012f, 2.81999993f, 0.00999000017f};
  const std::vector<float> averages{0.490400046f, -1.19380009f, 2.90799999f, 0.00999640021f};
  check_values(steps.w.value(), trained);
  optimizer.swap_averages(steps.variables());
  check_values(steps.w.value(), averages);
  optimizer.swap_averages(steps.variables());
  check_values(steps.w.value(), trained);
  optimizer.finalize_variable_values(steps.variables());
  check_values(steps.w.value(), averages);
  CHECK(optimizer.slot_variables()[0].slot_name == "average");
}

TEST_CASE("weights become their averages at a fixed interval of steps", "[optim][optimizer]") {
  optim::SGD optimizer(
      {.learning_rate = 0.1f, .use_ema = true, .ema_momentum = 0.8, .ema_overwrite_frequency = 2});
  check_formula(optimizer, {0.428000033f, -1.24100018f, 2.98000002f, 0.00999800023f},
                {0.800000012f, -1.755f});
}

TEST_CASE("the learning rate may change while training", "[optim][optimizer]") {
  const Variable w(Tensor{1.0f});
  optim::SGD optimizer({.learning_rate = 1.0f});
  optimizer.apply_gradients({Tensor{0.25f}}, {w});
  CHECK(w.value().item<float>() == 0.75f);
  optimizer.set_learning_rate(2.0f);
  CHECK(optimizer.learning_rate() == 2.0f);
  optimizer.apply_gradients({Tensor{0.125f}}, {w});
  CHECK(w.value().item<float>() == 0.5f);
  optimizer.set_learning_rate(optim::PiecewiseConstantDecay{{2}, {4.0, 8.0}});
  CHECK(optimizer.learning_rate() == 4.0f);
  optimizer.apply_gradients({Tensor{0.0f}}, {w});
  CHECK(optimizer.learning_rate() == 8.0f);
}

TEST_CASE("variables without gradient stay as they are", "[optim][optimizer]") {
  const ThreeSteps steps;
  optim::Adam optimizer;
  optimizer.apply_gradients({Tensor(), Tensor{1.0f, 1.0f}}, steps.variables());
  check_values(steps.w.value(), {0.5f, -1.2f, 3.0f, 0.01f}, 0);
  check_values(steps.bias.value(), {0.999f, -2.001f});
  CHECK(optimizer.slot_variables().size() == 2);
  CHECK_THROWS_WITH(optimizer.apply_gradients({Tensor(), Tensor()}, steps.variables()),
                    Contains("No gradients provided for any variable: 'w', 'bias'"));
  // What one gets who asks a model for its variables before its first call.
  CHECK_THROWS_WITH(optimizer.apply_gradients({}, {}),
                    Contains("call the model before trainable_variables()"));
  CHECK_THROWS_WITH(optimizer.apply_gradients({}, {steps.w}),
                    Contains("call the model before trainable_variables()"));
  CHECK_THROWS_AS(optimizer.apply_gradients({Tensor()}, steps.variables()), InvalidArgumentError);
  CHECK_THROWS_AS(optimizer.apply_gradients({Tensor{1.0f}, Tensor{1.0f}}, steps.variables()),
                  InvalidArgumentError);
}

TEST_CASE("apply_gradients refuses cross-replica context", "[optim][optimizer]") {
  const Variable w(Tensor{1.0f});
  optim::SGD optimizer;
  get_replica_context()->merge([&] {
    CHECK_THROWS_AS(optimizer.apply_gradients({Tensor{1.0f}}, {w}), FailedPreconditionError);
  });
}

TEST_CASE("sparse gradients of optimizers with memory update every row", "[optim][optimizer]") {
  const Tensor start({3, 1}, std::vector<float>{1, 2, 3});
  const Variable sparse(start), dense(start);
  optim::SGD a({.learning_rate = 0.1f, .momentum = 0.9f});
  optim::SGD b({.learning_rate = 0.1f, .momentum = 0.9f});
  const Tensor row = to_tensor({Tensor({1, 1}, std::vector<float>{1}), Tensor{int64_t{1}}, {3, 1}});
  const Tensor other =
      to_tensor({Tensor({1, 1}, std::vector<float>{1}), Tensor{int64_t{0}}, {3, 1}});
  a.apply_gradients({row}, {sparse});
  a.apply_gradients({other}, {sparse});
  b.apply_gradients({Tensor({3, 1}, std::vector<float>{0, 1, 0})}, {dense});
  b.apply_gradients({Tensor({3, 1}, std::vector<float>{1, 0, 0})}, {dense});
  check_values(sparse.value(), dense.value().to_vector(), 0);
}

TEST_CASE("plain descent touches only the rows of a sparse gradient", "[optim][optimizer]") {
  const Variable table(Tensor({3, 2}, std::vector<float>{1, 2, 3, 4, 5, 6}));
  optim::SGD optimizer({.learning_rate = 0.5f});
  optimizer.apply_gradients({to_tensor({Tensor({2, 2}, std::vector<float>{1, 1, 2, 2}),
                                        Tensor{int64_t{1}, int64_t{1}},
                                        {3, 2}})},
                            {table});
  check_values(table.value(), {1, 2, 1.5f, 2.5f, 5, 6}, 0);
}

TEST_CASE("minimize takes the gradients from the tape", "[optim][optimizer]") {
  const Variable w(Tensor{3.0f});
  optim::SGD optimizer({.learning_rate = 0.5f});
  GradientTape tape;
  const Tensor loss = combine(w.value(), w.value(), 1.0f);
  optimizer.minimize(loss, {w}, tape);
  CHECK(w.value().item<float>() == 2.0f);
  CHECK(optimizer.iterations() == 1);
}

TEST_CASE("a restorer hears of every slot that is made", "[optim][optimizer]") {
  struct Saved : Trackable::Restorer {
    void created(const std::string& name, const Variable& slot, const Variable& of) override {
      if (name == "momentum" && of.name() == "w") slot.assign(Tensor{4.0f});
    }
    std::shared_ptr<Restorer> part(const std::string&) override { return nullptr; }
  };
  const Variable w(Tensor{1.0f}, {.name = "w"});
  optim::SGD optimizer({.learning_rate = 1.0f, .momentum = 0.5f});
  optimizer.set_restorer(std::make_shared<Saved>());
  optimizer.apply_gradients({Tensor{0.0f}}, {w});
  CHECK(w.value().item<float>() == 3.0f);
  const auto own = optimizer.own_variables();
  REQUIRE(own.size() == 2);
  CHECK(own[0].name == "iterations");
  CHECK(own[1].name == "learning_rate");
}

// Keras 3.15 refuses it: "Unknown variable: <Variable path=b, ...>. This optimizer can only be
// called for the variables it was originally built with". The numbers are those of TensorFlow's
// tf.compat.v1.train.AdamOptimizer and MomentumOptimizer, which allow it.
TEST_CASE("a variable may be new after the optimizer was built: its slots begin with zeros",
          "[optim][optimizer]") {
  const Variable a(Tensor{1.0f}), b(Tensor{1.0f});
  optim::Adam adam({.learning_rate = 0.1, .epsilon = 1e-8});
  adam.build({a});
  adam.apply_gradients({Tensor{1.0f}}, {a});
  adam.apply_gradients({Tensor{1.0f}, Tensor{1.0f}}, {a, b});
  CHECK(a.value().item<float>() == Approx(0.80000037f));
  CHECK(b.value().item<float>() == Approx(0.9255866f));
  CHECK(adam.slot_variables().size() == 4);
  const Variable c(Tensor{1.0f}), d(Tensor{1.0f});
  optim::SGD momentum({.learning_rate = 0.1, .momentum = 0.9});
  momentum.apply_gradients({Tensor{1.0f}}, {c});
  momentum.apply_gradients({Tensor{1.0f}, Tensor{1.0f}}, {c, d});
  momentum.apply_gradients({Tensor{1.0f}}, {d});  // and one may be left out
  CHECK(c.value().item<float>() == Approx(0.71f));
  CHECK(d.value().item<float>() == Approx(0.71f));
}

// Keras's figures for one rate and for the other, each variable from one of them.
TEST_CASE("variables may have learning rates of their own", "[optim][optimizer]") {
  optim::Adam adam({.learning_rate = 0.01f});
  adam.multiply_learning_rate({"bias", "norm"}, 0.1);
  check_formula(adam, {0.492284477f, -1.19016957f, 2.97691393f, -0.00278896093f},
                {0.998040795f, -1.9981513f});
  optim::SGD momentum({.learning_rate = 0.01f, .momentum = 0.9, .weight_decay = 0.1});
  momentum.multiply_learning_rate([](const Variable& v) { return v.name() == "w" ? 0.1 : 1.0; });
  check_formula(momentum, {0.499639034f, -1.1997931f, 2.99498749f, 0.00999680907f},
                {0.925790012f, -1.90546966f});
  CHECK_THROWS_AS(adam.multiply_learning_rate({"w"}, -1.0), InvalidArgumentError);
}

TEST_CASE("decay leaves out variables by words of their names", "[optim][optimizer]") {
  optim::AdamW adam({.learning_rate = 0.01f, .weight_decay = 0.1});
  adam.exclude_from_weight_decay({"bias", "norm"});
  check_formula(adam, {0.490800381f, -1.18659794f, 2.9679513f, -0.00281171757f},
                {0.980408192f, -1.9815135f});
}

TEST_CASE("factors of a rate multiply, and 0 leaves a variable as it is", "[optim][optimizer]") {
  const ThreeSteps steps;
  optim::SGD sgd({.learning_rate = 0.5f});
  sgd.multiply_learning_rate({"w"}, 0.0);
  sgd.multiply_learning_rate({"b"}, 0.5);
  sgd.multiply_learning_rate({"ias"}, 0.5);
  sgd.apply_gradients(ThreeSteps::gradients(0), steps.variables());
  check_values(steps.w.value(), {0.5f, -1.2f, 3.0f, 0.01f});
  check_values(steps.bias.value(), {1.0f - 0.125f * 3.0f, -2.0f + 0.125f * 4.0f});
}

namespace {

/// Halves the gradients before the update.
struct Halving : optim::SGD {
  using SGD::SGD;
  int64_t apply_gradients(const std::vector<Tensor>& gradients,
                          const std::vector<Variable>& variables,
                          optim::ApplyOptions options = {}) override {
    std::vector<Tensor> halves;
    for (const Tensor& gradient : gradients) halves.push_back(gradient * 0.5f);
    return SGD::apply_gradients(halves, variables, options);
  }
};

}  // namespace

TEST_CASE("minimize calls an optimizer's own apply_gradients", "[optim][optimizer]") {
  for (const bool clips : {false, true}) {
    const Variable w(Tensor{3.0f});
    Halving sgd({.learning_rate = 0.1f, .clipvalue = clips ? std::optional(100.0) : std::nullopt});
    GradientTape tape;
    const Tensor loss = reduce_sum(w.value() * w.value());
    CHECK(sgd.minimize(loss, {w}, tape) == 1);
    CHECK(w.value().item<float>() == 3.0f - 0.1f * 3.0f);
  }
}

TEST_CASE("gradients whose sums have begun cannot be changed", "[optim][optimizer]") {
  const Variable w(Tensor{3.0f});
  const std::vector<Tensor> gradients{Tensor{6.0f}};
  optim::BegunGradients begun{gradients};
  Halving sgd({.learning_rate = 0.1f});
  CHECK_THROWS_SAYING(sgd.apply_gradients(gradients, {w}, {.begun = &begun}),
                      FailedPreconditionError, "override minimize() as well");
  CHECK(w.value().item<float>() == 3.0f);
  optim::SGD plain({.learning_rate = 0.1f});
  plain.apply_gradients(gradients, {w}, {.begun = &begun});
  CHECK(begun.applied);
}
