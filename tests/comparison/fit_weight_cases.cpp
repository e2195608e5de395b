#include "cases.hpp"
#include "weight_values.hpp"

#include <distribute/nn/attention.hpp>
#include <distribute/nn/convolution.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/embedding.hpp>
#include <distribute/nn/merging.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/normalization.hpp>
#include <distribute/nn/policy.hpp>
#include <distribute/nn/pooling.hpp>
#include <distribute/nn/recurrent.hpp>
#include <distribute/nn/regression_losses.hpp>
#include <distribute/nn/reshaping.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/optim/sgd.hpp>
#include <distribute/train/model.hpp>

#include <map>
#include <memory>

namespace comparison {

namespace {

using Names = std::vector<std::string>;
using Classes = std::map<int64_t, float>;
namespace init = nn::initializers;

/// How a model is trained on one batch, and what of it is shown.
struct Trained {
  Tensor x, y;
  dist::train::LossFunction loss = "mse";
  Names metrics = {"mse", "mae"}, weighted = {};
  Tensor weight = {};
  Classes classes = {};
};

/// Loss and metrics of one batch in fit; then the weights.
Tensor figures(nn::Module& module, const Trained& how) {
  dist::optim::SGD optimizer({.learning_rate = 0.1f});
  dist::train::Model model(module);
  model.compile({.optimizer = optimizer,
                 .loss = how.loss,
                 .metrics = {how.metrics.begin(), how.metrics.end()},
                 .weighted_metrics = {how.weighted.begin(), how.weighted.end()}});
  const auto history =
      model.fit(dist::train::ArrayData{how.x, how.y, how.weight},
                {.class_weight = how.classes, .verbose = dist::train::Verbose::Silent},
                {.batch_size = 100, .shuffle = false});
  Names names{"loss"};
  for (const Names* more : {&how.metrics, &how.weighted})
    names.insert(names.end(), more->begin(), more->end());
  std::vector<float> values;
  for (const std::string& name : names) values.push_back(float(history.history.at(name).at(0)));
  for (const dist::Variable& variable : module.variables())
    for (const float weight : variable.value().to_vector()) values.push_back(weight);
  return f32({int64_t(values.size())}, values);
}

nn::Dense ones(int64_t units = 1) {
  return nn::Dense({.units = units, .use_bias = false, .kernel_initializer = init::ones()});
}

nn::Sequential dense(bool mask = true) {
  nn::Sequential model;
  if (mask) model.add(nn::Masking());
  model.add(ones());
  return model;
}

template <typename... Layers>
void fit_case(const std::string& name, const Trained& how, Layers... layers) {
  run_case(name, [&] {
    nn::Sequential model(std::move(layers)...);
    return figures(model, how);
  });
}

void dense_cases() {
  const Tensor steps = f32({2, 3, 1}, kSteps), targets = f32({2, 3, 1}, kTargets);
  fit_case("fit/[n] masked", {f32({3, 1}, {1, 0, 1}), f32({3, 1}, {0, 1, 1}), "mae"}, dense());
  const Trained two{f32({2, 1}, {1, 2}), f32({2, 1}, {3, 5}), "mse", {}, {"mae"}};
  Trained vector = two, column = two;
  vector.weight = f32({2}, kRow);
  column.weight = f32({2, 1}, kRow);
  column.y = Tensor{3.0f, 5.0f};
  fit_case("fit/[n,1] of [n]", vector, dense(false));
  fit_case("fit/[n] of [n,1]", column, dense(false));
  auto all = weights();
  all.erase(all.begin() + 1);
  all.push_back({"[2]", f32({2}, kRow)});
  for (const bool mask : {true, false}) {
    const std::string text = mask ? "masked" : "plain";
    for (const auto& [name, weight] : all) {
      fit_case(dist::str_cat("fit/", text, ", ", name),
               {steps, targets, "mse", {"mse"}, {"mae"}, weight}, dense(mask));
      for (const auto& [of, reduction] : reductions())
        if (reduction != nn::Reduction::None && reduction != nn::Reduction::SumOverBatchSize)
          fit_case(dist::str_cat("fit/", text, ", ", of, ", ", name),
                   {steps, targets, nn::MeanSquaredError({reduction}), {"mse", "mae"}, {}, weight},
                   dense(mask));
    }
  }
  run_case("fit/without reduction", [&] {
    nn::Sequential model = dense();
    return figures(model, {steps, targets, nn::MeanSquaredError({nn::Reduction::None}), {"mse"}});
  });
  fit_case("fit/all masked", {dist::zeros({2, 3, 1}), targets}, dense());
  fit_case("fit/batch normalization", {f32({2, 3, 2}, kWide), dist::zeros({2, 3, 2})},
           nn::Masking(), nn::BatchNormalization({.momentum = 0.5}));
}

void half_case(const char* name, dist::train::LossFunction loss, const Tensor& y, int64_t units = 1,
               dist::nn::ActivationFunction activation = nullptr) {
  run_case(dist::str_cat("fit/mixed_bfloat16, ", name), [&] {
    const std::vector<float> kernel{0.5f, -0.25f, 1.25f};
    nn::Sequential model(nn::Dense({.units = units,
                                    .activation = activation,
                                    .use_bias = false,
                                    .kernel_initializer = init::value(f32(
                                        {1, units}, {kernel.begin(), kernel.begin() + units}))}));
    model.set_dtype_policy(nn::Policy("mixed_bfloat16"));
    return Tensor(
        figures(model, {f32({3, 1}, {1.1f, 2.3f, -3.7f}), y, loss, {}}).to_vector().at(0));
  });
}

void half_cases() {
  for (const char* name : {"mse", "mae", "huber", "log_cosh"})
    half_case(name, name, f32({3, 1}, {3.3f, 5.7f, 0.1f}));
  const Tensor classes{int32_t(0), int32_t(1), int32_t(2)};
  half_case("binary", "binary_crossentropy", f32({3, 1}, {1, 0, 1}), 1, nn::sigmoid);
  half_case("sparse", "sparse_categorical_crossentropy", classes, 3,
            [](const Tensor& x) { return nn::softmax(x); });
  half_case("sparse of logits", nn::SparseCategoricalCrossentropy({.from_logits = true}), classes,
            3);
  for (const auto& [name, reduction] : {reductions()[1], reductions()[4]})
    run_case(dist::str_cat("losses/bfloat16, ", name), [reduction = reduction] {
      return nn::MeanSquaredError({reduction})(
          f32({2, 1}, {3.3f, 5.7f}), dist::cast(f32({2, 1}, {1.1f, 2.3f}), dist::DType::BFloat16));
    });
}

Tensor tokens() { return Tensor({2, 3}, std::vector<int32_t>{1, 2, 0, 3, 0, 0}); }
Tensor token_targets() { return f32({2, 3, 1}, {1, 1, 1, 2, 2, 2}); }

nn::Embedding embedding(int64_t width = 1) {
  const std::vector<float> narrow{0, 1, 2, 4}, wide{0, 0, 1, 0, 2, 1, 4, -1};
  return nn::Embedding(
      {.input_dim = 4,
       .output_dim = width,
       .embeddings_initializer = init::value(f32({4, width}, width == 1 ? narrow : wide)),
       .mask_zero = true});
}

nn::SimpleRNN rnn(bool sequences) {
  return nn::SimpleRNN({.units = 1,
                        .activation = nullptr,
                        .use_bias = false,
                        .kernel_initializer = init::ones(),
                        .recurrent_initializer = init::ones(),
                        .return_sequences = sequences});
}

template <typename Layer>
void embedding_case(const char* name, const Tensor& targets, Layer layer) {
  fit_case(dist::str_cat("fit/embedding and ", name), {tokens(), targets}, embedding(),
           std::move(layer));
}

void embedding_cases() {
  const Tensor last = f32({2, 1}, {1, 2}), flat = f32({2, 3}, {1, 1, 1, 2, 2, 2});
  const nn::BidirectionalOptions sum{.merge_mode = nn::MergeMode::Sum};
  embedding_case("Dense", token_targets(), ones());
  embedding_case("SimpleRNN, sequences", token_targets(), rnn(true));
  embedding_case("SimpleRNN", last, rnn(false));
  embedding_case("Bidirectional, sequences", token_targets(), nn::Bidirectional(rnn(true), sum));
  embedding_case("Bidirectional", last, nn::Bidirectional(rnn(false), sum));
  embedding_case("Flatten", flat, nn::Flatten());
  embedding_case("GlobalAveragePooling1D", last, nn::GlobalAveragePooling1D({}));
  embedding_case(
      "Conv1D", token_targets(),
      nn::Conv1D(
          {.filters = 1, .kernel_size = 1, .use_bias = false, .kernel_initializer = init::ones()}));
  embedding_case("Lambda", token_targets(), nn::Lambda([](const Tensor& x) { return x * 1.0f; }));
  embedding_case("a model", token_targets(), nn::Sequential(ones()));
  const Tensor classes({2, 3}, std::vector<int32_t>{0, 1, 0, 1, 1, 1});
  const std::vector<std::pair<const char*, Tensor>> all{
      {"no weights", Tensor()}, {"[2,1]", f32({2, 1}, {1, 2})}, {"[2,3]", f32({2, 3}, kMatrix)}};
  for (const auto& [name, weight] : all)
    fit_case(dist::str_cat("fit/classes of tokens, ", name),
             {tokens(),
              classes,
              "sparse_categorical_crossentropy",
              {"accuracy"},
              {"sparse_categorical_accuracy"},
              weight},
             embedding(2),
             nn::Dense({.units = 2,
                        .activation = [](const Tensor& x) { return nn::softmax(x); },
                        .use_bias = false,
                        .kernel_initializer = init::value(f32({2, 2}, {1, 0, 0, 1}))}));
}

void attention_fit_cases() {
  for (const bool residual : {false, true})
    run_case(residual ? "fit/attention and Add" : "fit/attention", [&] {
      nn::Functional model;
      const auto e = model.apply(embedding(2), model.input("x", {3}, dist::DType::Int32));
      auto y = model.apply(nn::MultiHeadAttention({.num_heads = 1,
                                                   .key_dim = 2,
                                                   .use_bias = false,
                                                   .kernel_initializer = init::constant(0.5)}),
                           {e, e});
      if (residual) y = model.apply(nn::Add(), {e, y});
      model.output("y", y);
      return figures(model, {tokens(), dist::ones({2, 3, 2})});
    });
}

/// The mean absolute error of two inputs, merged, as loss and as metric.
template <typename Layer>
Tensor evaluated(bool both) {
  nn::Functional network;
  const auto a = network.input("a", {3, 1}), b = network.input("b", {3, 1});
  const auto masked = network.apply(nn::Masking(), a);
  network.output("y", network.apply(Layer(), {masked, both ? network.apply(nn::Masking(), b) : b}));
  dist::optim::SGD optimizer({});
  dist::train::Model model(network);
  model.compile({.optimizer = optimizer, .loss = "mae", .metrics = {"mae"}});
  const auto logs = model.evaluate(
      dist::data::Dataset::from_tensor_slices(dist::data::TensorMap{{"a", f32({2, 3, 1}, kStepsA)},
                                                                    {"b", f32({2, 3, 1}, kStepsB)},
                                                                    {"y", dist::ones({2, 3, 1})}})
          .batch(2));
  return Tensor{float(logs.at("loss")), float(logs.at("mae"))};
}

template <typename Layer>
void merged_case(const char* name) {
  run_case(dist::str_cat("evaluate/", name, ", both"), [] { return evaluated<Layer>(true); });
  run_case(dist::str_cat("evaluate/", name, ", the first"), [] { return evaluated<Layer>(false); });
}

void merged_cases() {
  merged_case<nn::Add>("Add");
  merged_case<nn::Multiply>("Multiply");
  merged_case<nn::Average>("Average");
  merged_case<nn::Maximum>("Maximum");
  merged_case<nn::Concatenate>("Concatenate");
  run_case("evaluate/two outputs, one masked", [] {
    nn::Functional network;
    const auto e = network.apply(embedding(), network.input("x", {3}, dist::DType::Int32));
    network.output("p", network.apply(ones(), e));
    network.output("q", network.apply(nn::Flatten(), e));
    dist::optim::SGD optimizer({});
    dist::train::Model model(network);
    model.compile({.optimizer = optimizer,
                   .losses = {{"p", "mse"}, {"q", "mse"}},
                   .output_metrics = {{"p", {"mae"}}, {"q", {"mae"}}}});
    const auto logs = model.evaluate(
        dist::data::Dataset::from_tensor_slices(
            dist::data::TensorMap{
                {"x", tokens()}, {"p", token_targets()}, {"q", f32({2, 3}, {1, 1, 1, 2, 2, 2})}})
            .batch(2));
    std::vector<float> values;
    for (const char* name : {"loss", "p_loss", "q_loss", "p_mae", "q_mae"})
      values.push_back(float(logs.at(name)));
    return f32({5}, values);
  });
}

void class_case(const char* name, const Tensor& y, const Classes& classes,
                const char* loss = "sparse_categorical_crossentropy", int64_t units = 3) {
  nn::DenseOptions options{.units = units, .use_bias = false, .kernel_initializer = init::ones()};
  if (units > 1) options.activation = [](const Tensor& x) { return nn::softmax(x); };
  fit_case(dist::str_cat("classes/", name),
           {f32({4, 1}, {1, 2, -1, -2}), y, loss, {}, {}, {}, classes}, nn::Dense(options));
}

void class_cases() {
  const std::vector<int32_t> numbers{0, 1, 2, 0};
  const Tensor y({4}, numbers);
  class_case("the highest left out", y, {{0, 1.0f}, {1, 3.0f}});
  class_case("in columns", Tensor({4, 1}, numbers), {{0, 2.0f}, {1, 3.0f}});
  class_case("one-hot", f32({4, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0}), {{0, 2.0f}, {1, 3.0f}},
             "categorical_crossentropy");
  class_case("the lowest left out", y, {{2, 3.0f}});
  class_case("negative", f32({4}, {-1, 1, 1, -1}), {{-1, 2.0f}, {1, 3.0f}}, "hinge", 1);
  class_case("rounded", f32({4}, {0.4f, 1.2f, 1.6f, 0.6f}), {{0, 2.0f}, {1, 3.0f}}, "mse", 1);
  class_case("none", y, {});
}

void replica_cases() {
  auto strategy = mirrored(2);
  auto all = weights();
  all.erase(all.begin() + 1);
  for (const bool mask : {true, false})
    for (const auto& [of, reduction] : {reductions()[4], reductions()[3], reductions()[0]})
      for (const auto& [name, weight] : all)
        run_case(dist::str_cat("replicas/", mask ? "masked" : "plain", ", ", of, ", ", name),
                 [&, reduction = reduction, weight = weight] {
                   const auto scope = strategy.scope();
                   nn::Sequential network = dense(mask);
                   return figures(network, {f32({2, 3, 1}, kSteps),
                                            f32({2, 3, 1}, kTargets),
                                            nn::MeanSquaredError({reduction}),
                                            {"mse"},
                                            {},
                                            weight});
                 });
}

/// Two epochs, then an evaluation, with a penalty on the results of the first layer.
void penalized_case() {
  run_case("fit/activity penalty", [] {
    nn::Sequential module(nn::Dense({.units = 2,
                                     .kernel_initializer = init::ones(),
                                     .activity_regularizer = nn::regularizers::L1L2(0.1, 0.2)}),
                          nn::Dense({.units = 1, .kernel_initializer = init::ones()}));
    dist::optim::SGD optimizer({.learning_rate = 0.01f});
    dist::train::Model model(module);
    model.compile({.optimizer = optimizer, .loss = "mse"});
    const dist::train::ArrayData data{f32({4, 2}, {1, 2, 3, 4, 0, 1, 2, 0}),
                                      f32({4, 1}, {1, 2, 3, 4})};
    const auto history = model.fit(data, {.epochs = 2, .verbose = dist::train::Verbose::Silent},
                                   {.batch_size = 2, .shuffle = false});
    std::vector<float> values;
    for (const double loss : history.history.at("loss")) values.push_back(float(loss));
    for (const float weight : module.variables()[0].value().to_vector()) values.push_back(weight);
    return show(f32({int64_t(values.size())}, values));
  });
}

}  // namespace

void weighted_fit_cases() {
  penalized_case();
  dense_cases();
  half_cases();
  embedding_cases();
  attention_fit_cases();
  merged_cases();
  class_cases();
  replica_cases();
}

}  // namespace comparison
