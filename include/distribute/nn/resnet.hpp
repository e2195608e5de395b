#pragma once
/// Residual networks for images: ResNet-50 and its kin, and the small ones for CIFAR.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/empty_braces.hpp>
#include <distribute/nn/convolution.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/module_list.hpp>
#include <distribute/nn/normalization.hpp>
#include <distribute/nn/pooling.hpp>

#include <optional>
#include <string>
#include <vector>

namespace distribute::nn::applications {

/// Two successive children of a network. Without a convolution there is no step.
struct ResNetStep {
  OptionalModule<Conv2D> convolution;
  OptionalModule<BatchNormalization> norm;
};

/// How a network without its classifier reduces the last feature maps: not at all, or to the mean
/// or maximum over all pixels.
enum class Pooling : uint8_t { None, Avg, Max };

struct ResNetOptions {  // options of ResNet
  // number of blocks of each stage; 3, 4, 23, 3 is ResNet-101
  std::vector<int64_t> blocks{3, 4, 6, 3};
  int64_t classes = 1000;
  bool version_1 = false;   // as keras.applications.ResNet50: strides in the first 1x1, biases
  bool zero_gamma = false;  // the last scale of each block starts at 0 (Goyal et al. 2017)
  double bn_momentum = 0.9;
  double bn_epsilon = 1.001e-5;
  bool synchronized = false;                           // batch statistics over all replicas
  ActivationFunction classifier_activation = softmax;  // nullptr: the network gives logits
  bool include_top = true;                             // ends in the mean and the dense layer
  Pooling pooling = Pooling::None;                     // used when include_top is false
};

/// Bottleneck residual network: a 7x7/2 stem, four stages, and a dense layer that returns
/// probabilities. A loss takes these as they are; a loss with from_logits needs a network with
/// .classifier_activation = nullptr. It has version 1.5: the 3x3 convolution of a stage's first
/// block has the stride. Layers are named as in Keras ("conv2_block1_1_conv"), without a model's
/// name, so Keras's checkpoints load by name (docs/resnet50.md).
/// Shapes  [batch, height, width, 3] -> [batch, classes]; without the top [batch, height / 32,
///          width / 32, channels], pooled [batch, channels].
/// Source  tf.keras.applications.ResNet50; He et al. 2015
class ResNet : public Module {
 public:
  explicit ResNet(EmptyBraces) : ResNet() {}
  /// Throws  InvalidArgumentError for no stages, a stage without blocks, and a pooling together
  ///          with the top, which has its own.
  explicit ResNet(ResNetOptions options = {});

 private:
  struct Block {
    ResNetStep first, second, last, shortcut;
  };

  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "resnet"; }
  Conv2D& add_convolution(const std::string& name, int64_t filters, int64_t kernel, int64_t stride);
  BatchNormalization& add_norm(const std::string& name, bool relu, bool zero_gamma = false);
  void add_block(const std::string& name, int64_t filters, int64_t stride, bool projects);
  void add_top();

  ResNetOptions options_;
  ResNetStep stem_;
  std::vector<Block> blocks_;
  OptionalModule<GlobalAveragePooling2D> avg_pool_;
  OptionalModule<GlobalMaxPooling2D> max_pool_;
  OptionalModule<Dense> predictions_;
};

struct SmallResNetOptions {                  // options of SmallResNet
  std::vector<int64_t> filters{16, 32, 64};  // number of filters of each stage
  int64_t blocks = 1;                        // in each stage; 3 is He et al.'s ResNet-20
  int64_t classes = 10;
  ActivationFunction activation = relu;
  double bn_momentum = 0.99;
  double l2 = 1e-4;  // penalty on all kernels, part of losses()
  bool synchronized = false;
};

/// Residual network of 3x3 convolutions for small pictures. Stages are called block_a, block_b,
/// ...; a stage's further blocks block_a2, block_a3. It gives logits: losses want from_logits.
/// Shapes  [batch, height, width, channels] -> [batch, classes].
/// Source  He et al. 2015, section 4.2, with projections as shortcuts
class SmallResNet : public Module {
 public:
  explicit SmallResNet(EmptyBraces) : SmallResNet() {}
  /// Throws  InvalidArgumentError for no stages or no blocks.
  explicit SmallResNet(SmallResNetOptions options = {});

 private:
  struct Block {
    ResNetStep first, second, shortcut;
  };

  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "small_resnet"; }
  ResNetStep add_step(const std::string& convolution, const std::string& norm, int64_t filters,
                      int64_t kernel, int64_t stride, bool activated);
  void add_block(const std::string& name, int64_t filters, int64_t stride, bool projects);

  SmallResNetOptions options_;
  ResNetStep stem_;
  std::vector<Block> blocks_;
  OptionalModule<Dense> fc_;
};

struct ResNet9Options {  // options of ResNet9
  int64_t width = 64;    // channels of the first convolution; 128, 256 and 512 follow
  int64_t classes = 10;
  double logits_scale = 0.125;
  double bn_momentum = 0.9;
  bool synchronized = false;
};

/// Residual network of nine layers that learns CIFAR-10 in few epochs: wide 3x3 convolutions
/// ("prep", "layer1" to "layer3") with max pooling in place of strides, a residual block behind
/// the first and the third ("layer1_residual"). The maximum is taken before the normalization,
/// which then has a quarter of the pixels. It gives logits: losses want from_logits.
/// Shapes  [batch, height, width, channels] -> [batch, classes]; height and width at least 8.
/// Source  Page 2018, How to Train Your ResNet; Coleman et al. 2017 (DAWNBench)
class ResNet9 : public Module {
 public:
  explicit ResNet9(EmptyBraces) : ResNet9() {}
  /// Throws  InvalidArgumentError for a width below 1.
  explicit ResNet9(ResNet9Options options = {});

 private:
  struct Block {
    ResNetStep first, second;
  };
  struct Stage {
    ResNetStep entry;
    std::optional<Block> residual;
  };

  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "resnet9"; }
  ResNetStep add_step(const std::string& name, int64_t filters);
  Stage add_stage(const std::string& name, int64_t filters, bool has_residual);

  ResNet9Options options_;
  ResNetStep prep_;
  std::vector<Stage> stages_;
  OptionalModule<Dense> fc_;
};

}  // namespace distribute::nn::applications
