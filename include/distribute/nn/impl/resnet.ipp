#pragma once
#include <distribute/nn/resnet.hpp>
#include <distribute/ops/convolution.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>

#include <algorithm>

namespace distribute::nn::applications {

DISTRIBUTE_INLINE ResNet::ResNet(ResNetOptions options) : options_(std::move(options)) {
  const std::vector<int64_t>& counts = options_.blocks;
  if (counts.empty() || *std::min_element(counts.begin(), counts.end()) < 1)
    throw InvalidArgumentError("ResNet: every stage needs at least one block");
  set_name_in_path(false);
  stem_.convolution = add_convolution("conv1_conv", 64, 7, 2);
  stem_.norm = add_norm("conv1_bn", true);
  for (size_t stage = 0; stage < counts.size(); ++stage)
    for (int64_t i = 0; i < counts[stage]; ++i)
      add_block(str_cat("conv", stage + 2, "_block", i + 1), int64_t{64} << stage,
                stage > 0 && i == 0 ? 2 : 1, i == 0);
  add_top();
}

DISTRIBUTE_INLINE void ResNet::add_top() {
  if (options_.include_top && options_.pooling != Pooling::None)
    throw InvalidArgumentError(
        "ResNet: `pooling` is that of a network with include_top = false; before its classifier it "
        "takes the mean");
  if (options_.include_top || options_.pooling == Pooling::Avg)
    avg_pool_ = add("avg_pool", GlobalAveragePooling2D());
  if (options_.pooling == Pooling::Max) max_pool_ = add("max_pool", GlobalMaxPooling2D());
  if (!options_.include_top) return;
  predictions_ =
      add("predictions", Dense({.units = options_.classes,
                                .activation = options_.classifier_activation,
                                .kernel_initializer = initializers::random_normal(0.0f, 0.01f)}));
  predictions_->set_dtype_policy(Policy("float32"));  // what a loss is made of
}

DISTRIBUTE_INLINE Conv2D& ResNet::add_convolution(const std::string& name, int64_t filters,
                                                  int64_t kernel, int64_t stride) {
  const int64_t pad = kernel / 2;
  return add(name, Conv2D({.filters = filters,
                           .kernel_size = kernel,
                           .strides = stride,
                           .padding = Padding::Explicit,
                           .use_bias = options_.version_1,
                           .kernel_initializer = initializers::he_normal(),
                           .explicit_paddings = {pad, pad, pad, pad}}));
}

DISTRIBUTE_INLINE BatchNormalization& ResNet::add_norm(const std::string& name, bool activated,
                                                       bool zero_gamma) {
  BatchNormalizationOptions norm{.momentum = options_.bn_momentum,
                                 .epsilon = options_.bn_epsilon,
                                 .synchronized = options_.synchronized,
                                 .activation = activated ? relu : ActivationFunction(nullptr)};
  if (zero_gamma) norm.gamma_initializer = initializers::zeros();
  return add(name, BatchNormalization(norm));
}

// The order of the parts is that of Keras's model.weights.
DISTRIBUTE_INLINE void ResNet::add_block(const std::string& name, int64_t filters, int64_t stride,
                                         bool projects) {
  const int64_t early = options_.version_1 ? stride : 1, late = options_.version_1 ? 1 : stride;
  Block b;
  b.first.convolution = add_convolution(name + "_1_conv", filters, 1, early);
  b.first.norm = add_norm(name + "_1_bn", true);
  b.second.convolution = add_convolution(name + "_2_conv", filters, 3, late);
  b.second.norm = add_norm(name + "_2_bn", true);
  if (projects) b.shortcut.convolution = add_convolution(name + "_0_conv", 4 * filters, 1, stride);
  b.last.convolution = add_convolution(name + "_3_conv", 4 * filters, 1, 1);
  if (projects) b.shortcut.norm = add_norm(name + "_0_bn", false);
  b.last.norm = add_norm(name + "_3_bn", true, options_.zero_gamma);
  blocks_.push_back(b);
}

DISTRIBUTE_INLINE Tensor ResNet::call(const Tensor& x, CallOptions options) {
  const auto apply = [&](const ResNetStep& step, const Tensor& input) {
    return step.norm(step.convolution->before_norm(input, options), options);
  };
  // The stem's output is not negative, so padding with nothing is padding with zeros.
  Tensor h = max_pool2d(apply(stem_, x), {.ksize = {3, 3},
                                          .strides = {2, 2},
                                          .padding = Padding::Explicit,
                                          .explicit_paddings = {1, 1, 1, 1}});
  for (const Block& b : blocks_) {
    const Tensor side = b.shortcut.norm ? apply(b.shortcut, h) : h;
    h = apply(b.second, apply(b.first, h));
    h = b.last.norm->with_residual(b.last.convolution->before_norm(h, options), side, options);
  }
  if (avg_pool_) h = avg_pool_(h, options);
  if (max_pool_) h = max_pool_(h, options);
  return predictions_ ? predictions_(h, options) : h;
}

DISTRIBUTE_INLINE SmallResNet::SmallResNet(SmallResNetOptions options)
    : options_(std::move(options)) {
  if (options_.filters.empty() || options_.blocks < 1)
    throw InvalidArgumentError("SmallResNet: every stage needs at least one block");
  set_name_in_path(false);
  stem_ = add_step("conv1", "bn1", options_.filters[0], 3, 1, true);
  for (size_t stage = 0; stage < options_.filters.size(); ++stage)
    for (int64_t i = 0; i < options_.blocks; ++i) {
      const std::string name = std::string("block_") + char('a' + stage);
      const bool first = stage > 0 && i == 0;
      add_block(i ? str_cat(name, i + 1) : name, options_.filters[stage], first ? 2 : 1, first);
    }
  fc_ =
      add("fc",
          Dense({.units = options_.classes, .kernel_regularizer = regularizers::l2(options_.l2)}));
  fc_->set_dtype_policy(Policy("float32"));  // what a loss is made of
}

DISTRIBUTE_INLINE ResNetStep SmallResNet::add_step(const std::string& convolution,
                                                   const std::string& norm, int64_t filters,
                                                   int64_t kernel, int64_t stride, bool activated) {
  ResNetStep step;
  step.convolution =
      add(convolution, Conv2D({.filters = filters,
                               .kernel_size = kernel,
                               .strides = stride,
                               .padding = Padding::Same,
                               .use_bias = false,
                               .kernel_regularizer = regularizers::l2(options_.l2)}));
  step.norm =
      add(norm, BatchNormalization(
                    {.momentum = options_.bn_momentum,
                     .synchronized = options_.synchronized,
                     .activation = activated ? options_.activation : ActivationFunction(nullptr)}));
  return step;
}

DISTRIBUTE_INLINE void SmallResNet::add_block(const std::string& name, int64_t filters,
                                              int64_t stride, bool projects) {
  Block b;
  b.first = add_step(name + "_conv1", name + "_bn1", filters, 3, stride, true);
  b.second = add_step(name + "_conv2", name + "_bn2", filters, 3, 1, true);
  if (projects)
    b.shortcut = add_step(name + "_short_conv", name + "_short_bn", filters, 1, stride, false);
  blocks_.push_back(b);
}

DISTRIBUTE_INLINE Tensor SmallResNet::call(const Tensor& x, CallOptions options) {
  const auto apply = [&](const ResNetStep& step, const Tensor& input) {
    return step.norm(step.convolution->before_norm(input, options), options);
  };
  Tensor h = apply(stem_, x);
  for (const Block& b : blocks_) {
    const Tensor side = b.shortcut.norm ? apply(b.shortcut, h) : h;
    const Tensor last = b.second.convolution->before_norm(apply(b.first, h), options);
    h = b.second.norm->with_residual(last, side, options);
  }
  return fc_(reduce_mean(h, {1, 2}), options);
}

DISTRIBUTE_INLINE ResNet9::ResNet9(ResNet9Options options) : options_(options) {
  if (options_.width < 1) throw InvalidArgumentError("ResNet9: width must be at least 1");
  set_name_in_path(false);
  prep_ = add_step("prep", options_.width);
  for (int64_t stage = 1; stage <= 3; ++stage)
    stages_.push_back(add_stage(str_cat("layer", stage), options_.width << stage, stage != 2));
  fc_ = add("fc", Dense({.units = options_.classes}));
  fc_->set_dtype_policy(Policy("float32"));  // what a loss is made of
}

DISTRIBUTE_INLINE ResNetStep ResNet9::add_step(const std::string& name, int64_t filters) {
  ResNetStep step;
  step.convolution = add(
      name + "_conv",
      Conv2D({.filters = filters, .kernel_size = 3, .padding = Padding::Same, .use_bias = false}));
  step.norm = add(name + "_bn", BatchNormalization({.momentum = options_.bn_momentum,
                                                    .synchronized = options_.synchronized,
                                                    .activation = relu}));
  return step;
}

DISTRIBUTE_INLINE ResNet9::Stage ResNet9::add_stage(const std::string& name, int64_t filters,
                                                    bool has_residual) {
  Stage stage{.entry = add_step(name, filters), .residual = {}};
  if (has_residual)
    stage.residual = Block{.first = add_step(name + "_residual1", filters),
                           .second = add_step(name + "_residual2", filters)};
  return stage;
}

DISTRIBUTE_INLINE Tensor ResNet9::call(const Tensor& x, CallOptions options) {
  const auto convolve = [&](const ResNetStep& step, const Tensor& input) {
    return step.convolution->before_norm(input, options);
  };
  Tensor h = prep_.norm(convolve(prep_, x), options);
  for (const Stage& stage : stages_) {
    const Tensor pooled = max_pool2d(convolve(stage.entry, h), {.ksize = {2, 2}});
    h = stage.entry.norm(pooled, options);
    if (!stage.residual) continue;
    const auto& [first, second] = *stage.residual;
    const Tensor inner = first.norm(convolve(first, h), options);
    h = second.norm->with_residual(convolve(second, inner), h, options);
  }
  return fc_(reduce_max(h, {1, 2}), options) * float(options_.logits_scale);
}

}  // namespace distribute::nn::applications
