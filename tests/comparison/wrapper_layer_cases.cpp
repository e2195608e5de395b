/// Layers around layers, as wrapper_layer_cases.py prints them.
#include "layer_cases.hpp"

#include <distribute/nn/activation.hpp>
#include <distribute/nn/attention_layers.hpp>
#include <distribute/nn/convolution.hpp>
#include <distribute/nn/convolution_1d_3d.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/embedding.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/normalization.hpp>
#include <distribute/nn/recurrent.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/optim/sgd.hpp>
#include <distribute/train/model.hpp>

namespace comparison {

namespace {

namespace regularizers = nn::regularizers;
using dist::DType;

std::string numbers(const std::vector<double>& values) {
  const std::string text = rows(values);
  return text.substr(1, text.size() - 2);
}
std::string numbers(const Tensor& tensor) {
  const std::vector<float> values = tensor.to_vector();
  return numbers(std::vector<double>(values.begin(), values.end()));
}

/// Wraps the layer that `make` gives, with the default options and in training.
template <typename Make>
void spectral_grid(const std::string& name, Make make, const LayerInput& input) {
  check("spectral " + name, [=] { return nn::SpectralNormalization(make()); }, {input});
  for (const auto& [iterations, calls] :
       std::vector<std::pair<int64_t, int>>{{1, 1}, {3, 1}, {1, 3}})
    check(str_cat("spectral ", name, ", ", iterations, " iterations, ", calls, " calls"),
          [=, iterations = iterations] {
            return nn::SpectralNormalization(make(), {.power_iterations = iterations});
          },
          {input}, {.training = true, .calls = calls});
}

void spectral_layers() {
  spectral_grid(
      "dense", [] { return nn::Dense({.units = 4, .activation = nn::tanh}); }, steps());
  spectral_grid(
      "flat dense", [] { return nn::Dense({.units = 1}); }, Shape{2, 3});
  spectral_grid(
      "einsum",
      [] {
        return nn::EinsumDense(
            {.equation = "abc,cde->abde", .output_shape = {-1, 2, 3}, .bias_axes = "de"});
      },
      steps());
  spectral_grid(
      "conv1d", [] { return nn::Conv1D({.filters = 2, .kernel_size = 2}); }, steps());
  spectral_grid(
      "conv2d",
      [] {
        return nn::Conv2D({.filters = 3, .kernel_size = {2, 3}});
      },
      image());
  spectral_grid(
      "depthwise", [] { return nn::DepthwiseConv2D({.kernel_size = 2, .depth_multiplier = 2}); },
      image());
  spectral_grid(
      "transposed",
      [] { return nn::Conv2DTranspose({.filters = 3, .kernel_size = 2, .strides = 2}); }, image());
  spectral_grid(
      "no bias", [] { return nn::Dense({.units = 2, .use_bias = false}); }, steps());
  spectral_grid(
      "float indices", [] { return nn::Embedding({.input_dim = 4, .output_dim = 3}); },
      cast(ids(), DType::Float32));
}

template <typename Make>
void spectral(const std::string& name, Make make, const LayerCase& how = {},
              int64_t iterations = 1) {
  check(
      "spectral " + name,
      [=] { return nn::SpectralNormalization(make(), {.power_iterations = iterations}); },
      {steps()}, how);
}

std::string trained(int replicas) {
  auto strategy = mirrored(replicas);
  const auto scope = strategy.scope();
  nn::Sequential net(nn::SpectralNormalization(nn::Dense({.units = 2})));
  net(dist::zeros({1, 4}));
  const std::vector<dist::Variable> weights = net.variables();
  for (size_t i = 0; i < weights.size(); ++i) weights[i].assign(uniform(weights[i].shape(), i + 1));
  dist::optim::SGD optimizer({.learning_rate = 0.125});
  dist::train::Model model(net);
  model.compile({.optimizer = optimizer, .loss = "mse"});
  const Tensor x = uniform({8, 4}, 7);
  const auto history = model.fit(dist::train::ArrayData{x, dist::ones({8, 2})},
                                 {.epochs = 3, .verbose = dist::train::Verbose::Silent},
                                 {.batch_size = 4, .shuffle = false});
  std::string text = numbers(history.history.at("loss"));
  for (const dist::Variable& weight : weights) text += " " + numbers(weight.value());
  return text + " " + numbers(net(x.rows(0, 2)));
}

void spectral_cases() {
  spectral_layers();
  const auto dense = [] { return nn::Dense({.units = 2}); };
  spectral("masked", dense, {.masks = {gaps()}, .training = true});
  spectral("lstm", [] { return nn::LSTM({.units = 2}); });
  spectral("batch norm", [] { return nn::BatchNormalization(); });
  spectral("separable", [] { return nn::SeparableConv1D({.filters = 2, .kernel_size = 2}); });
  spectral("frozen", dense, {.training = true, .frozen = true});
  spectral("regularized",
           [] {
             return nn::Dense({.units = 2,
                               .kernel_regularizer = regularizers::L2(0.1),
                               .bias_regularizer = regularizers::L1(0.2)});
           },
           {.training = true});
  spectral("of spectral",
           [=]() -> std::unique_ptr<nn::Module> {
             const nn::SpectralNormalizationOptions two{.power_iterations = 2};
             return std::make_unique<nn::SpectralNormalization>(dense(), two);
           },
           {.training = true});
  for (const int64_t iterations : {0, -1})
    spectral(str_cat(iterations, " iterations"), dense, {}, iterations);
  run_case("layers/spectral indices", [] {
    nn::SpectralNormalization layer(nn::Embedding(
        {.input_dim = 4, .output_dim = 3, .embeddings_initializer = nn::initializers::ones()}));
    const Tensor y = layer(ids());
    return str_cat(name_of(y.dtype()), " ", sums("out", y));
  });
  run_case("layers/spectral zeros", [] {
    nn::SpectralNormalization layer(
        nn::Dense({.units = 2, .kernel_initializer = nn::initializers::zeros()}));
    return sums("out", layer(uniform(steps(), 500), {.training = true})) + " " +
           sums("kernel", layer.variables()[0].value());
  });
  for (const int replicas : {1, 2})
    run_case(str_cat("layers/spectral trained on ", replicas), [&] { return trained(replicas); });
}

}  // namespace

void wrapper_layer_cases() { spectral_cases(); }

}  // namespace comparison
