#pragma once
/// Models of all kinds of layers and operations, to be exported and run elsewhere.

#include <distribute/nn/activation.hpp>
#include <distribute/nn/attention.hpp>
#include <distribute/nn/convolution.hpp>
#include <distribute/nn/convolution_1d_3d.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/dropout.hpp>
#include <distribute/nn/embedding.hpp>
#include <distribute/nn/merging.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/normalization.hpp>
#include <distribute/nn/pooling.hpp>
#include <distribute/nn/recurrent_cells.hpp>
#include <distribute/nn/reshaping.hpp>
#include <distribute/nn/resnet.hpp>
#include <distribute/ops/activation.hpp>
#include <distribute/ops/arrangement.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/convolution.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/normalization.hpp>
#include <distribute/ops/random.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/ops/slicing.hpp>
#include <distribute/preprocessing/normalization.hpp>
#include <distribute/saved_model/saved_model.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace export_cases {

using namespace distribute;

struct Case {
  std::string name;
  std::shared_ptr<nn::Module> module;  // none: `function`
  saved_model::InferenceFunction function = {};
  Tensor input;
  bool same_in_float32 = true;  // false: the outputs here are those of 16 bits
};

/// Numbers that are neither zero on average nor alike.
inline Tensor example(const Shape& shape, uint64_t seed = 5) {
  return random::uniform(shape, seed) * 2.0f - 0.7f;
}

template <typename... Layers>
Case layers(std::string name, const Tensor& input, Layers... all) {
  auto net = std::make_shared<nn::Sequential>(std::move(all)...);
  (*net)(input);
  // Weights that training has moved: statistics and biases are no zeros and ones.
  uint64_t seed = 100;
  for (const Variable& v : net->variables())
    v.assign(v.value() + random::uniform(v.shape(), seed++) * 0.3f);
  return {.name = std::move(name), .module = net, .input = input};
}

inline Case function(std::string name, const Tensor& input, saved_model::InferenceFunction fn) {
  return {.name = std::move(name), .module = nullptr, .function = std::move(fn), .input = input};
}

/// A module of one's own: two branches, a sum, a concatenation.
class Branches : public nn::Module {
 private:
  Tensor call(const Tensor& x, nn::CallOptions options) override {
    const Tensor a = nn::relu(norm_(left_(x, options), options) + right_(x, options));
    return head_(reduce_mean(concat({a, x * 0.5f}, -1), {1, 2}), options);
  }
  nn::Conv2D& left_ =
      add("left", nn::Conv2D({.filters = 3, .kernel_size = 3, .padding = Padding::Same}));
  nn::Conv2D& right_ = add("right", nn::Conv2D({.filters = 3}));
  nn::BatchNormalization& norm_ = add("norm", nn::BatchNormalization());
  nn::Dense& head_ = add("head", nn::Dense({.units = 4}));
};

inline std::vector<Case> convolution_cases() {
  const Tensor odd = example({3, 9, 7, 4}), even = example({3, 8, 6, 4});
  std::vector<Case> cases;
  cases.push_back(layers("conv_same_stride", even,
                         nn::Conv2D({.filters = 5,
                                     .kernel_size = 3,
                                     .strides = 2,
                                     .padding = Padding::Same,
                                     .activation = nn::relu})));
  cases.push_back(layers(
      "conv_valid_rectangular", odd,
      nn::Conv2D({.filters = 5, .kernel_size = {3, 2}, .strides = {1, 2}, .use_bias = false})));
  cases.push_back(layers("conv_explicit", even,
                         nn::Conv2D({.filters = 5,
                                     .kernel_size = 3,
                                     .strides = 2,
                                     .padding = Padding::Explicit,
                                     .explicit_paddings = {1, 0, 2, 1}})));
  cases.push_back(layers("conv_dilated", odd,
                         nn::Conv2D({.filters = 2,
                                     .kernel_size = 3,
                                     .padding = Padding::Same,
                                     .dilation_rate = 2,
                                     .activation = nn::tanh})));
  cases.push_back(
      layers("conv_groups", odd, nn::Conv2D({.filters = 6, .kernel_size = 3, .groups = 2})));
  cases.push_back(layers("transposed", even,
                         nn::Conv2DTranspose({.filters = 3,
                                              .kernel_size = 3,
                                              .strides = 2,
                                              .padding = Padding::Same,
                                              .activation = nn::relu}),
                         nn::Conv2DTranspose({.filters = 2, .kernel_size = {2, 3}, .strides = 3}),
                         nn::Conv2DTranspose({.filters = 2,
                                              .kernel_size = 3,
                                              .padding = Padding::Same,
                                              .dilation_rate = 2,
                                              .use_bias = false})));
  preprocessing::Normalization scaled;
  scaled.adapt(even * 0.5f);
  auto normalized =
      std::make_shared<nn::Sequential>(preprocessing::Rescaling(0.5f, -1), std::move(scaled),
                                       nn::Conv2D({.filters = 2, .kernel_size = 3}));
  (*normalized)(even);
  cases.push_back({.name = "normalized", .module = normalized, .input = even});
  cases.push_back(layers("depthwise", odd,
                         nn::DepthwiseConv2D({.kernel_size = 3,
                                              .padding = Padding::Same,
                                              .depth_multiplier = 2,
                                              .activation = nn::relu})));
  cases.push_back(layers("depthwise_uneven_strides", odd,
                         nn::DepthwiseConv2D({.kernel_size = 3, .strides = {1, 2}})));
  cases.push_back(
      layers("pools", even, nn::MaxPool2D({.pool_size = 3, .strides = 1, .padding = Padding::Same}),
             nn::AveragePooling2D({.pool_size = 3, .strides = 2, .padding = Padding::Same}),
             nn::MaxPool2D(), nn::Flatten()));
  cases.push_back(layers("global_average", even, nn::GlobalAveragePooling2D({.keepdims = true})));
  cases.push_back(layers("global_max", even, nn::GlobalMaxPooling2D()));
  return cases;
}

inline std::vector<Case> layer_cases() {
  const Tensor table = example({5, 6}), steps = example({3, 4, 6}), images = example({3, 5, 5, 2});
  std::vector<Case> cases;
  cases.push_back(
      layers("batch_norm_image", images, nn::BatchNormalization({.activation = nn::relu})));
  cases.push_back(layers("batch_norm_plain", images,
                         nn::BatchNormalization({.center = false, .scale = false})));
  cases.push_back(layers("batch_norm_table", table, nn::BatchNormalization({.epsilon = 0.01})));
  cases.push_back(layers("batch_norm_steps", steps, nn::BatchNormalization({.scale = false})));
  cases.push_back(layers("layer_norm", steps, nn::LayerNormalization()));
  cases.push_back(layers("layer_norm_two_axes", steps,
                         nn::LayerNormalization({.axis = {1, 2}, .epsilon = 0.1})));
  cases.push_back(layers("dense_steps", steps,
                         nn::Dense({.units = 3, .activation = nn::gelu, .name = "first"}),
                         nn::Dropout(0.5f), nn::Dense({.units = 2, .use_bias = false})));
  cases.push_back(layers("embedding", Tensor(Shape{2, 3}, std::vector<int32_t>{0, 4, 2, 1, 1, 3}),
                         nn::Embedding({.input_dim = 5, .output_dim = 4}), nn::LayerNormalization(),
                         nn::Flatten(), nn::Dense({.units = 3})));
  struct {
    const char* name;
    nn::ActivationFunction function;
  } activations[] = {{"relu6", nn::relu6},
                     {"leaky_relu", nn::leaky_relu},
                     {"elu", nn::elu},
                     {"selu", nn::selu},
                     {"gelu", nn::gelu},
                     {"gelu_approximate", nn::gelu_approximate},
                     {"softplus", nn::softplus},
                     {"silu", nn::silu},
                     {"sigmoid", nn::sigmoid},
                     {"tanh", nn::tanh},
                     {"linear", nn::linear},
                     {"hard_sigmoid", nn::hard_sigmoid},
                     {"hard_silu", nn::hard_silu},
                     {"mish", nn::mish},
                     {"softsign", nn::softsign},
                     {"exponential", nn::exponential},
                     {"celu", nn::celu},
                     {"hard_tanh", nn::hard_tanh},
                     {"tanh_shrink", nn::tanh_shrink},
                     {"soft_shrink", nn::soft_shrink},
                     {"hard_shrink", nn::hard_shrink},
                     {"log_sigmoid", nn::log_sigmoid},
                     {"squareplus", nn::squareplus},
                     {"glu", nn::glu},
                     {"threshold", [](const Tensor& x) { return nn::threshold(x, 0.1, -2); }},
                     {"sparse_sigmoid", nn::sparse_sigmoid},
                     {"sparse_plus", nn::sparse_plus},
                     {"softmax", nn::softmax},
                     {"log_softmax", nn::log_softmax}};
  for (const auto& [name, activation] : activations)
    cases.push_back(
        layers(std::string("activation_") + name, table * 8.0f, nn::Activation(activation)));
  auto branches = std::make_shared<Branches>();
  (*branches)(images);
  cases.push_back({.name = "branches", .module = branches, .input = images});
  return cases;
}

inline std::vector<Case> function_cases() {
  const Tensor table = example({5, 6}), steps = example({3, 4, 6}), images = example({3, 4, 5, 2});
  std::vector<Case> cases;
  cases.push_back(function("arithmetic", table, [](const Tensor& x) {
    const Tensor a = exp(x) + 1.0f / (2.0f + abs(x)) - square(x) * 0.5f;
    return sqrt(a * a + 1.0f) + sin(x) * cos(x) + log1p(abs(x)) + expm1(-x) + erf(x) + sign(x) +
           floor(x * 3.0f) + ceil(x * 3.0f) + round(x * 2.0f) + rsqrt(abs(x) + 1.0f) +
           reciprocal(abs(x) + 0.5f) + clip_by_value(x, -0.2f, 0.4f) + log(abs(x) + 1.0f) +
           pow(abs(x) + 0.1f, Tensor(1.5f)) + maximum(x, Tensor(0.1f)) + minimum(x, Tensor(0.3f));
  }));
  cases.push_back(function("conditions", table, [](const Tensor& x) {
    const Tensor high = logical_or(greater(x, Tensor(0.5f)), less_equal(x, Tensor(-0.5f)));
    return where(logical_and(high, not_equal(x, Tensor(0.0f))), x, x * 10.0f) +
           cast(logical_xor(high, less(x, Tensor(0.1f))), DType::Float32);
  }));
  cases.push_back(function("quotients", table, [](const Tensor& x) {
    const Tensor divisor{0.3f, -0.4f, 0.11f, -2.0f, 1.0f, -0.07f};
    const Tensor with_zeros{0.0f, -0.4f, 0.0f, 2.0f, 1.0f, 0.5f};
    return floordiv(x, divisor) + floormod(x, divisor) * 10.0f + divide_no_nan(x, with_zeros);
  }));
  for (const DType dtype : {DType::Int32, DType::Int64})
    cases.push_back(function(
        "integer_quotients_" + std::string(name_of(dtype)),
        cast(round(example({5, 6}) * 20.0f), dtype), [dtype](const Tensor& x) {
          const Tensor divisor = cast(Tensor{7.0f, -7.0f, 3.0f, -2.0f, 1.0f, -5.0f}, dtype);
          return cast(floordiv(x, divisor), DType::Float32) * 100.0f +
                 cast(floormod(x, divisor), DType::Float32);
        }));
  cases.push_back(function("best", round(table * 2.0f), [](const Tensor& x) {  // with equal ones
    const TopK best = top_k(x, 4);
    const TopK places = top_k(square(x), 2);
    return concat(
        {best.values, cast(best.indices, DType::Float32), cast(places.indices, DType::Float32)}, 1);
  }));
  cases.push_back(function("any_and_all", steps, [](const Tensor& x) {
    const Tensor some = reduce_any(greater(x, Tensor(0.9f)), {1}, true);
    const Tensor every = reduce_all(greater(x, Tensor(-0.6f)), {1, 2});
    return cast(logical_not(some), DType::Float32) +
           reshape(cast(every, DType::Float32), {-1, 1, 1}) * 2.0f;
  }));
  cases.push_back(function("sigmoid_loss", table, [](const Tensor& x) {
    return nn::sigmoid_cross_entropy_with_logits(sigmoid(x * 3.0f), x);
  }));
  cases.push_back(function("moments", images, [](const Tensor& x) {
    const auto [mean, variance] = nn::moments(x, {1, 2}, true);
    const auto [all_mean, all_variance] = nn::moments(x, {0, 1, 2});
    return (x - mean) / sqrt(variance + 0.1f) + all_mean * all_variance;
  }));
  cases.push_back(function("axes", steps, [](const Tensor& x) {
    const Tensor t = transpose(x, {0, 2, 1});
    const Tensor best = broadcast_to(reduce_max(x, {1}, true), {x.shape()[0], 2, 6});
    const Tensor rows = reshape(slice(best, {0, 0, 0}, {-1, -1, 4}), {-1, 2, 4});
    const Tensor both = matmul(t, x, {.transpose_a = true, .transpose_b = true});
    return concat({both, matmul(x, t), expand_dims(reduce_min(rows, {1}), 1)}, 1);
  }));
  cases.push_back(function("slices", steps, [](const Tensor& x) {
    const auto parts = split(x, {2, 4}, 2);
    const Tensor back = strided_slice(x, {{}, {}, {Range::kNone, Range::kNone, -1}});
    const Tensor middle = slice(x, {0, 1, 0}, {-1, 2, 6});
    return concat(
        {parts[1], parts[0], back, pad(middle, {{0, 0}, {1, 1}, {0, 3}}, PadMode::Constant, 0.25f)},
        -1);
  }));
  cases.push_back(function("rearranged", steps, [](const Tensor& x) {
    const Tensor lengths{int32_t{3}, int32_t{6}, int32_t{0}, int32_t{2}};
    const Tensor moved = add_n({reverse(x, {1, -1}), roll(x, 2, -1) * 0.5f, roll(x, 1, 1)});
    const Tensor masked = x * sequence_mask(lengths, 6, DType::Float32) + linspace(0, 1, 6);
    return concat({moved, masked, repeat(slice(x, {0, 0, 0}, {-1, -1, 3}), 2, 2)}, 1);
  }));
  cases.push_back(function("products", steps, [](const Tensor& x) {
    const Tensor squares = einsum("bij,bkj->bik", {x, x});
    const Tensor bands = linalg::band_part(squares, 1, 0) + eye(4);
    return concat({einsum("bik,bkj->bij", {bands, x}), nn::l2_normalize(x, {-1}),
                   norm(x, {.axes = {1}, .keepdims = true})},
                  1);
  }));
  cases.push_back(function("mirrored", images, [](const Tensor& x) {
    return pad(x, {{0, 0}, {1, 2}, {2, 0}, {0, 0}}, PadMode::Reflect) * 2.0f;
  }));
  cases.push_back(function("reductions", steps, [](const Tensor& x) {
    return concat(
        {reduce_sum(x, {1}), reduce_prod(x, {1}), reduce_min(x, {1}), reduce_std(x, {1}),
         reduce_logsumexp(x, {1}), reduce_max(x, {-2}), reshape(reduce_mean(x, {1, 2}), {-1, 1})},
        1);
  }));
  cases.push_back(
      function("softmax_other_axis", steps, [](const Tensor& x) { return nn::softmax(x, 1); }));
  cases.push_back(function("classes", table, [](const Tensor& x) {
    return one_hot(argmax(x, -1), 6, 2.0f, -1.0f) + x;
  }));
  cases.push_back(function("gather_columns", table, [](const Tensor& x) {
    return gather(x, Tensor(Shape{3}, std::vector<int32_t>{5, 0, 2}), 1);
  }));
  cases.push_back(function("explicit_pools", images, [](const Tensor& x) {
    const nn::PoolOptions window{.ksize = {3, 3},
                                 .strides = {2, 2},
                                 .padding = Padding::Explicit,
                                 .explicit_paddings = {1, 1, 0, 1}};
    return nn::max_pool2d(x, window) + nn::avg_pool2d(x, window);
  }));
  cases.push_back(function("image_arithmetic", images, [](const Tensor& x) {
    const Tensor pooled = nn::avg_pool2d(x, {.ksize = {2, 2}, .strides = {1, 1}});
    const Tensor scaled = pooled * Tensor{0.5f, 2.0f} + pooled;
    const Tensor wide = pad(scaled, {{0, 0}, {1, 0}, {0, 1}, {0, 0}});
    return wide + reduce_mean(wide, {1, 2}, true) + reduce_sum(wide, {3}, true) +
           transpose(transpose(wide, {0, 2, 1, 3}), {0, 2, 1, 3});
  }));
  cases.push_back(function("norm_formula", images, [](const Tensor& x) {
    return nn::batch_normalization(x, Tensor{0.1f, -0.2f}, Tensor{1.5f, 0.5f}, Tensor{1.0f, 0.0f},
                                   Tensor{2.0f, 3.0f}, 0.01f);
  }));
  cases.push_back(function("preprocessing", cast(example({3, 4}) * 100.0f + 130.0f, DType::UInt8),
                           [](const Tensor& x) { return cast(x, DType::Float32) / 255.0f; }));
  return cases;
}

/// A network in mixed precision; the outputs wanted are those of its weights in float32.
inline Case mixed_case() {
  auto net = std::make_shared<nn::Sequential>(
      nn::Conv2D({.filters = 4, .kernel_size = 3, .activation = nn::relu}),
      nn::BatchNormalization(), nn::MaxPool2D(), nn::Flatten(), nn::Dense({.units = 3}));
  net->set_dtype_policy(nn::Policy("mixed_bfloat16"));
  const Tensor x = example({2, 8, 8, 1});
  (*net)(x);
  return {.name = "mixed_bfloat16", .module = net, .input = x, .same_in_float32 = false};
}

template <typename Net>
Case network(std::string name, Net net, const Shape& input) {
  auto owned = std::make_shared<Net>(std::move(net));
  const Tensor x = example(input);
  (*owned)(x);
  uint64_t seed = 7;
  for (const Variable& v : owned->non_trainable_variables())
    v.assign(v.value() + random::uniform(v.shape(), seed++) * 0.3f);
  return {.name = std::move(name), .module = owned, .input = x};
}

inline std::vector<Case> network_cases() {
  namespace applications = nn::applications;
  std::vector<Case> cases;
  cases.push_back(network("resnet8", applications::SmallResNet(), {2, 32, 32, 3}));
  cases.push_back(network("resnet9", applications::ResNet9({.width = 8}), {2, 32, 32, 3}));
  cases.push_back(network("resnet_version_1",
                          applications::ResNet({.blocks = {1, 1}, .version_1 = true}),
                          {2, 48, 48, 3}));
  cases.push_back(network("resnet_version_1_5",
                          applications::ResNet({.blocks = {2, 1}, .classes = 7}), {2, 32, 40, 3}));
  return cases;
}

/// A classifier of padded lines of numbers, of attention whose padding does not count.
class Attentive : public nn::Module {
 private:
  Tensor call(const Tensor& ids, nn::CallOptions options) override {
    const auto [x, mask] = table_.call_with_mask(ids, options);
    options.mask = mask;
    const Tensor seen = norm_(x + attention_(x, options), options);
    return pool_(seen + causal_(seen, options), options);
  }
  nn::Embedding& table_ =
      add("table", nn::Embedding({.input_dim = 5, .output_dim = 4, .mask_zero = true}));
  nn::MultiHeadAttention& attention_ =
      add("attention", nn::MultiHeadAttention({.num_heads = 2, .key_dim = 3}));
  nn::MultiHeadAttention& causal_ = add(
      "causal", nn::MultiHeadAttention({.num_heads = 2, .key_dim = 3, .use_causal_mask = true}));
  nn::LayerNormalization& norm_ = add("norm", nn::LayerNormalization());
  nn::GlobalAveragePooling1D& pool_ = add("pool", nn::GlobalAveragePooling1D());
};

/// Sums over the steps.
class Running : public nn::RNNCell {
 public:
  std::vector<int64_t> state_size() const override { return {6}; }

 private:
  nn::RecurrentResult call(const Tensor& x, const std::vector<Tensor>& states,
                           nn::CallOptions) override {
    const Tensor sum = states[0] * 0.5f + x;
    return {sum, {sum}};
  }
};

inline std::vector<Case> sequence_cases() {
  const Tensor steps = example({3, 4, 6}), images = example({3, 4, 5, 2});
  std::vector<Case> cases;
  cases.push_back(layers("lstm", steps, nn::LSTM({.units = 3, .return_sequences = true}),
                         nn::LSTM({.units = 2, .go_backwards = true})));
  cases.push_back(layers("gru_masked", nn::relu(steps), nn::Masking(),
                         nn::Bidirectional(nn::GRU({.units = 3, .return_sequences = true})),
                         nn::GRU({.units = 2, .reset_after = false}), nn::Dense({.units = 2})));
  cases.push_back(layers("time_distributed", steps, nn::TimeDistributed(nn::Dense({.units = 3}))));
  cases.push_back(
      layers("spectral_normalization", steps, nn::SpectralNormalization(nn::Dense({.units = 3}))));
  cases.push_back(
      layers("rnn_of_cells", steps,
             nn::RNN(nn::StackedRNNCells(nn::LSTMCell({.units = 3}), nn::GRUCell({.units = 2})),
                     {.return_sequences = true}),
             nn::Bidirectional(nn::RNN(nn::SimpleRNNCell({.units = 2})))));
  cases.push_back(layers("conv_lstm", images,
                         nn::ConvLSTM1D({.filters = 2, .kernel_size = 2, .return_sequences = true}),
                         nn::ConvLSTM1D({.filters = 3, .kernel_size = 3})));
  cases.push_back(layers("rnn_of_own_cell", steps, nn::RNN(Running())));
  cases.push_back(layers("simple_rnn", steps, nn::SimpleRNN({.units = 3}), nn::RepeatVector(2)));
  cases.push_back(layers(
      "conv1d", steps,
      nn::Conv1D(
          {.filters = 4, .kernel_size = 2, .padding = nn::Padding1D::Causal, .dilation_rate = 2}),
      nn::LeakyReLU(nn::LeakyReLUOptions{}), nn::MaxPooling1D({.padding = Padding::Same}),
      nn::AveragePooling1D({.pool_size = 1}), nn::GlobalMaxPooling1D()));
  nn::Functional graph;
  const auto input = graph.input("steps", {4, 6});
  graph.output("sum", graph.apply(nn::Add(), {input, graph.apply(nn::Dense({.units = 6}), input)}));
  cases.push_back(layers("graph", steps, std::move(graph)));
  cases.push_back(layers(
      "einsum", steps,
      nn::EinsumDense({.equation = "abc,cde->abde", .output_shape = {-1, 2, 4}, .bias_axes = "de"}),
      nn::PReLU(), nn::GroupNormalization({.groups = 2}), nn::RMSNormalization(),
      nn::Permute({3, 1, 2}), nn::Reshape({-1, 4}), nn::Softmax()));
  cases.push_back(layers(
      "lora", steps, nn::Dense({.units = 3, .lora_rank = 2}),
      nn::EinsumDense({.equation = "abc,cd->abd", .output_shape = {-1, 2}, .lora_rank = 1})));
  cases.push_back(layers("layer_scale", steps,
                         nn::LayerScale({.init_values = 0.5, .projection_dim = 6}),
                         nn::Dense({.units = 3})));
  cases.push_back(layers("resizing", images, nn::Resizing({.height = 3, .width = 7})));
  cases.push_back(layers(
      "long_sequences", steps,
      nn::Conv1DTranspose({.filters = 4, .kernel_size = 3, .strides = 2, .output_padding = 1}),
      nn::DepthwiseConv1D({.kernel_size = 2, .depth_multiplier = 2}), nn::ELU({.alpha = 0.5}),
      nn::SeparableConv1D({.filters = 3, .kernel_size = 2, .padding = Padding::Same}),
      nn::UpSampling1D(2), nn::Cropping1D(nn::AxisEdges(1, 2)), nn::ZeroPadding1D(1),
      nn::AdaptiveMaxPooling1D(3), nn::UnitNormalization(), nn::Identity(), nn::AlphaDropout(0.5),
      nn::GaussianDropout(0.5), nn::ActivityRegularization({.l2 = 0.1})));
  cases.push_back(layers(
      "volumes", example({3, 3, 4, 5, 2}),
      nn::Conv3D({.filters = 3, .kernel_size = 2, .padding = Padding::Same}), nn::MaxPooling3D(),
      nn::Conv3DTranspose({.filters = 2, .kernel_size = 2, .strides = 2}), nn::UpSampling3D(2),
      nn::Cropping3D({1, nn::AxisEdges(0, 1), 0}), nn::ZeroPadding3D(1),
      nn::AveragePooling3D({.pool_size = 2, .padding = Padding::Same}), nn::SpatialDropout3D(0.5),
      nn::AdaptiveAveragePooling3D({1, 2, 2}), nn::GlobalMaxPooling3D()));
  cases.push_back(layers("cropped", images, nn::Cropping2D({nn::AxisEdges(1, 0), 1}),
                         nn::CenterCrop({.height = 4, .width = 2}),
                         nn::BatchNormalization({.axis = 1}), nn::AdaptiveAveragePooling2D({2, 1}),
                         nn::AdaptiveMaxPooling2D(1)));
  cases.push_back(layers("separable", images, nn::UpSampling2D(2), nn::ZeroPadding2D(1),
                         nn::SeparableConv2D({.filters = 3, .kernel_size = 3}),
                         nn::ReLU({.max_value = 0.5, .negative_slope = 0.1})));
  const Tensor ids(Shape{2, 3}, std::vector<int32_t>{1, 4, 0, 2, 0, 0});
  auto attentive = std::make_shared<Attentive>();
  (*attentive)(ids);
  cases.push_back({.name = "attention", .module = attentive, .input = ids});
  return cases;
}

inline std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (auto make : {convolution_cases, layer_cases, sequence_cases, function_cases, network_cases})
    for (Case& one : make()) cases.push_back(std::move(one));
  cases.push_back(mixed_case());
  return cases;
}

}  // namespace export_cases
