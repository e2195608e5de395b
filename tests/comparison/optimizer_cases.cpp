#include "cases.hpp"

#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/optim/adagrad.hpp>
#include <distribute/optim/adam.hpp>
#include <distribute/optim/lamb.hpp>
#include <distribute/optim/schedules.hpp>
#include <distribute/optim/sgd.hpp>

#include <limits>
#include <memory>

namespace comparison {

namespace {

namespace optim = dist::optim;
using dist::Variable;
using MakeOptimizer = std::function<std::unique_ptr<optim::Optimizer>()>;

struct Training {
  int replicas = 2, steps = 3;
  Tensor start = Tensor{1.0f, 2.0f};
  std::vector<Tensor> gradients = {Tensor{0.5f, -1.0f}, Tensor{1.5f, 3.0f}};
};

Tensor trained(const MakeOptimizer& make, const Training& training = {}) {
  auto strategy = mirrored(training.replicas);
  const auto scope = strategy.scope();
  const Variable weight(training.start);
  const auto optimizer = make();
  optimizer->build({weight});
  for (int step = 0; step < training.steps; ++step)
    strategy.run([&] { optimizer->apply_gradients({in_replica(training.gradients)}, {weight}); });
  return weight.value();
}

template <typename Optimizer, typename Options>
MakeOptimizer maker(Options options) {
  return [options] { return std::make_unique<Optimizer>(options); };
}

void step_cases() {
  using optim::SGDOptions;
  const std::vector<std::pair<const char*, MakeOptimizer>> makers{
      {"sgd", maker<optim::SGD>(SGDOptions{.learning_rate = 0.1})},
      {"momentum", maker<optim::SGD>(SGDOptions{.learning_rate = 0.1, .momentum = 0.9})},
      {"nesterov",
       maker<optim::SGD>(SGDOptions{.learning_rate = 0.1, .momentum = 0.9, .nesterov = true})},
      {"adam", maker<optim::Adam>(optim::AdamOptions{.learning_rate = 0.1})},
      {"amsgrad", maker<optim::Adam>(optim::AdamOptions{.learning_rate = 0.1, .amsgrad = true})},
      {"adamw",
       maker<optim::AdamW>(optim::AdamWOptions{.learning_rate = 0.1, .weight_decay = 0.05})},
      {"rmsprop", maker<optim::RMSprop>(optim::RMSpropOptions{.learning_rate = 0.1})},
      {"rmsprop centered", maker<optim::RMSprop>(optim::RMSpropOptions{
                               .learning_rate = 0.1, .momentum = 0.5, .centered = true})},
      {"adagrad", maker<optim::Adagrad>(optim::AdagradOptions{.learning_rate = 0.1})},
      {"nadam", maker<optim::Nadam>(optim::NadamOptions{.learning_rate = 0.1})},
      {"adamax", maker<optim::Adamax>(optim::AdamaxOptions{.learning_rate = 0.1})},
      {"adadelta", maker<optim::Adadelta>(optim::AdadeltaOptions{.learning_rate = 0.1})},
      {"lion", maker<optim::Lion>(optim::LionOptions{.learning_rate = 0.1})},
      {"ftrl", maker<optim::Ftrl>(optim::FtrlOptions{.learning_rate = 0.1})},
      {"lamb", maker<optim::Lamb>(optim::LambOptions{.learning_rate = 0.1})},
      {"sgd clipnorm", maker<optim::SGD>(SGDOptions{.learning_rate = 0.1, .clipnorm = 1.0})},
      {"sgd global_clipnorm",
       maker<optim::SGD>(SGDOptions{.learning_rate = 0.1, .global_clipnorm = 1.0})},
      {"sgd clipvalue", maker<optim::SGD>(SGDOptions{.learning_rate = 0.1, .clipvalue = 0.75})}};
  for (const auto& [name, make] : makers)
    for (int replicas : {1, 2})
      run_case(dist::str_cat("optimizers/", name, "/", replicas, " replicas"),
               [&, &make = make] { return trained(make, {.replicas = replicas}); });
  run_case("optimizers/clipnorm, one step", [] {
    return trained(maker<optim::SGD>(SGDOptions{.learning_rate = 1.0, .clipnorm = 1.0}),
                   {.steps = 1, .start = Tensor{10.0f}, .gradients = {Tensor{3.0f}, Tensor{3.0f}}});
  });
  run_case("optimizers/weight_decay of sgd", [] {
    return trained(maker<optim::SGD>(SGDOptions{.learning_rate = 0.1, .weight_decay = 0.1}));
  });
  run_case("optimizers/averages", [] {
    return trained(maker<optim::SGD>(SGDOptions{
        .learning_rate = 0.1, .use_ema = true, .ema_momentum = 0.5, .ema_overwrite_frequency = 2}));
  });
}

template <typename Schedule>
void schedule_case(const char* name, const Schedule& schedule) {
  run_case(dist::str_cat("schedules/", name), [&] {
    std::vector<double> rates;
    for (int64_t step : {0, 1, 2, 5, 10, 19, 20, 30}) rates.push_back(schedule(step));
    return rows(rates);
  });
}

void schedule_cases() {
  schedule_case("piecewise", optim::PiecewiseConstantDecay{{2, 10}, {1.0, 0.5, 0.1}});
  schedule_case("exponential", optim::ExponentialDecay{0.1, 10, 0.5});
  schedule_case("exponential staircase", optim::ExponentialDecay{0.1, 10, 0.5, true});
  schedule_case("cosine", optim::CosineDecay{0.1, 20});
  schedule_case("cosine alpha", optim::CosineDecay{0.1, 20, 0.1});
  schedule_case("cosine warmup", optim::CosineDecay{0.0, 20, 0.0, 0.1, 5});
  schedule_case("polynomial", optim::PolynomialDecay{0.1, 20, 0.01, 2.0});
  schedule_case("polynomial cycle", optim::PolynomialDecay{0.1, 8, 0.01, 1.0, true});
  schedule_case("inverse time", optim::InverseTimeDecay{0.1, 10, 0.5});
  schedule_case("inverse time staircase", optim::InverseTimeDecay{0.1, 10, 0.5, true});
}

void clip_cases() {
  const std::vector<Tensor> pair{Tensor{3.0f}, Tensor{4.0f}};
  run_case("clip/by_norm", [] { return dist::clip_by_norm(Tensor{3.0f, 4.0f}, 1.0f); });
  run_case("clip/by_norm within", [] { return dist::clip_by_norm(Tensor{0.3f, 0.4f}, 1.0f); });
  run_case("clip/by_global_norm", [&] { return dist::clip_by_global_norm(pair, 1.0f).list; });
  run_case("clip/by_global_norm with none", [] {
    return dist::clip_by_global_norm({Tensor(), Tensor{4.0f}}, 1.0f).list;
  });
  run_case("clip/by_global_norm of infinity", [] {
    const Tensor infinite{std::numeric_limits<float>::infinity()};
    return dist::clip_by_global_norm({infinite, Tensor{4.0f}}, 1.0f).list[1];
  });
  run_case("clip/by_value", [] {
    return dist::clip_by_value(Tensor{-2.0f, 0.5f, 3.0f}, -1.0f, 1.0f);
  });
  run_case("clip/global_norm", [&] { return dist::global_norm(pair); });
}

/// The gradients of what `target` gives.
std::vector<Tensor> gradients(const std::function<Tensor()>& target,
                              const std::vector<Variable>& sources,
                              dist::GradientTape::Call call = {}) {
  dist::GradientTape tape;
  const Tensor loss = target();
  return tape.gradient({loss}, sources, call);
}

Tensor second_gradient(const Variable& x, bool persistent) {
  dist::GradientTape tape({.persistent = persistent});
  const Tensor loss = dist::reduce_sum(dist::square(x.value()));
  tape.gradient(loss, x);
  return tape.gradient(loss, x);
}

}  // namespace

void optimizer_cases() {
  step_cases();
  schedule_cases();
}

void gradient_cases() {
  clip_cases();
  const Variable x(Tensor{1.0f, 2.0f}), y(Tensor{3.0f});
  const Variable fixed(Tensor(5.0f), {.trainable = false});
  const auto sum_of_squares = [&] { return dist::reduce_sum(x.value() * x.value()); };
  run_case("tape/square", [&] { return gradients(sum_of_squares, {x}); });
  run_case("tape/a target that is not a scalar",
           [&] { return gradients([&] { return x.value() * x.value(); }, {x}); });
  run_case("tape/unconnected", [&] { return gradients(sum_of_squares, {x, y}); });
  run_case("tape/unconnected zero", [&] {
    return gradients(sum_of_squares, {x, y}, {.unconnected = dist::UnconnectedGradients::Zero});
  });
  run_case("tape/not trainable",
           [&] { return gradients([&] { return fixed.value() * fixed.value(); }, {fixed}); });
  run_case("tape/twice", [&] { return second_gradient(x, false); });
  run_case("tape/twice persistent", [&] { return second_gradient(x, true); });
  run_case("tape/maximum of equals", [&] {
    return gradients([&] { return dist::maximum(x.value(), Tensor{1.0f, 1.0f}); }, {x});
  });
  run_case("tape/reduce_max of equals", [&] {
    return gradients([&] { return dist::reduce_max(x.value() * Tensor{2.0f, 1.0f}); }, {x});
  });
  run_case("tape/norm at zero", [&] {
    return gradients(
        [&] { return dist::sqrt(dist::reduce_sum(dist::square(x.value() - x.value()))); }, {x});
  });
}

}  // namespace comparison
