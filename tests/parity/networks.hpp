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
  nn::Sequential network(conv("conv1", 32), nn::MaxPool2D(), conv("conv2", 64), nn::MaxPool2D(),
                         nn::Flatten(),
                         nn::Dense({.units = 500, .activation = nn::relu, .name = "fc1"}),
                         nn::Dense({.units = 10, .name = "fc2"}));
  network.set_name_in_path(false);  // names as in the case's weights
  return network;
}

struct ResidualOptions {
  nn::ActivationFunction activation = nn::relu;
  double bn_momentum = 0.99;
  bool synchronized = false;  // batch norm over all replicas
};

/// Three residual blocks of 16, 32 and 64 channels; names as in the case's weights.
class SmallResNet : public nn::applications::SmallResNet {
 public:
  explicit SmallResNet(ResidualOptions options)
      : nn::applications::SmallResNet({.activation = options.activation,
                                       .bn_momentum = options.bn_momentum,
                                       .synchronized = options.synchronized}) {}
};

}  // namespace parity
