#pragma once
/// The networks of the parity cases, written against the public headers as a user would.

#include <distribute/distribute.hpp>

#include <string>

namespace parity {

namespace nn = distribute::nn;
using distribute::Padding;
using distribute::Tensor;

inline nn::Sequential book_network() {
  const auto conv = [](const char* name, int64_t filters) {
    return nn::Conv2D({.filters = filters,
                       .kernel_size = 5,
                       .padding = Padding::Same,
                       .activation = nn::relu,
                       .name = name});
  };
  return nn::Sequential(conv("conv1", 32), nn::MaxPool2D(), conv("conv2", 64), nn::MaxPool2D(),
                        nn::Flatten(),
                        nn::Dense({.units = 500, .activation = nn::relu, .name = "fc1"}),
                        nn::Dense({.units = 10, .name = "fc2"}));
}

struct ResidualOptions {
  nn::ActivationFunction activation = nn::relu;
  double bn_momentum = 0.99;
  bool synchronized = false;  // batch norm over all replicas
};

/// Three residual blocks of 16, 32 and 64 channels; names as in the case's weights.
class SmallResNet : public nn::Module {
 public:
  explicit SmallResNet(ResidualOptions options) : options_(options) {
    convolution("conv1", 16, 3, 1);
    norm("bn1", true);
    block("block_a", 16, 1, false);
    block("block_b", 32, 2, true);
    block("block_c", 64, 2, true);
    fc_ = &add("fc", nn::Dense({.units = 10, .kernel_regularizer = nn::regularizers::l2(1e-4f)}));
  }

 private:
  struct Step {
    nn::Conv2D* convolution;
    nn::BatchNormalization* norm;
  };
  struct Block {
    Step first, second, shortcut;
  };

  void convolution(const std::string& name, int64_t filters, int64_t kernel, int64_t stride) {
    last_.convolution = &add(name, nn::Conv2D({.filters = filters,
                                               .kernel_size = kernel,
                                               .strides = stride,
                                               .padding = Padding::Same,
                                               .use_bias = false,
                                               .kernel_regularizer = nn::regularizers::l2(1e-4f)}));
  }
  Step norm(const std::string& name, bool activated) {
    last_.norm = &add(
        name, nn::BatchNormalization({.momentum = options_.bn_momentum,
                                      .synchronized = options_.synchronized,
                                      .activation = activated ? options_.activation : nullptr}));
    if (!stem_.convolution) stem_ = last_;
    return last_;
  }
  void block(const std::string& name, int64_t filters, int64_t stride, bool projection) {
    Block made{};
    convolution(name + "_conv1", filters, 3, stride);
    made.first = norm(name + "_bn1", true);
    convolution(name + "_conv2", filters, 3, 1);
    made.second = norm(name + "_bn2", false);
    if (projection) {
      convolution(name + "_short_conv", filters, 1, stride);
      made.shortcut = norm(name + "_short_bn", false);
    }
    blocks_.push_back(made);
  }

  static Tensor apply(const Step& step, const Tensor& x, nn::CallOptions options) {
    return (*step.norm)((*step.convolution)(x, options), options);
  }
  Tensor call(const Tensor& x, nn::CallOptions options) override {
    Tensor h = apply(stem_, x, options);
    for (const Block& b : blocks_) {
      const Tensor main = apply(b.second, apply(b.first, h, options), options);
      const Tensor side = b.shortcut.norm ? apply(b.shortcut, h, options) : h;
      h = options_.activation(main + side);
    }
    return (*fc_)(distribute::reduce_mean(h, {1, 2}), options);
  }

  ResidualOptions options_;
  Step last_{}, stem_{};
  std::vector<Block> blocks_;
  nn::Dense* fc_ = nullptr;
};

}  // namespace parity
