/// Dense, convolution, pooling and normalization layers, as layer_cases.py prints them.
#include "layer_cases.hpp"

#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/nn/convolution.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/embedding.hpp>
#include <distribute/nn/normalization.hpp>
#include <distribute/nn/pooling.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>

#include <tests/support/hashed_numbers.hpp>

#include <regex>
#include <set>

namespace comparison {

using dist::DType;
using dist::Variable;

Tensor uniform(const Shape& shape, uint64_t seed) {
  return dist::testing::hashed_numbers(shape, seed);
}

namespace {

std::string number(double value) {
  char figures[32];
  std::snprintf(figures, sizeof figures, "%.7g", value);
  return std::string(" ") + figures;
}

}  // namespace

std::string sums(const std::string& name, const Tensor& tensor) {
  std::string line = name;
  for (const int64_t size : tensor.shape().dims()) line += str_cat("[", size, "]");
  const auto y = cast(tensor, DType::Float32).to_vector();
  const auto factors = uniform(tensor.shape(), 77).to_vector();
  double dot = 0, squares = 0;
  for (size_t i = 0; i < y.size(); ++i) {
    dot += double(y[i]) * double(factors[i]);
    squares += double(y[i]) * double(y[i]);
  }
  return line + number(dot) + number(squares);
}

std::string weight_name(const Variable& weight) {
  static const std::regex numbered("_[0-9]+/");
  const std::string& name = weight.name();
  return std::regex_replace(name.substr(name.find('/') + 1), numbered, "/");
}

namespace {

void set_weights(const std::vector<Variable>& weights) {
  uint64_t seed = 0;
  for (const Variable& weight : weights) {
    Tensor value = uniform(weight.shape(), ++seed) * 0.75f;
    if (weight.name().find("variance") != std::string::npos) value = abs(value) + 0.5f;
    weight.assign(value);
  }
}

std::vector<Tensor> values_of(const std::vector<LayerInput>& inputs,
                              const std::vector<Variable>& sources, const LayerCase& how) {
  std::vector<Tensor> values;
  size_t next = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor x = inputs[i].tensor ? inputs[i].tensor : sources[next++].value();
    const bool masked = i < how.masks.size() && how.masks[i];
    values.push_back(masked ? nn::nn_internal::with_mask(x, how.masks[i], x) : x);
  }
  return values;
}

std::string lines_of(nn::Module& layer, const std::vector<Variable>& sources,
                     const std::vector<Tensor>& results, dist::GradientTape& tape,
                     const Tensor& loss) {
  std::string line;
  for (const Tensor& y : results) line += (line.empty() ? "" : " | ") + sums("out", y);
  if (const Tensor mask = nn::get_keras_mask(results[0])) {
    line += " | mask";
    for (const float one : cast(mask, DType::Float32).to_vector()) line += number(double(one));
  }
  std::vector<Variable> all = sources;
  std::set<std::string> trained;
  for (const Variable& weight : layer.trainable_variables()) {
    all.push_back(weight);
    trained.insert(weight.name());
  }
  const std::vector<Tensor> gradients =
      all.empty() ? std::vector<Tensor>() : tape.gradient(loss, all);
  const auto of = [&](size_t i) {
    return gradients[i] ? gradients[i] : dist::zeros(all[i].shape());
  };
  size_t next = 0;
  for (; next < sources.size(); ++next) line += " | " + sums("input", of(next));
  for (const Variable& weight : layer.variables())
    line += " | " + (trained.contains(weight.name())
                         ? sums(weight_name(weight), of(next++))
                         : sums("value of " + weight_name(weight), weight.value()));
  const std::vector<Tensor> losses = layer.losses();
  if (!losses.empty()) line += " | losses";
  for (const Tensor& loss_term : losses) line += number(double(loss_term.to_vector()[0]));
  return line;
}

}  // namespace

std::string describe(nn::Module& layer, const std::vector<LayerInput>& inputs, const LayerCase& how,
                     const LayerCall& call) {
  std::vector<Variable> sources;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i].tensor) sources.emplace_back(uniform(inputs[i].shape, 500 + i));
  call(values_of(inputs, sources, how));
  layer.reset_states();
  layer.set_trainable(!how.frozen);
  set_weights(layer.variables());
  for (int i = 1; i < how.calls; ++i) call(values_of(inputs, sources, how));
  dist::GradientTape tape;
  const std::vector<Tensor> results = call(values_of(inputs, sources, how));
  Tensor loss = 0.0f;
  for (const Tensor& y : results)
    loss = loss + dist::reduce_sum(cast(y, DType::Float32) * uniform(y.shape(), 900));
  return lines_of(layer, sources, results, tape, loss);
}

Tensor bools(const Shape& shape, const std::vector<int>& values) {
  Tensor all = Tensor::empty(shape, DType::Bool);
  for (size_t i = 0; i < values.size(); ++i) all.mutable_data<bool>()[i] = values[i] != 0;
  return all;
}
Tensor gaps() { return bools({2, 5}, {1, 1, 0, 1, 0, 0, 1, 1, 0, 0}); }
Tensor padding() { return bools({2, 5}, {1, 1, 0, 1, 0, 0, 0, 0, 0, 0}); }
Tensor ids(int32_t factor, int32_t offset) {
  std::vector<int32_t> values{2, 0, 1, 3, 0, 3, 3, 0, 1, 2};
  for (int32_t& value : values) value = value * factor + offset;
  return Tensor({2, 5}, values);
}
Tensor counts() {
  std::vector<int32_t> values(24);
  for (size_t i = 0; i < values.size(); ++i) values[i] = int32_t(i);
  return Tensor({1, 4, 3, 2}, values);
}

namespace {

namespace regularizers = nn::regularizers;

const nn::Regularizer kernel_penalty = regularizers::L1L2(0.01, 0.02);
const nn::Regularizer bias_penalty = regularizers::L2(0.03);

struct Pair {  // as Python writes one number or a pair
  std::string name;
  nn::Size2D size;
};
const Pair single{"1", 1}, ones{"(1, 1)", {1, 1}}, two{"2", 2}, three{"3", 3};

void einsum_cases() {
  struct Einsum {
    std::string name;
    std::vector<int64_t> sizes;
    std::string bias_axes;
    Shape input = steps();
  };
  const std::vector<Einsum> all{{"ab,bc->ac", {3}, "c", {2, 3}},
                                {"abc,cd->abd", {-1, 3}, "d"},
                                {"abc,cde->abde", {-1, 2, 3}, "de"},
                                {"abc,cde->abde, e", {-1, 2, 3}, "e"},
                                {"abc,cde->abde, d", {-1, 2, 3}, "d"},
                                {"abc,cd->abd, bd", {5, 2}, "bd"},
                                {"abc,cd->abd, b", {5, 2}, "b"},
                                {"...x,xy->...y", {4}, "y"},
                                {"...x,xy->...y, none", {4}, ""},
                                {"abc,bcd->ad", {4}, "d"},
                                {"abcd,cde->abe", {-1, 3}, "e", image()},
                                {"abc,cd->adb", {2, -1}, ""},
                                {"abc,dc->abd", {-1, 2}, "d"},
                                {"abc,bd->adc", {2, 3}, ""},
                                {"ab,b->ab", {3}, "", {2, 3}}};
  for (const Einsum& e : all)
    check("einsum " + e.name,
          [&] {
            return nn::EinsumDense({.equation = e.name.substr(0, e.name.find(", ")),
                                    .output_shape = e.sizes,
                                    .bias_axes = e.bias_axes,
                                    .activation = nn::tanh,
                                    .kernel_regularizer = regularizers::L2(0.1)});
          },
          {e.input});
  check("einsum masked",
        [] {
          return nn::EinsumDense({.equation = "abc,cd->abd", .output_shape = {-1, 2}});
        },
        {steps()}, {.masks = {gaps()}});
}

void embedding_cases() {
  const auto plain = [] { return nn::Embedding({.input_dim = 4, .output_dim = 3}); };
  const auto zero = [] {
    return nn::Embedding({.input_dim = 4,
                          .output_dim = 3,
                          .embeddings_regularizer = regularizers::L2(0.1),
                          .mask_zero = true});
  };
  const auto small = [] { return nn::Embedding({.input_dim = 3, .output_dim = 3}); };
  check("embedding", plain, {ids()});
  check("embedding mask_zero", zero, {ids()});
  check("embedding of a masked input", plain, {ids()}, {.masks = {gaps()}});
  check("embedding frozen", plain, {ids()}, {.frozen = true});
  check("embedding of floats", plain, {Tensor({1, 2}, std::vector<float>{1.7f, 2.2f})});
  check("embedding too large", small, {ids()});
  check("embedding negative", small, {ids(-1)});
  check("embedding of one axis",
        [] { return nn::Embedding({.input_dim = 4, .output_dim = 3, .mask_zero = true}); },
        {Tensor(Shape{5}, std::vector<int32_t>{2, 0, 1, 3, 0})});
}

void masking_cases() {
  const Tensor counted = cast(expand_dims(gaps(), -1), DType::Float32);
  const Tensor blank = uniform(steps(), 500) * counted;
  check("masking", [] { return nn::Masking(); }, {blank});
  check("masking of 1", [] { return nn::Masking({.mask_value = 1.0}); },
        {blank + (1.0f - counted)});
  const Tensor rows = uniform({2, 3, 4, 2}, 5);
  check("masking of four axes", [] { return nn::Masking(); },
        {cast(greater(rows, scalar_like(rows, 0)), DType::Float32)});
  check("masking of two axes", [] { return nn::Masking(); },
        {Tensor({2, 2}, std::vector<float>{0, 1, 0, 0})});
}

}  // namespace

void dense_cases() {
  const auto of_steps = [](nn::ActivationFunction activation) {
    return nn::Dense({.units = 2,
                      .activation = activation,
                      .kernel_regularizer = kernel_penalty,
                      .bias_regularizer = bias_penalty});
  };
  const auto plain = [] { return nn::Dense({.units = 2}); };
  check("dense", [] { return nn::Dense({.units = 3}); }, {{2, 4}});
  check("dense no bias",
        [] { return nn::Dense({.units = 3, .activation = nn::relu, .use_bias = false}); },
        {{2, 4}});
  check("dense of steps", [&] { return of_steps(nn::softmax); }, {steps()}, {.masks = {gaps()}});
  check("dense frozen", [&] { return of_steps(nullptr); }, {steps()}, {.frozen = true});
  check("dense of integers", plain, {ids()});
  check("dense of one axis", plain, {{4}});
  einsum_cases();
  embedding_cases();
  masking_cases();
}

namespace {

void conv1d_cases() {
  const std::vector<std::pair<const char*, nn::Padding1D>> paddings{
      {"valid", nn::Padding1D::Valid},
      {"same", nn::Padding1D::Same},
      {"causal", nn::Padding1D::Causal}};
  const std::vector<std::pair<int64_t, int64_t>> spaces{{1, 1}, {2, 1}, {3, 1}, {1, 2}};
  for (const auto& [name, padding_of] : paddings)
    for (const int64_t kernel : {1, 2, 4})
      for (const auto& [strides, dilation] : spaces)
        check(
            str_cat("conv1d ", name, " kernel ", kernel, " strides ", strides, " dilation ",
                    dilation),
            [&, kernel = kernel, strides = strides, dilation = dilation, padding_of = padding_of] {
              return nn::Conv1D({.filters = 2,
                                 .kernel_size = kernel,
                                 .strides = strides,
                                 .padding = padding_of,
                                 .dilation_rate = dilation});
            },
            {{2, 7, 3}});
  check("conv1d groups",
        [] {
          return nn::Conv1D({.filters = 4, .kernel_size = 3, .groups = 2, .activation = nn::tanh});
        },
        {{2, 7, 6}});
  check("conv1d no bias",
        [] {
          return nn::Conv1D({.filters = 4,
                             .kernel_size = 3,
                             .activation = nn::relu,
                             .use_bias = false,
                             .kernel_regularizer = kernel_penalty,
                             .bias_regularizer = bias_penalty});
        },
        {{2, 7, 3}});
  check(
      "conv1d strides and dilation",
      [] { return nn::Conv1D({.filters = 4, .kernel_size = 3, .strides = 2, .dilation_rate = 2}); },
      {{2, 7, 3}});
  check("conv1d masked",
        [] { return nn::Conv1D({.filters = 4, .kernel_size = 2, .padding = nn::Padding1D::Same}); },
        {steps()}, {.masks = {gaps()}});
  check("conv1d frozen",
        [] {
          return nn::Conv1D({.filters = 4,
                             .kernel_size = 2,
                             .kernel_regularizer = kernel_penalty,
                             .bias_regularizer = bias_penalty});
        },
        {steps()}, {.frozen = true});
  check("conv1d too few steps", [] { return nn::Conv1D({.filters = 4, .kernel_size = 8}); },
        {steps()});
}

void conv2d_grid() {
  struct Space {
    Pair strides, dilation;
  };
  const Shape input{2, 6, 7, 2};
  const std::vector<Space> spaces{
      {ones, ones}, {{"(2, 3)", {2, 3}}, ones}, {ones, {"(1, 2)", {1, 2}}}};
  for (const auto& [name, padding_of] :
       {std::pair{"valid", nn::Padding::Valid}, std::pair{"same", nn::Padding::Same}})
    for (const Pair& kernel :
         {single, Pair{"(2, 3)", {2, 3}}, Pair{"(4, 2)", {4, 2}}, Pair{"(5, 5)", {5, 5}}})
      for (const auto& [strides, dilation] : spaces) {
        const std::string how = str_cat(name, " kernel ", kernel.name, " strides ", strides.name,
                                        " dilation ", dilation.name);
        const nn::Size2D size = kernel.size, gap = dilation.size, step = strides.size;
        const nn::Size2D square = strides.size.height;
        const nn::Padding pad = padding_of;
        check("conv2d " + how,
              [&] {
                return nn::Conv2D({.filters = 3,
                                   .kernel_size = size,
                                   .strides = step,
                                   .padding = pad,
                                   .dilation_rate = gap});
              },
              {input});
        check("separable " + how,
              [&] {
                return nn::SeparableConv2D({.filters = 3,
                                            .kernel_size = size,
                                            .strides = square,
                                            .padding = pad,
                                            .dilation_rate = gap});
              },
              {input});
        check("depthwise " + how,
              [&] {
                return nn::DepthwiseConv2D({.kernel_size = size,
                                            .strides = square,
                                            .padding = pad,
                                            .depth_multiplier = 2,
                                            .dilation_rate = gap});
              },
              {input});
      }
}

void conv2d_cases() {
  conv2d_grid();
  check("conv2d groups",
        [] {
          return nn::Conv2D({.filters = 4,
                             .kernel_size = {2, 3},
                             .padding = nn::Padding::Same,
                             .groups = 2,
                             .kernel_regularizer = kernel_penalty,
                             .bias_regularizer = bias_penalty});
        },
        {image()});
  check("conv2d groups, strides",
        [] {
          return nn::Conv2D(
              {.filters = 8, .kernel_size = 3, .strides = 2, .groups = 4, .activation = nn::gelu});
        },
        {image()});
  check(
      "conv2d strides and dilation",
      [] { return nn::Conv2D({.filters = 4, .kernel_size = 2, .strides = 2, .dilation_rate = 2}); },
      {image()});
  check("conv2d wrong groups",
        [] { return nn::Conv2D({.filters = 3, .kernel_size = 2, .groups = 2}); }, {image()});
  check("depthwise strides of two sizes",
        [] {
          return nn::DepthwiseConv2D({.kernel_size = 3, .strides = {2, 1}});
        },
        {image()});
  check("depthwise regularized",
        [] {
          return nn::DepthwiseConv2D({.kernel_size = 3,
                                      .activation = nn::relu,
                                      .depthwise_regularizer = regularizers::L1(0.1),
                                      .bias_regularizer = regularizers::L2(0.1)});
        },
        {image()});
  check("separable options",
        [] {
          return nn::SeparableConv2D({.filters = 3,
                                      .kernel_size = 3,
                                      .depth_multiplier = 2,
                                      .activation = nn::tanh,
                                      .depthwise_regularizer = regularizers::L1(0.1),
                                      .pointwise_regularizer = regularizers::L2(0.2),
                                      .bias_regularizer = regularizers::L2(0.1)});
        },
        {image()});
  check("separable no bias",
        [] { return nn::SeparableConv2D({.filters = 3, .kernel_size = 3, .use_bias = false}); },
        {image()});
}

void transpose_cases() {
  const Shape input{2, 3, 4, 2};
  for (const auto& [name, padding_of] :
       {std::pair{"valid", nn::Padding::Valid}, std::pair{"same", nn::Padding::Same}})
    for (const Pair& kernel : {single, Pair{"(2, 3)", {2, 3}}, Pair{"4", 4}})
      for (const Pair& strides : {single, two, Pair{"(3, 2)", {3, 2}}}) {
        const nn::Padding pad = padding_of;
        check(str_cat("transpose ", name, " kernel ", kernel.name, " strides ", strides.name),
              [&] {
                return nn::Conv2DTranspose({.filters = 3,
                                            .kernel_size = kernel.size,
                                            .strides = strides.size,
                                            .padding = pad});
              },
              {input});
      }
  check(
      "transpose dilation",
      [] {
        return nn::Conv2DTranspose(
            {.filters = 3, .kernel_size = {2, 3}, .dilation_rate = {2, 1}, .activation = nn::relu});
      },
      {input});
  check("transpose dilation same",
        [] {
          return nn::Conv2DTranspose(
              {.filters = 3, .kernel_size = 3, .padding = nn::Padding::Same, .dilation_rate = 2});
        },
        {input});
  check("transpose no bias",
        [] {
          return nn::Conv2DTranspose({.filters = 3,
                                      .kernel_size = 3,
                                      .use_bias = false,
                                      .kernel_regularizer = regularizers::L2(0.1)});
        },
        {input});
}

}  // namespace

void convolution_cases() {
  conv1d_cases();
  conv2d_cases();
  transpose_cases();
}

namespace {

template <typename Pool1D, typename Pool2D>
void pool_cases(const std::string& kind) {
  const std::vector<std::pair<const char*, nn::Padding>> paddings{{"valid", nn::Padding::Valid},
                                                                  {"same", nn::Padding::Same}};
  for (const auto& [name, padding_of] : paddings)
    for (const int64_t size : {2, 3})
      for (const int64_t strides : {0, 1, 2, 4})
        check(
            str_cat(kind, " 1d ", name, " ", size, " ", strides ? std::to_string(strides) : "None"),
            [&, padding_of = padding_of] {
              nn::Pool1DLayerOptions options{.pool_size = size, .padding = padding_of};
              if (strides) options.strides = strides;
              return Pool1D(options);
            },
            {{2, 7, 3}});
  for (const auto& [name, padding_of] : paddings)
    for (const Pair& size : {two, Pair{"(3, 2)", {3, 2}}})
      for (const Pair& strides : {Pair{"None", 0}, Pair{"(1, 2)", {1, 2}}, three})
        check(str_cat(kind, " 2d ", name, " ", size.name, " ", strides.name),
              [&, padding_of = padding_of] {
                nn::Pool2DLayerOptions options{.pool_size = size.size, .padding = padding_of};
                if (strides.size.height) options.strides = strides.size;
                return Pool2D(options);
              },
              {{2, 5, 6, 3}});
}

template <typename Pool1D, typename Pool2D>
void global_cases(const std::string& kind) {
  for (const bool keep : {false, true}) {
    const auto of_steps = [&] { return Pool1D({.keepdims = keep}); };
    check(str_cat("global ", kind, " 1d ", text(keep)), of_steps, {steps()});
    check(str_cat("global ", kind, " 1d ", text(keep), " masked"), of_steps, {steps()},
          {.masks = {gaps()}});
    check(str_cat("global ", kind, " 2d ", text(keep)), [&] { return Pool2D({.keepdims = keep}); },
          {image()});
  }
}

}  // namespace

void pooling_cases() {
  pool_cases<nn::MaxPooling1D, nn::MaxPool2D>("Max");
  pool_cases<nn::AveragePooling1D, nn::AveragePooling2D>("Average");
  check("Max 1d masked", [] { return nn::MaxPooling1D({.pool_size = 1}); }, {steps()},
        {.masks = {gaps()}});
  check("Average 1d too wide", [] { return nn::AveragePooling1D({.pool_size = 6}); }, {steps()});
  global_cases<nn::GlobalMaxPooling1D, nn::GlobalMaxPooling2D>("Max");
  global_cases<nn::GlobalAveragePooling1D, nn::GlobalAveragePooling2D>("Average");
  check("global Average 1d all masked", [] { return nn::GlobalAveragePooling1D(); }, {steps()},
        {.masks = {padding()}});
  check("Max 2d ties", [] { return nn::MaxPool2D(); }, {dist::ones({1, 4, 4, 1})});
}

namespace {

/// The options that the three have in common.
template <typename Options>
std::vector<std::pair<std::string, Options>> norm_options(const Options& plain) {
  const auto with = [&](auto set) {
    Options options = plain;
    set(options);
    return options;
  };
  return {{"epsilon", with([](Options& o) { o.epsilon = 0.5; })},
          {"no center", with([](Options& o) { o.center = false; })},
          {"no scale", with([](Options& o) { o.scale = false; })},
          {"neither", with([](Options& o) { o.center = o.scale = false; })},
          {"regularized", with([](Options& o) {
             o.beta_regularizer = regularizers::L2(0.1);
             o.gamma_regularizer = regularizers::L1(0.2);
           })}};
}

void batch_norm_cases() {
  for (const Shape& shape : {Shape{4, 3}, steps(), image()})
    for (const bool training : {false, true})
      check(str_cat("batch norm ", shape.rank(), " ", text(training)),
            [] { return nn::BatchNormalization(); }, {shape}, {.training = training});
  auto all = norm_options(nn::BatchNormalizationOptions{});
  all.emplace_back("momentum", nn::BatchNormalizationOptions{.momentum = 0.3});
  for (const auto& [name, options] : all)
    for (const bool training : {false, true})
      check(str_cat("batch norm ", name, " ", text(training)),
            [&, &options = options] { return nn::BatchNormalization(options); }, {steps()},
            {.training = training});
  const auto norm = [] { return nn::BatchNormalization({.momentum = 0.6}); };
  check("batch norm twice", norm, {steps()}, {.training = true, .calls = 2});
  check("batch norm frozen",
        [] { return nn::BatchNormalization({.gamma_regularizer = regularizers::L2(0.1)}); },
        {steps()}, {.training = true, .frozen = true});
  check("batch norm masked", norm, {steps()}, {.masks = {gaps()}, .training = true});
  check("batch norm all masked", norm, {steps()}, {.masks = {padding()}, .training = true});
  check("batch norm masked, not training", norm, {steps()}, {.masks = {gaps()}});
  check("batch norm of one", norm, {{1, 3}}, {.training = true});
  check("batch norm constant", norm, {dist::fill({3, 2}, 0.5)}, {.training = true});
}

void layer_norm_cases() {
  using Options = nn::LayerNormalizationOptions;
  auto all = norm_options(Options{});
  all.emplace_back("momentum", Options{});
  for (const auto& [name, options] : all)
    check("layer norm " + name, [&, &options = options] { return nn::LayerNormalization(options); },
          {steps()});
  const std::vector<std::pair<std::string, nn::NormalizedAxes>> axes{
      {"1", 1},           {"2", 2},           {"-2", -2},         {"[1]", 1},
      {"[1, 2]", {1, 2}}, {"(1, 2)", {1, 2}}, {"[2, 1]", {2, 1}}, {"[-1, 1]", {-1, 1}},
      {"[1, 3]", {1, 3}}, {"[1, 1]", {1, 1}}};
  for (const auto& [name, axis] : axes)
    check("layer norm axis " + name,
          [&, &axis = axis] { return nn::LayerNormalization({.axis = axis}); }, {image()});
  const auto norm = [] { return nn::LayerNormalization(); };
  check("layer norm masked", norm, {steps()}, {.masks = {gaps()}});
  check("layer norm constant", norm, {dist::fill({3, 2}, 0.5)});
  check("layer norm large mean", norm, {Tensor({1, 3}, std::vector<float>{10, 11, 12.5f})});
}

void group_norm_cases() {
  using Options = nn::GroupNormalizationOptions;
  auto all = norm_options(Options{.groups = 2});
  all.emplace_back("momentum", Options{.groups = 2});
  for (const auto& [name, options] : all)
    check("group norm " + name, [&, &options = options] { return nn::GroupNormalization(options); },
          {image()});
  for (const int64_t groups : {1, 2, 4, -1, 3}) {
    const auto norm = [&] { return nn::GroupNormalization({.groups = groups}); };
    check(str_cat("group norm ", groups), norm, {image()});
    check(str_cat("group norm ", groups, " of 2"), norm, {{3, 4}});
  }
  check("group norm masked", [] { return nn::GroupNormalization({.groups = 3}); }, {steps()},
        {.masks = {gaps()}});
  for (const int axis : {-1, 1, 2})
    check(str_cat("rms norm axis ", axis),
          [&] { return nn::RMSNormalization({.axis = axis, .epsilon = 0.1}); }, {image()});
  check("rms norm masked", [] { return nn::RMSNormalization(); }, {steps()}, {.masks = {gaps()}});
}

}  // namespace

void normalization_cases() {
  batch_norm_cases();
  layer_norm_cases();
  group_norm_cases();
}

void layer_cases() {
  for (auto* cases : {dense_cases, convolution_cases, pooling_cases, normalization_cases,
                      renorm_cases, recurrent_cases, attention_cases, activation_cases, shape_cases,
                      merging_cases, dropout_cases, preprocessing_cases, policy_cases, part_cases,
                      first_weight_cases, rank_cases})
    cases();
}

}  // namespace comparison
