/// Layers that change shapes or single elements, and first values of weights, as layer_cases.py
/// prints them.
#include "layer_cases.hpp"

#include <distribute/language_models/group_query_attention.hpp>
#include <distribute/nn/activation.hpp>
#include <distribute/nn/attention.hpp>
#include <distribute/nn/convolution.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/dropout.hpp>
#include <distribute/nn/embedding.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/normalization.hpp>
#include <distribute/nn/pooling.hpp>
#include <distribute/nn/recurrent.hpp>
#include <distribute/nn/regularizers.hpp>
#include <distribute/nn/reshaping.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/random.hpp>
#include <distribute/preprocessing/normalization.hpp>
#include <distribute/preprocessing/random_images.hpp>

#include <cmath>
#include <map>
#include <set>

namespace comparison {

using dist::DType;

namespace {

namespace regularizers = nn::regularizers;
using nn::ActivationFunction;

Tensor floats(const Shape& shape, const std::vector<float>& values) { return {shape, values}; }

void relu_cases() {
  for (const auto& [most_name, most] : std::vector<std::pair<std::string, std::optional<double>>>{
           {"None", {}}, {"0.5", 0.5}, {"0", 0}})
    for (const auto& [slope_name, slope] : {std::pair{"0", 0.0}, std::pair{"0.1", 0.1}})
      for (const auto& [least_name, least] : {std::pair{"0", 0.0}, std::pair{"0.2", 0.2}})
        check(str_cat("relu layer ", most_name, " ", slope_name, " ", least_name),
              [&, most = most, slope = slope, least = least] {
                return nn::ReLU({.max_value = most, .negative_slope = slope, .threshold = least});
              },
              {steps()}, {.masks = {gaps()}});
  check("relu layer negative", [] { return nn::ReLU({.threshold = -0.5}); }, {steps()});
  check("relu layer at its ends",
        [] { return nn::ReLU({.max_value = 6, .negative_slope = 0.1, .threshold = 1}); },
        {floats({5}, {-1, 0, 1, 6, 7})});
  for (const auto& [name, slope] :
       {std::pair{"0.3", 0.3}, std::pair{"0.01", 0.01}, std::pair{"1.5", 1.5}, std::pair{"0", 0.0}})
    check(str_cat("leaky ", name),
          [&, slope = slope] { return nn::LeakyReLU({.negative_slope = slope}); }, {steps()});
  check("leaky default", [] { return nn::LeakyReLU(); }, {steps()}, {.masks = {gaps()}});
  for (const auto& [name, axes] : std::vector<std::pair<std::string, std::vector<int>>>{
           {"None", {}}, {"[1]", {1}}, {"[2]", {2}}, {"[1, 2]", {1, 2}}, {"[-1]", {-1}}})
    check("prelu " + name,
          [&, &axes = axes] {
            return nn::PReLU({.alpha_regularizer = regularizers::L1(0.1), .shared_axes = axes});
          },
          {image()});
}

void softmax_cases() {
  const auto plain = [] { return nn::Softmax(); };
  for (const int axis : {-1, 1, 0})
    check(str_cat("softmax layer ", axis), [&] { return nn::Softmax({.axis = axis}); }, {steps()});
  const auto under = [](const Tensor& mask) {
    return [=](nn::Softmax& layer, const auto& in) { return one(layer(in[0], {.mask = mask})); };
  };
  const Tensor some = uniform(steps(), 3);
  const Tensor wide = broadcast_to(expand_dims(padding(), -1), steps());
  check_call("softmax masked", plain, {steps()}, under(greater(some, scalar_like(some, -0.2))));
  check_call("softmax all masked", plain, {steps()}, under(wide));
  check_call(
      "softmax of axis 1 masked", [] { return nn::Softmax({.axis = 1}); }, {steps()}, under(wide));
  check_call("softmax of scores masked", plain, {{2, 5}}, under(gaps()));
}

}  // namespace

void activation_cases() {
  relu_cases();
  softmax_cases();
  const std::vector<std::pair<std::string, ActivationFunction>> functions{
      {"elu", nn::elu},
      {"selu", nn::selu},
      {"gelu", nn::gelu},
      {"silu", nn::silu},
      {"mish", nn::mish},
      {"softplus", nn::softplus},
      {"softsign", nn::softsign},
      {"tanh", nn::tanh},
      {"sigmoid", nn::sigmoid},
      {"hard_sigmoid", nn::hard_sigmoid},
      {"hard_silu", nn::hard_silu},
      {"exponential", nn::exponential},
      {"relu6", nn::relu6},
      {"celu", nn::celu},
      {"hard_tanh", nn::hard_tanh},
      {"tanh_shrink", nn::tanh_shrink},
      {"softmax", nn::softmax},
      {"log_softmax", nn::log_softmax},
      {"leaky_relu", nn::leaky_relu},
      {"swish", nn::silu},
      {"hard_swish", nn::hard_silu},
      {"linear", nn::linear},
      {"relu", nn::relu},
      {"log_sigmoid", nn::log_sigmoid},
      {"hard_shrink", nn::hard_shrink},
      {"soft_shrink", nn::soft_shrink},
      {"squareplus", nn::squareplus},
      {"sparse_plus", nn::sparse_plus},
      {"sparse_sigmoid", nn::sparse_sigmoid}};
  for (const auto& [name, function] : functions)
    check("activation " + name, [&, f = function] { return nn::Activation(f); }, {{2, 5, 4}});
  check("activation masked", [] { return nn::Activation(nn::tanh); }, {steps()},
        {.masks = {gaps()}});
}

namespace {

void reshaping_cases() {
  check("flatten", [] { return nn::Flatten(); }, {image()});
  check("flatten of one axis", [] { return nn::Flatten(); }, {{3}});
  check("flatten masked", [] { return nn::Flatten(); }, {steps()}, {.masks = {gaps()}});
  const auto to = [](const std::vector<int64_t>& sizes) {
    return [=] { return nn::Reshape(sizes); };
  };
  check("reshape", to({-1, 2}), {image()});
  check("reshape to one", to({15}), {steps()}, {.masks = {gaps()}});
  check("reshape wrong", to({4, -1}), {steps()});
  check("reshape to none", to({}), {{3, 1}});
  check("reshape of two unknown", to({-1, -1}), {steps()});
  check("permute", [] { return nn::Permute({2, 3, 1}); }, {image()});
  check("permute wrong", [] { return nn::Permute({1, 3}); }, {steps()});
  check("permute of too few", [] { return nn::Permute({2, 1}); }, {image()});
  check("repeat", [] { return nn::RepeatVector(3); }, {{2, 4}});
  check("repeat of steps", [] { return nn::RepeatVector(3); }, {steps()});
  check("zero padding 0", [] { return nn::ZeroPadding2D(0); }, {image()});
  check("zero padding 2", [] { return nn::ZeroPadding2D(2); }, {image()});
  check("zero padding (1, 2)", [] { return nn::ZeroPadding2D(nn::Size2D(1, 2)); }, {image()});
  check("zero padding ((1, 0), (2, 3))",
        [] {
          return nn::ZeroPadding2D({.rows = {1, 0}, .columns = {2, 3}});
        },
        {image()});
  check("lambda", [] { return nn::Lambda([](const Tensor& x) { return x * 2.0f; }); }, {steps()},
        {.masks = {gaps()}});
}

const std::vector<std::pair<std::string, nn::Interpolation>> methods{
    {"nearest", nn::Interpolation::Nearest}, {"bilinear", nn::Interpolation::Bilinear}};

void resizing_cases() {
  for (const auto& [name, size] :
       std::vector<std::pair<std::string, nn::Size2D>>{{"1", 1}, {"2", 2}, {"(3, 2)", {3, 2}}})
    for (const auto& [method_name, method] : methods)
      check(str_cat("up sampling ", name, " ", method_name),
            [&, size = size, method = method] { return nn::UpSampling2D(size, method); },
            {{2, 3, 4, 2}});
  for (const nn::Size2D size :
       std::vector<nn::Size2D>{{5, 6}, {3, 4}, {7, 13}, {1, 1}, {2, 9}, {10, 4}})
    for (const auto& [method_name, method] : methods) {
      const std::string name = str_cat("resizing ", size.height, " ", size.width, " ", method_name);
      const auto make = [&, m = method] {
        return nn::Resizing({.height = size.height, .width = size.width, .interpolation = m});
      };
      check(name, make, {{2, 5, 6, 3}});
      check(name + " of integers", make, {counts()});
    }
  const auto resizing = [] { return nn::Resizing({.height = 3, .width = 5}); };
  check("resizing of bytes", resizing, {cast(counts() * 10, DType::UInt8)});
  check("resizing of one image", resizing, {{4, 6, 2}});
  check("up sampling of integers", [] { return nn::UpSampling2D(2, nn::Interpolation::Bilinear); },
        {counts()});
  check("up sampling of integers, nearest", [] { return nn::UpSampling2D(2); }, {counts()});
}

void rescaling_cases() {
  using dist::preprocessing::Rescaling;
  check("rescaling numbers", [] { return Rescaling(0.5f, 1.0f); }, {steps()}, {.masks = {gaps()}});
  check("rescaling lists",
        [] {
          return Rescaling({.scale = floats({3}, {1, 2, 3}), .offset = floats({3}, {0, 0.5f, 1})});
        },
        {steps()}, {.masks = {gaps()}});
  check("rescaling of integers", [] { return Rescaling(1 / 255.0f); }, {counts()});
  check("rescaling of bytes", [] { return Rescaling(1 / 255.0f, -0.5f); },
        {cast(counts() * 10, DType::UInt8)});
}

void integer_cases() {
  const Tensor sequence = reshape(counts(), {4, 3, 2});
  check("average pooling of integers", [] { return nn::AveragePooling2D(); }, {counts()});
  check("max pooling of integers", [] { return nn::MaxPool2D(); }, {counts()});
  check("global average of integers", [] { return nn::GlobalAveragePooling2D(); }, {counts()});
  check("global average 1d of integers", [] { return nn::GlobalAveragePooling1D(); }, {sequence});
  check("layer norm of integers", [] { return nn::LayerNormalization(); }, {counts()});
  check("rms norm of integers", [] { return nn::RMSNormalization(); }, {counts()});
  check("group norm of integers", [] { return nn::GroupNormalization({.groups = 1}); }, {counts()});
  check("batch norm of integers", [] { return nn::BatchNormalization(); }, {counts()});
  check("conv2d of integers", [] { return nn::Conv2D({.filters = 2, .kernel_size = 2}); },
        {counts()});
  check("conv1d of integers", [] { return nn::Conv1D({.filters = 2, .kernel_size = 2}); },
        {sequence});
  check("lstm of integers", [] { return nn::LSTM({.units = 2}); }, {sequence});
  check("add of integers", [] { return nn::Add(); }, {ids(), ids()});
  check("average of integers", [] { return nn::Average(); }, {ids(), ids(1, 1)});
  check_call(
      "heads of integers", [] { return nn::MultiHeadAttention({.num_heads = 2, .key_dim = 3}); },
      {sequence}, [](auto& layer, const auto& in) { return one(layer(in[0], in[0])); });
  check("softmax of integers", [] { return nn::Softmax(); }, {ids()});
  check("leaky of integers", [] { return nn::LeakyReLU(); }, {ids(1, -2)});
  check("prelu of integers", [] { return nn::PReLU(); }, {ids(1, -2)});
  check("relu of integers", [] { return nn::ReLU({.max_value = 2}); }, {ids()});
  check("activation of integers", [] { return nn::Activation(nn::tanh); }, {ids()});
  check("sigmoid of integers", [] { return nn::Activation(nn::sigmoid); }, {ids()});
  check("dropout of integers", [] { return nn::Dropout(0.5); }, {ids()});
  check("noise of integers", [] { return nn::GaussianNoise(0.5); }, {ids()});
  check("einsum of integers",
        [] { return nn::EinsumDense({.equation = "ab,bc->ac", .output_shape = {3}}); }, {ids()});
  check("masking of integers", [] { return nn::Masking(); }, {counts()});
  check("depthwise of integers", [] { return nn::DepthwiseConv2D({.kernel_size = 2}); },
        {counts()});
  check("transpose of integers",
        [] { return nn::Conv2DTranspose({.filters = 2, .kernel_size = 2}); }, {counts()});
  check("normalization of integers",
        [] { return dist::preprocessing::Normalization({.mean = 1.5f, .variance = 2.0f}); },
        {counts()});
}

}  // namespace

void shape_cases() {
  reshaping_cases();
  resizing_cases();
  rescaling_cases();
  integer_cases();
}

namespace {

template <typename Layer>
void merge_cases(const std::string& name) {
  const auto make = [] { return Layer(); };
  check(name + " of two", make, {steps(), steps()});
  check(name + " of three", make, {steps(), steps(), steps()});
  check(name + " of one", make, {steps()});
  check(name + " of (1, 3)", make, {steps(), {2, 1, 3}});
  check(name + " of batch 1", make, {steps(), {1, 5, 3}});
  check(name + " of fewer axes", make, {steps(), {2, 3}});
  check(name + " of fewer axes, square", make, {{3, 3, 3}, {3, 3}});
  check(name + " of scalars", make, {steps(), {2, 1}});
  check(name + " of wrong sizes", make, {steps(), {2, 4, 3}});
  check(name + " masked", make, {steps(), steps()}, {.masks = {gaps(), padding()}});
  check(name + " half masked", make, {steps(), steps()}, {.masks = {gaps()}});
}

void concatenate_cases() {
  for (const int axis : {-1, 1, 2, 0, 3}) {
    const auto make = [&] { return nn::Concatenate({.axis = axis}); };
    const std::string name = str_cat("concatenate ", axis);
    check(name, make, {steps(), steps()});
    check(name + " masked", make, {steps(), steps()}, {.masks = {gaps(), padding()}});
    check(name + " half masked", make, {steps(), steps()}, {.masks = {gaps()}});
  }
  check("concatenate of other sizes", [] { return nn::Concatenate({.axis = 1}); },
        {steps(), {2, 2, 3}});
  check("concatenate of wrong sizes", [] { return nn::Concatenate(); }, {steps(), {2, 2, 3}});
}

void dot_cases() {
  const auto make = [](std::array<int, 2> axes, bool normalize = false) {
    return [=] { return nn::Dot({.axes = axes, .normalize = normalize}); };
  };
  for (const std::array<int, 2> axes :
       std::vector<std::array<int, 2>>{{1, 1}, {2, 2}, {-1, -1}, {1, 2}, {2, 1}})
    for (const bool normalize : {false, true})
      check(str_cat("dot (", axes[0], ", ", axes[1], ") ", text(normalize)), make(axes, normalize),
            {{2, 3, 3}, {2, 3, 3}});
  check("dot of vectors", make({1, 1}), {{2, 4}, {2, 4}});
  check("dot of vectors, normalized", make({-1, -1}, true), {{2, 4}, {2, 4}});
  check("dot of zeros, normalized", make({-1, -1}, true), {dist::zeros({2, 4}), {2, 4}});
  check("dot of four axes", make({3, 1}), {image(), {2, 4, 3}});
  check("dot of wrong sizes", make({1, 1}), {steps(), {2, 4, 3}});
  check("dot of the batch", make({0, 0}), {{2, 4}, {2, 4}});
  check("dot masked", make({2, 2}), {steps(), steps()}, {.masks = {gaps(), padding()}});
}

}  // namespace

void merging_cases() {
  merge_cases<nn::Add>("add");
  merge_cases<nn::Subtract>("subtract");
  merge_cases<nn::Multiply>("multiply");
  merge_cases<nn::Average>("average");
  merge_cases<nn::Maximum>("maximum");
  merge_cases<nn::Minimum>("minimum");
  concatenate_cases();
  dot_cases();
}

namespace {

template <typename Layer>
void rate_cases(const std::string& name) {
  const auto make = [](double rate) { return [=] { return Layer(rate); }; };
  check(name + " not training", make(0.5), {steps()}, {.masks = {gaps()}});
  check(name + " of rate 0", make(0), {steps()}, {.masks = {gaps()}, .training = true});
  check(name + " of rate 1.5", make(1.5), {steps()});
  check(name + " of rate -1", make(-1), {steps()});
}

/// Whether decisions are shared along axes, and the numbers that occur.
template <typename Layer>
std::string shares(Layer layer) {
  const int64_t a = 8, b = 9, c = 10;
  const Tensor result = layer(dist::ones({a, b, c}), {.training = true});
  const auto y = result.to_vector();
  bool rows = true, steps_of = true, features = true;
  for (int64_t i = 0; i < a * b * c; ++i) {
    const float value = y[size_t(i)];
    rows = rows && value == y[size_t(i % (b * c))];
    steps_of = steps_of && value == y[size_t(i / (b * c) * (b * c) + i % c)];
    features = features && value == y[size_t(i / c * c)];
  }
  const std::set<float> values(y.begin(), y.end());
  std::string line = text(rows) + " " + text(steps_of) + " " + text(features) + " [";
  for (const float value : values) line += str_cat(value == *values.begin() ? "" : " ", value, ".");
  return line + "]";
}

void shared_cases() {
  using Noise = std::vector<std::optional<int64_t>>;
  const auto dropout = [](const std::string& name, const Noise& noise, double rate) {
    run_case("layers/" + name + ", shared",
             [&] { return shares(nn::Dropout({.rate = rate, .noise_shape = noise, .seed = 1})); });
  };
  dropout("dropout", {}, 0.5);
  dropout("dropout of rows", {{}, 1, {}}, 0.5);
  dropout("dropout of an example", {{}, 1, 1}, 0.75);
  dropout("dropout of the batch", {1, {}, {}}, 0.5);
  run_case("layers/spatial dropout, shared",
           [] { return shares(nn::SpatialDropout1D({.rate = 0.5, .seed = 1})); });
}

}  // namespace

void dropout_cases() {
  rate_cases<nn::Dropout>("dropout");
  rate_cases<nn::SpatialDropout1D>("spatial 1d");
  rate_cases<nn::GaussianNoise>("noise");
  check("dropout of rate 1", [] { return nn::Dropout(1.0); }, {steps()}, {.training = true});
  check("spatial 2d not training", [] { return nn::SpatialDropout2D(0.5); }, {image()});
  check("dropout of noise_shape 0",
        [] {
          return nn::Dropout({.rate = 0.5, .noise_shape = {std::nullopt, 0, 1}});
        },
        {steps()});
  shared_cases();
}

namespace {

template <typename Make>
void dtype_case(const std::string& name, Make make, const Tensor& input) {
  for (const char* policy : {"float32", "mixed_bfloat16", "mixed_float16"})
    run_case(str_cat("layers/dtypes of ", name, ", ", policy), [&] {
      nn::set_global_policy(policy);
      auto layer = make();
      nn::set_global_policy("float32");
      std::string line(name_of(layer(input).dtype()));
      for (const dist::Variable& weight : layer.variables())
        line += str_cat(" ", name_of(weight.value().dtype()));
      return line;
    });
}

}  // namespace

void policy_cases() {
  namespace pre = dist::preprocessing;
  const Tensor floats = uniform(steps(), 500), pictures = uniform(image(), 500);
  dtype_case(
      "dense", [] { return nn::Dense({.units = 2}); }, floats);
  dtype_case(
      "conv1d", [] { return nn::Conv1D({.filters = 2, .kernel_size = 2}); }, floats);
  dtype_case(
      "conv2d", [] { return nn::Conv2D({.filters = 2, .kernel_size = 2}); }, pictures);
  dtype_case(
      "depthwise", [] { return nn::DepthwiseConv2D({.kernel_size = 2}); }, pictures);
  dtype_case(
      "batch norm", [] { return nn::BatchNormalization(); }, floats);
  dtype_case(
      "layer norm", [] { return nn::LayerNormalization(); }, floats);
  dtype_case(
      "group norm", [] { return nn::GroupNormalization({.groups = 1}); }, floats);
  dtype_case(
      "rms norm", [] { return nn::RMSNormalization(); }, floats);
  dtype_case(
      "lstm", [] { return nn::LSTM({.units = 2}); }, floats);
  dtype_case(
      "bidirectional", [] { return nn::Bidirectional(nn::GRU({.units = 2})); }, floats);
  dtype_case(
      "embedding", [] { return nn::Embedding({.input_dim = 4, .output_dim = 3}); }, ids());
  dtype_case(
      "softmax", [] { return nn::Softmax(); }, floats);
  dtype_case(
      "relu", [] { return nn::ReLU(); }, floats);
  dtype_case(
      "prelu", [] { return nn::PReLU(); }, floats);
  dtype_case(
      "dropout", [] { return nn::Dropout(0.5); }, floats);
  dtype_case(
      "global average", [] { return nn::GlobalAveragePooling1D(); }, floats);
  dtype_case(
      "flatten", [] { return nn::Flatten(); }, floats);
  dtype_case(
      "flatten of integers", [] { return nn::Flatten(); }, ids());
  dtype_case(
      "masking", [] { return nn::Masking(); }, floats);
  dtype_case(
      "einsum",
      [] {
        return nn::EinsumDense({.equation = "abc,cd->abd", .output_shape = {-1, 2}});
      },
      floats);
  dtype_case(
      "rescaling", [] { return pre::Rescaling(0.5f); }, floats);
  dtype_case(
      "rescaling of integers", [] { return pre::Rescaling(0.5f); }, counts());
  dtype_case(
      "normalization", [] { return pre::Normalization({.mean = 1.0f, .variance = 2.0f}); }, floats);
  dtype_case(
      "resizing", [] { return nn::Resizing({.height = 3, .width = 3}); }, pictures);
  dtype_case(
      "resizing of integers", [] { return nn::Resizing({.height = 3, .width = 3}); }, counts());
  dtype_case(
      "max pooling", [] { return nn::MaxPool2D(); }, pictures);
  dtype_case(
      "steps", [] { return nn::TimeDistributed(nn::Dense({.units = 2})); }, floats);
  dtype_case(
      "flip", [] { return pre::RandomFlip(); }, pictures);
  dtype_case(
      "flip of integers", [] { return pre::RandomFlip(); }, counts());
}

namespace {

using Settings = std::vector<std::pair<int, bool>>;

/// Numbers of weights that are trained and not, and of penalties.
std::string numbers_of(const Settings& settings) {
  const nn::Regularizer penalty = regularizers::L2(0.1);
  nn::Sequential model(nn::Dense({.units = 3, .kernel_regularizer = penalty}),
                       nn::BatchNormalization({.gamma_regularizer = penalty}),
                       nn::Dense({.units = 1}));
  model(dist::ones({1, 2}));
  for (const auto& [part, trainable] : settings)
    (part < 0 ? model : model[size_t(part)]).set_trainable(trainable);
  return str_cat(model.trainable_variables().size(), " ", model.non_trainable_variables().size(),
                 " ", model.losses().size());
}

class Own : public nn::Module {
 public:
  void build(const Shape&) override {
    add_weight("a", {2}, nn::initializers::ones(), {.trainable = false});
    add_weight("b", {2}, nn::initializers::ones());
  }
  Tensor call(const Tensor& x, nn::CallOptions options) override { return part_(x, options); }

 private:
  nn::Dense& part_ = add("part", nn::Dense({.units = 2}));
};

}  // namespace

void part_cases() {
  const std::vector<std::pair<std::string, Settings>> all{
      {"nothing", {}},
      {"all", {{-1, false}}},
      {"the second", {{1, false}}},
      {"two", {{0, false}, {1, false}}},
      {"all for a while", {{-1, false}, {-1, true}}},
      {"all but the first", {{-1, false}, {0, true}}}};
  for (const auto& [name, settings] : all)
    run_case("layers/frozen, " + name, [&, &s = settings] { return numbers_of(s); });
  run_case("layers/order of own weights", [] {
    Own layer;
    layer(dist::ones({1, 2}));
    std::string line;
    for (const dist::Variable& weight : layer.variables())
      line += (line.empty() ? "" : " ") + weight.name().substr(weight.name().rfind('/') + 1);
    return line;
  });
}

namespace {

namespace initializers = nn::initializers;

/// The first figure of the deviation, which many random numbers have in common.
std::string spread(const Tensor& tensor) {
  const auto values = tensor.to_vector();
  double sum = 0, squares = 0;
  for (const float value : values) sum += double(value);
  const double mean = sum / double(values.size());
  for (const float value : values) squares += (double(value) - mean) * (double(value) - mean);
  char figures[32];
  std::snprintf(figures, sizeof figures, "%.1g", std::sqrt(squares / double(values.size())));
  return figures;
}

std::string spreads(const nn::Module& layer) {
  std::string line;
  for (const dist::Variable& weight : layer.variables())
    line += (line.empty() ? "" : " | ") + weight_name(weight) + " " + spread(weight.value());
  return line;
}

template <typename Layer>
void first(const std::string& name, Layer layer, const Shape& input) {
  run_case("layers/first weights of " + name, [&] {
    layer(dist::zeros(input));
    return spreads(layer);
  });
}

void initializer_cases() {
  using initializers::Distribution;
  const std::vector<std::pair<std::string, nn::Initializer>> all{
      {"glorot_uniform", initializers::glorot_uniform()},
      {"glorot_normal", initializers::glorot_normal()},
      {"he_uniform", initializers::he_uniform()},
      {"he_normal", initializers::he_normal()},
      {"lecun_uniform", initializers::lecun_uniform()},
      {"lecun_normal", initializers::lecun_normal()},
      {"random_normal", initializers::random_normal()},
      {"random_uniform", initializers::random_uniform()},
      {"truncated_normal", initializers::truncated_normal()},
      {"orthogonal", initializers::orthogonal()},
      {"scaling",
       initializers::variance_scaling({.scale = 3,
                                       .mode = initializers::FanMode::Out,
                                       .distribution = Distribution::UntruncatedNormal})}};
  for (const auto& [name, initializer] : all) {
    for (const Shape& shape : {Shape{300, 70}, Shape{3, 3, 40, 30}, Shape{40, 8, 60}})
      run_case(str_cat("layers/initializer ", name, " ", shape.rank()),
               [&, &make = initializer] { return spread(make(shape, 1)); });
    run_case(str_cat("layers/initializer ", name, " einsum"), [&, &make = initializer] {
      nn::EinsumDense layer(
          {.equation = "abc,cde->abde", .output_shape = {-1, 8, 60}, .kernel_initializer = make});
      layer(dist::zeros({1, 2, 40}));
      return spreads(layer);
    });
  }
}

void constraint_cases() {
  namespace constraints = nn::constraints;
  const Tensor weight = uniform({3, 4, 2}, 1) * 3.0f;
  const std::vector<std::pair<std::string, nn::Constraint>> all{
      {"max_norm", constraints::max_norm()},
      {"max_norm 1, axis 1", constraints::max_norm(1, {1})},
      {"max_norm axes", constraints::max_norm(1, {0, 1})},
      {"non_neg", constraints::non_neg()},
      {"unit_norm", constraints::unit_norm()},
      {"unit_norm axis", constraints::unit_norm({1, 2})},
      {"min_max", constraints::min_max_norm()},
      {"min_max 2 3", constraints::min_max_norm(2, 3)},
      {"min_max rate", constraints::min_max_norm(2, 3, 0.3, {0, 2})}};
  for (const auto& [name, constraint] : all)
    run_case("layers/constraint " + name, [&, &c = constraint] { return sums("w", c(weight)); });
  const std::vector<std::pair<std::string, nn::Regularizer>> penalties{
      {"l1", regularizers::L1()},
      {"l2", regularizers::L2()},
      {"l1l2", regularizers::L1L2()},
      {"l1l2 of two", regularizers::L1L2(0.1, 0.2)},
      {"l2 of 0.5", regularizers::L2(0.5)}};
  for (const auto& [name, penalty] : penalties)
    run_case("layers/regularizer " + name, [&, &p = penalty] { return sums("w", p(weight)); });
}

}  // namespace

void first_weight_cases() {
  dist::random::set_seed(1);
  constraint_cases();
  initializer_cases();
  first("heads", nn::MultiHeadAttention({.num_heads = 8, .key_dim = 16}), {1, 2, 100});
  first("groups",
        nn::GroupQueryAttention({.head_dim = 16, .num_query_heads = 8, .num_key_value_heads = 2}),
        {1, 2, 100});
  first("dense", nn::Dense({.units = 70}), {1, 100});
  run_case("layers/first weights of embedding", [] {
    nn::Embedding layer({.input_dim = 70, .output_dim = 50});
    layer(Tensor({1, 2}, std::vector<int32_t>{0, 1}));
    return spreads(layer);
  });
  first("conv1d", nn::Conv1D({.filters = 60, .kernel_size = 3}), {1, 5, 50});
  first("conv2d", nn::Conv2D({.filters = 80, .kernel_size = 3}), {1, 5, 5, 50});
  first("groups of conv2d", nn::Conv2D({.filters = 60, .kernel_size = 3, .groups = 2}),
        {1, 5, 5, 50});
  first("depthwise", nn::DepthwiseConv2D({.kernel_size = 3, .depth_multiplier = 4}),
        {1, 5, 5, 100});
  first("separable", nn::SeparableConv2D({.filters = 50, .kernel_size = 3, .depth_multiplier = 4}),
        {1, 5, 5, 100});
  first("transpose", nn::Conv2DTranspose({.filters = 80, .kernel_size = 3}), {1, 5, 5, 50});
  first("lstm", nn::LSTM({.units = 60}), {1, 5, 70});
  first("gru", nn::GRU({.units = 60}), {1, 5, 70});
  first("simple", nn::SimpleRNN({.units = 60}), {1, 5, 70});
  first("lora", nn::Dense({.units = 70, .lora_rank = 20}), {1, 100});
}

}  // namespace comparison
