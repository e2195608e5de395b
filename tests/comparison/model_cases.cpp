/// Cases of models and inputs under strategies, as model_cases.py prints them.
#include "cases.hpp"

#include <distribute/nn/dense.hpp>
#include <distribute/nn/dropout.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/normalization.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/random.hpp>
#include <distribute/optim/sgd.hpp>
#include <distribute/strategy/distributed_dataset.hpp>
#include <distribute/strategy/strategy.hpp>
#include <distribute/train/callbacks.hpp>
#include <distribute/train/model.hpp>

namespace comparison {

namespace {

namespace nn = dist::nn;
namespace train = dist::train;

template <typename Function>
std::vector<Tensor> in_replicas(dist::Strategy& strategy, Function function) {
  return strategy.experimental_local_results(strategy.run(function));
}

Tensor inputs(int64_t rows) {
  std::vector<float> values(static_cast<size_t>(rows));
  for (size_t i = 0; i < values.size(); ++i) values[i] = float(i + 1) / 10;
  return Tensor({rows, 1}, values);
}
dist::data::Dataset batches(int64_t size, int64_t rows) {
  return dist::data::Dataset::from_tensor_slices(inputs(rows), inputs(rows) * 2.0f + 1.0f)
      .batch(size);
}

void norm_cases(dist::Strategy& s2) {
  for (const bool synchronized : {false, true}) {
    const std::string name =
        std::string("models/") + (synchronized ? "synchronized " : "") + "batch norm";
    const auto scope = s2.scope();
    nn::BatchNormalization layer({.synchronized = synchronized});
    run_case(name, [&] {
      return in_replicas(s2, [&] {
        const float x = 4.0f * float(dist::get_replica_context()->replica_id_in_sync_group());
        return layer(Tensor({2, 1}, std::vector<float>{x, x + 2}), {.training = true});
      });
    });
    const std::pair<const char*, const dist::Variable&> moving[] = {
        {"moving_mean", layer.moving_mean()}, {"moving_variance", layer.moving_variance()}};
    for (const auto& [what, variable] : moving) {
      run_case(dist::str_cat(name, ", ", what, " of the replicas"),
               [&, &value = variable] { return in_replicas(s2, [&] { return value.value(); }); });
      run_case(dist::str_cat(name, ", ", what), [&, &value = variable] { return value.value(); });
    }
  }
}

bool are_equal(const std::vector<Tensor>& both) {
  return both.at(0).to_vector() == both.at(1).to_vector();
}

void random_cases(dist::Strategy& s2) {
  for (const bool seeded : {false, true})
    run_case(
        dist::str_cat("models/dropout", seeded ? " with a seed" : "", ", equal in both replicas"),
        [&] {
          const auto scope = s2.scope();
          nn::DropoutOptions options{.rate = 0.5};
          if (seeded) options.seed = 3;
          nn::Dropout layer(options);
          return are_equal(
              in_replicas(s2, [&] { return layer(dist::ones({64}), {.training = true}); }));
        });
  run_case("models/random numbers, equal in both replicas", [&] {
    return are_equal(
        in_replicas(s2, [] { return dist::random::uniform({8}, dist::random::next_seed()); }));
  });
}

/// One weight that begins with 1, and what trains it.
struct Line {
  nn::Sequential net{
      nn::Dense({.units = 1, .use_bias = false, .kernel_initializer = nn::initializers::ones()})};
  dist::optim::SGD optimizer{{.learning_rate = 0.1}};
  train::Model model{net};

  void compile() { model.compile({.optimizer = optimizer, .loss = "mse"}); }
  train::History fit(const dist::data::Dataset& data = batches(4, 8)) {
    return model.fit(data, {.verbose = train::Verbose::Silent});
  }
  Tensor weight() const { return net.trainable_variables().at(0).value(); }
};

std::string number(const Tensor& value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.7g", double(value.to_vector().at(0)));
  return text;
}

/// Notes the names of what it is told of each batch of predict().
class Told : public train::Callback {
 public:
  void on_predict_batch_end(int64_t batch, train::Logs& logs) override {
    text += dist::str_cat(text.empty() ? "" : " ", batch, ":");
    for (const auto& [name, value] : logs) text += name;
  }
  std::string text;
};

void training_cases(dist::Strategy& s2) {
  run_case("models/logs of batches of predict", [] {
    Line line;
    line.compile();
    Told told;
    line.model.predict(batches(4, 8), {.callbacks = {told}});
    return told.text;
  });
  const auto in_scope = [&](const std::string& name, auto function) {
    run_case("models/" + name, [&] {
      const auto scope = s2.scope();
      Line line;
      return function(line);
    });
  };
  in_scope("fit on nothing", [](Line& line) {
    line.compile();
    return dist::str_cat(line.fit(batches(4, 8).take(0)).epoch.size());
  });
  in_scope("fit without compile",
           [](Line& line) { return dist::str_cat(line.fit().epoch.size()); });
  in_scope("fit inside of the scope", [](Line& line) {
    line.compile();
    line.fit();
    return number(line.weight());
  });
  run_case("models/compile outside of the scope", [&] {
    std::unique_ptr<Line> line;
    {
      const auto scope = s2.scope();
      line = std::make_unique<Line>();
      line->model.build({{{-1, 1}, dist::DType::Float32}, {{-1, 1}, dist::DType::Float32}});
    }
    line->compile();
    line->fit();
    return number(line->weight());
  });
  in_scope("weight of the replicas after fit", [&](Line& line) {
    line.compile();
    line.fit();
    return in_replicas(s2, [&] { return line.weight(); });
  });
}

/// Of anything that has a length.
template <typename Dataset>
std::string length_of(const Dataset& dataset) {
  if constexpr (requires { dataset.size(); }) return dist::str_cat(dataset.size());
  throw dist::UnimplementedError("it has no length");
}

void distributed_input_cases(dist::Strategy& s2) {
  const auto numbers = [&](bool drop_remainder) {
    return s2.experimental_distribute_dataset(
        dist::data::Dataset::range(9).batch(4, drop_remainder));
  };
  run_case("models/length of a distributed dataset", [&] { return length_of(numbers(false)); });
  for (const bool dropped : {false, true})
    run_case(
        dist::str_cat("models/spec of a distributed iterator", dropped ? ", drop_remainder" : ""),
        [&] {
          const dist::data::TensorSpec spec = numbers(dropped).iterator().element_spec().at(0);
          return dist::str_cat(spec.shape.at(0), " ", dist::name_of(spec.dtype));
        });
}

}  // namespace

void model_cases() {
  auto two = mirrored(2);
  for (auto* cases : {norm_cases, random_cases, training_cases, distributed_input_cases})
    cases(two);
}

}  // namespace comparison
