/// Layers of sequences and volumes, of edges and sizes, penalties on results, and axes of
/// normalizations, as size_layer_cases.py prints them.
#include "layer_cases.hpp"

#include <distribute/nn/activation.hpp>
#include <distribute/nn/attention.hpp>
#include <distribute/nn/convolution.hpp>
#include <distribute/nn/convolution_1d_3d.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/dropout.hpp>
#include <distribute/nn/embedding.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/normalization.hpp>
#include <distribute/nn/pooling.hpp>
#include <distribute/nn/recurrent.hpp>
#include <distribute/nn/reshaping.hpp>
#include <distribute/ops/array.hpp>

#include <array>
#include <optional>

namespace comparison {

namespace {

namespace regularizers = nn::regularizers;
using nn::AxisEdges;
using nn::Padding;
using nn::Size2D;
using nn::Size3D;

const nn::Regularizer kernel_penalty = regularizers::L1L2(0.01, 0.02);
const nn::Regularizer bias_penalty = regularizers::L2(0.03);
const nn::Regularizer both = regularizers::L1L2(0.1, 0.2);

Shape volume() { return {2, 4, 5, 3, 2}; }
Tensor floats(const Shape& shape, const std::vector<float>& values) { return {shape, values}; }

const std::pair<std::string, Padding> kPaddings[] = {{"valid", Padding::Valid},
                                                     {"same", Padding::Same}};

void edge_cases() {
  for (const auto& [name, edges] : std::vector<std::pair<std::string, AxisEdges>>{
           {"0", 0}, {"1", 1}, {"(2, 0)", {2, 0}}, {"(1, 3)", {1, 3}}}) {
    check("zero padding 1d " + name, [&, e = edges] { return nn::ZeroPadding1D(e); }, {steps()});
    check("cropping 1d " + name, [&, e = edges] { return nn::Cropping1D(e); }, {steps()});
  }
  check("cropping 1d masked", [] { return nn::Cropping1D(AxisEdges(1, 0)); }, {steps()},
        {.masks = {gaps()}});
  check("cropping 1d of all", [] { return nn::Cropping1D(AxisEdges(2, 3)); }, {steps()});
  check("cropping 1d negative", [] { return nn::Cropping1D(-1); }, {steps()});
  using Two = std::array<AxisEdges, 2>;
  for (const auto& [name, edges] :
       std::vector<std::pair<std::string, Two>>{{"0", {0, 0}},
                                                {"2", {2, 2}},
                                                {"(1, 2)", {1, 2}},
                                                {"((1, 0), (2, 3))", {AxisEdges(1, 0), {2, 3}}},
                                                {"((0, 2), (0, 0))", {AxisEdges(0, 2), 0}}})
    check("cropping 2d " + name, [&, e = edges] { return nn::Cropping2D(e); }, {image()});
  check("cropping 2d of all", [] { return nn::Cropping2D(3); }, {image()});
  using Three = std::array<AxisEdges, 3>;
  for (const auto& [name, edges] : std::vector<std::pair<std::string, Three>>{
           {"0", {0, 0, 0}},
           {"1", {1, 1, 1}},
           {"(1, 0, 1)", {1, 0, 1}},
           {"((0, 1), (2, 1), (1, 0))", {AxisEdges(0, 1), {2, 1}, {1, 0}}}}) {
    check("zero padding 3d " + name, [&, e = edges] { return nn::ZeroPadding3D(e); }, {volume()});
    check("cropping 3d " + name, [&, e = edges] { return nn::Cropping3D(e); }, {volume()});
  }
}

void resized_cases() {
  for (const int64_t size : {1, 2, 3})
    check(str_cat("up sampling 1d ", size), [=] { return nn::UpSampling1D(size); }, {steps()});
  check("up sampling 1d masked", [] { return nn::UpSampling1D(1); }, {steps()},
        {.masks = {gaps()}});
  for (const auto& [name, size] :
       std::vector<std::pair<std::string, Size3D>>{{"1", 1}, {"2", 2}, {"(1, 2, 3)", {1, 2, 3}}})
    check("up sampling 3d " + name, [&, s = size] { return nn::UpSampling3D(s); }, {volume()});
  for (const auto& [height, width] :
       std::vector<std::pair<int64_t, int64_t>>{{3, 4}, {5, 6}, {2, 5}, {8, 4}, {7, 9}, {1, 8}})
    check(str_cat("center crop ", height, " ", width),
          [h = height, w = width] { return nn::CenterCrop({.height = h, .width = w}); }, {image()});
  check("center crop of integers", [] { return nn::CenterCrop({.height = 2, .width = 2}); },
        {counts()});
  check("center crop of one image", [] { return nn::CenterCrop({.height = 2, .width = 3}); },
        {{5, 6, 2}});
}

void window_cases(int64_t stride, const std::string& padding_name, Padding padding,
                  int64_t dilation) {
  const std::string text = str_cat(stride, " ", padding_name, " ", dilation);
  check("depthwise 1d " + text,
        [&] {
          return nn::DepthwiseConv1D({.kernel_size = 2,
                                      .strides = stride,
                                      .padding = padding,
                                      .depth_multiplier = 2,
                                      .dilation_rate = dilation});
        },
        {{2, 7, 3}});
  check("separable 1d " + text,
        [&] {
          return nn::SeparableConv1D({.filters = 4,
                                      .kernel_size = 3,
                                      .strides = stride,
                                      .padding = padding,
                                      .dilation_rate = dilation});
        },
        {{2, 7, 3}});
  if (stride == 1 || dilation == 1)
    check("transpose 1d " + text,
          [&] {
            return nn::Conv1DTranspose({.filters = 2,
                                        .kernel_size = 3,
                                        .strides = stride,
                                        .padding = padding,
                                        .dilation_rate = dilation});
          },
          {steps()});
}

void output_padding_cases() {
  for (const int64_t kernel : {2, 3})
    for (const int64_t more : {0, 1})
      for (const auto& [name, padding] : kPaddings) {
        const std::string text = str_cat("output padding ", kernel, " ", more, " ", name);
        check("transpose 1d " + text,
              [&, p = padding] {
                return nn::Conv1DTranspose({.filters = 2,
                                            .kernel_size = kernel,
                                            .strides = 2,
                                            .padding = p,
                                            .output_padding = more});
              },
              {steps()});
        check("transpose 2d " + text,
              [&, p = padding] {
                return nn::Conv2DTranspose({.filters = 2,
                                            .kernel_size = kernel,
                                            .strides = 2,
                                            .padding = p,
                                            .output_padding = more});
              },
              {image()});
      }
  check("transpose 1d output padding 2",
        [] {
          return nn::Conv1DTranspose(
              {.filters = 2, .kernel_size = 3, .strides = 2, .output_padding = 2});
        },
        {steps()});
}

void sequence_cases() {
  for (const int64_t stride : {1, 2, 3})
    for (const auto& [name, padding] : kPaddings)
      for (const int64_t dilation : {1, 2}) window_cases(stride, name, padding, dilation);
  output_padding_cases();
  check("transpose 1d stride 4",
        [] { return nn::Conv1DTranspose({.filters = 2, .kernel_size = 3, .strides = 4}); },
        {steps()});
  check("transpose 1d options",
        [] {
          return nn::Conv1DTranspose({.filters = 2,
                                      .kernel_size = 3,
                                      .activation = nn::relu,
                                      .kernel_regularizer = kernel_penalty,
                                      .bias_regularizer = bias_penalty,
                                      .activity_regularizer = regularizers::L1()});
        },
        {steps()});
  check("depthwise 1d options",
        [] {
          return nn::DepthwiseConv1D({.kernel_size = 3,
                                      .activation = nn::tanh,
                                      .use_bias = false,
                                      .depthwise_regularizer = regularizers::L2(0.1),
                                      .activity_regularizer = regularizers::L2()});
        },
        {steps()});
  check("separable 1d options",
        [] {
          return nn::SeparableConv1D({.filters = 2,
                                      .kernel_size = 3,
                                      .depth_multiplier = 2,
                                      .activation = nn::relu,
                                      .depthwise_regularizer = regularizers::L2(0.1),
                                      .pointwise_regularizer = regularizers::L1(0.1),
                                      .bias_regularizer = regularizers::L2(0.2)});
        },
        {steps()});
  check("separable 1d masked", [] { return nn::SeparableConv1D({.filters = 2}); }, {steps()},
        {.masks = {gaps()}});
}

struct Window {  // as Python writes the stride, and the dilation or the output padding
  std::string name;
  Size3D stride;
  Padding padding = Padding::Valid;
  Size3D dilation = 1;
  std::optional<Size3D> more = {};
};

void volume_convolution_cases() {
  for (const Window& w : std::vector<Window>{{"1 valid 1", 1},
                                             {"1 same 1", 1, Padding::Same},
                                             {"2 same 1", 2, Padding::Same},
                                             {"2 valid 1", 2},
                                             {"1 same 2", 1, Padding::Same, 2},
                                             {"(1, 2, 2) same 1", {1, 2, 2}, Padding::Same},
                                             {"1 valid (1, 2, 1)", 1, Padding::Valid, {1, 2, 1}}})
    check("conv3d " + w.name,
          [&] {
            return nn::Conv3D({.filters = 3,
                               .kernel_size = {2, 3, 2},
                               .strides = w.stride,
                               .padding = w.padding,
                               .dilation_rate = w.dilation});
          },
          {volume()});
  check("conv3d options",
        [] {
          return nn::Conv3D({.filters = 4,
                             .kernel_size = 2,
                             .groups = 2,
                             .activation = nn::relu,
                             .kernel_regularizer = kernel_penalty,
                             .bias_regularizer = bias_penalty,
                             .activity_regularizer = regularizers::L2()});
        },
        {volume()});
  check("conv3d wrong groups",
        [] { return nn::Conv3D({.filters = 3, .kernel_size = 2, .groups = 2}); }, {volume()});
  for (const Window& w :
       std::vector<Window>{{"1 valid None", 1},
                           {"1 same None", 1, Padding::Same},
                           {"2 same None", 2, Padding::Same},
                           {"2 valid None", 2},
                           {"(1, 2, 3) valid None", {1, 2, 3}},
                           {"2 same 1", 2, Padding::Same, 1, Size3D(1)},
                           {"2 valid (0, 1, 1)", 2, Padding::Valid, 1, Size3D(0, 1, 1)}})
    check("transpose 3d " + w.name,
          [&] {
            return nn::Conv3DTranspose({.filters = 2,
                                        .kernel_size = {2, 3, 1},
                                        .strides = w.stride,
                                        .padding = w.padding,
                                        .output_padding = w.more});
          },
          {volume()});
  check("transpose 3d options",
        [] {
          return nn::Conv3DTranspose({.filters = 2,
                                      .kernel_size = 2,
                                      .activation = nn::tanh,
                                      .use_bias = false,
                                      .kernel_regularizer = kernel_penalty,
                                      .bias_regularizer = bias_penalty});
        },
        {volume()});
}

void volume_pool_cases() {
  struct Pool {
    std::string name;
    nn::Pool3DLayerOptions options;
  };
  for (const Pool& pool : std::vector<Pool>{
           {"2 None valid", {}},
           {"2 None same", {.padding = Padding::Same}},
           {"(1, 2, 3) 1 same",
            {.pool_size = {1, 2, 3}, .strides = Size3D(1), .padding = Padding::Same}},
           {"3 2 same", {.pool_size = 3, .strides = Size3D(2), .padding = Padding::Same}},
           {"2 (2, 1, 2) valid", {.strides = Size3D(2, 1, 2)}}}) {
    check("max pooling 3d " + pool.name, [&] { return nn::MaxPooling3D(pool.options); },
          {volume()});
    check("average pooling 3d " + pool.name, [&] { return nn::AveragePooling3D(pool.options); },
          {volume()});
  }
  check("max pooling 3d of equals",
        [] { return nn::Sequential(nn::UpSampling3D(2), nn::MaxPooling3D()); }, {volume()});
  for (const bool keep : {false, true}) {
    check("global average 3d " + text(keep),
          [=] { return nn::GlobalAveragePooling3D({.keepdims = keep}); }, {volume()});
    check("global max 3d " + text(keep), [=] { return nn::GlobalMaxPooling3D({.keepdims = keep}); },
          {volume()});
  }
  for (const int64_t size : {2, 3}) {
    check(str_cat("adaptive Average 1d ", size), [=] { return nn::AdaptiveAveragePooling1D(size); },
          {steps()});
    check(str_cat("adaptive Max 1d ", size), [=] { return nn::AdaptiveMaxPooling1D(size); },
          {steps()});
  }
  for (const auto& [name, size] : std::vector<std::pair<std::string, Size2D>>{
           {"2", 2}, {"(3, 4)", {3, 4}}, {"(4, 2)", {4, 2}}}) {
    check("adaptive Average 2d " + name, [&, s = size] { return nn::AdaptiveAveragePooling2D(s); },
          {image()});
    check("adaptive Max 2d " + name, [&, s = size] { return nn::AdaptiveMaxPooling2D(s); },
          {image()});
  }
  for (const auto& [name, size] :
       std::vector<std::pair<std::string, Size3D>>{{"2", 2}, {"(3, 2, 2)", {3, 2, 2}}}) {
    check("adaptive Average 3d " + name, [&, s = size] { return nn::AdaptiveAveragePooling3D(s); },
          {volume()});
    check("adaptive Max 3d " + name, [&, s = size] { return nn::AdaptiveMaxPooling3D(s); },
          {volume()});
  }
}

/// With the layer trained, and frozen, which leaves penalties on results.
template <typename Make>
void penalty_case(const std::string& name, Make make, const LayerInput& input) {
  check("activity " + name, make, {input});
  check("activity " + name + " frozen", make, {input}, {.frozen = true});
}

void penalty_cases() {
  const auto dense = [] { return nn::Dense({.units = 2, .activity_regularizer = both}); };
  const auto layer = [] { return nn::ActivityRegularization({.l1 = 0.1, .l2 = 0.2}); };
  penalty_case("dense", dense, steps());
  penalty_case(
      "conv1d",
      [] { return nn::Conv1D({.filters = 2, .kernel_size = 2, .activity_regularizer = both}); },
      steps());
  penalty_case(
      "conv2d",
      [] {
        return nn::Conv2D(
            {.filters = 2, .kernel_size = 2, .activation = nn::relu, .activity_regularizer = both});
      },
      image());
  penalty_case(
      "depthwise",
      [] { return nn::DepthwiseConv2D({.kernel_size = 2, .activity_regularizer = both}); },
      image());
  penalty_case(
      "separable",
      [] {
        return nn::SeparableConv2D({.filters = 2, .kernel_size = 2, .activity_regularizer = both});
      },
      image());
  penalty_case(
      "transpose",
      [] {
        return nn::Conv2DTranspose({.filters = 2, .kernel_size = 2, .activity_regularizer = both});
      },
      image());
  penalty_case(
      "embedding",
      [] {
        nn::Embedding table({.input_dim = 4, .output_dim = 3});
        table.set_activity_regularizer(both);
        return table;
      },
      ids());
  penalty_case(
      "lstm", [] { return nn::LSTM({.units = 2, .activity_regularizer = both}); }, steps());
  penalty_case(
      "gru",
      [] {
        return nn::GRU({.units = 2,
                        .kernel_regularizer = kernel_penalty,
                        .bias_regularizer = bias_penalty,
                        .activity_regularizer = both,
                        .return_sequences = true});
      },
      steps());
  penalty_case(
      "rnn", [] { return nn::SimpleRNN({.units = 2, .activity_regularizer = both}); }, steps());
  penalty_case(
      "bidirectional",
      [] { return nn::Bidirectional(nn::LSTM({.units = 2, .activity_regularizer = both})); },
      steps());
  penalty_case("layer", layer, steps());
  penalty_case("layer of one axis", layer, Shape{3});
  check("activity of two calls", dense, {steps()}, {.calls = 3});
  check("activity masked", layer, {steps()}, {.masks = {padding()}});
  check_call(
      "activity heads",
      [] {
        return nn::MultiHeadAttention({.num_heads = 2, .key_dim = 3, .activity_regularizer = both});
      },
      {steps()}, [](auto& heads, const auto& in) { return one(heads(in[0], in[0])); });
}

/// A layer whose part is called twice in each call.
class Twice : public nn::Module {
 private:
  Tensor call(const Tensor& x, nn::CallOptions options) override {
    return part_(nn::relu(part_(x, options)), options);
  }
  nn::Dense& part_ = add("part", nn::Dense({.units = 3, .activity_regularizer = both}));
};

void shared_penalty_case() {
  run_case("layers/activity of a layer twice", [] {
    Twice model;
    const Tensor x = dist::ones({2, 3});
    model(x);
    for (const dist::Variable& weight : model.variables())
      weight.assign(dist::ones(weight.shape()) / 2);
    model(x);
    model(x);
    return show(stack(model.losses(), 0));
  });
}

void function_cases() {
  for (const auto& [name, alpha] :
       {std::pair{"1", 1.0}, std::pair{"0.5", 0.5}, std::pair{"-0.5", -0.5}, std::pair{"0", 0.0}})
    check(str_cat("elu layer ", name), [a = alpha] { return nn::ELU({.alpha = a}); }, {steps()},
          {.masks = {gaps()}});
  check("elu layer of integers", [] { return nn::ELU(); }, {ids()});
  check("identity", [] { return nn::Identity(); }, {steps()}, {.masks = {gaps()}});
  const auto unit = [] { return nn::UnitNormalization(); };
  for (const auto& [name, axes] : std::vector<std::pair<std::string, nn::NormalizedAxes>>{
           {"-1", -1}, {"1", 1}, {"(1, 2)", {1, 2}}})
    check("unit norm " + name, [&, a = axes] { return nn::UnitNormalization({.axis = a}); },
          {steps()}, {.masks = {gaps()}});
  check("unit norm of zeros", unit, {floats({3, 2}, {0, 0, 1e-7f, 0, 3, 4})});
  check("unit norm of integers", unit, {ids()});
  for (const int axis : {1, 2, -2, 3})
    for (const bool training : {false, true})
      check(str_cat("batch norm axis ", axis, " ", text(training)),
            [=] { return nn::BatchNormalization({.axis = axis}); }, {image()},
            {.training = training});
  for (const int axis : {1, 2, 3, -2})
    check(str_cat("group norm axis ", axis),
          [=] { return nn::GroupNormalization({.groups = axis == 1 ? 5 : 2, .axis = axis}); },
          {image()});
}

template <typename Layer>
void dropout_case(const std::string& name, const Shape& shape) {
  const LayerCase outside = shape.rank() == 5 ? LayerCase{} : LayerCase{.masks = {gaps()}};
  check(
      name + " outside of training", [] { return Layer(0.4); }, {shape}, outside);
  check(name + " of 0", [] { return Layer(0.0); }, {shape}, {.training = true});
  check(name + " of 1.5", [] { return Layer(1.5); }, {shape});
  if (shape.rank() != 5)
    check(name + " of 1", [] { return Layer(1.0); }, {shape}, {.training = true});
}

}  // namespace

void size_layer_cases() {
  edge_cases();
  resized_cases();
  sequence_cases();
  volume_convolution_cases();
  volume_pool_cases();
  penalty_cases();
  shared_penalty_case();
  function_cases();
  dropout_case<nn::AlphaDropout>("AlphaDropout", steps());
  dropout_case<nn::GaussianDropout>("GaussianDropout", steps());
  dropout_case<nn::SpatialDropout3D>("SpatialDropout3D", volume());
}

}  // namespace comparison
