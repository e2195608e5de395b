#pragma once
/// The networks of this example, for images [batch, 28, 28, 1] and ten classes. Weights are called
/// "conv1/kernel", without the model, so that files of weights fit whatever else a program makes.

#include <distribute/distribute.hpp>

#include <string>

namespace mnist_cnn {

namespace nn = distribute::nn;

/// A digit's logits, float32 under any policy: what a loss is made of.
inline nn::Dense logits_layer() {
  nn::Dense layer({.units = 10, .name = "fc2"});
  layer.set_dtype_policy(nn::Policy("float32"));
  return layer;
}

/// Two 5x5 convolutions with pooling, a dense layer of 500: 1,625,606 weights.
inline nn::Sequential book_model() {
  const auto conv = [](const char* name, int64_t filters) {
    return nn::Conv2D({.filters = filters,
                       .kernel_size = 5,
                       .padding = distribute::Padding::Same,
                       .activation = nn::relu,
                       .name = name});
  };
  nn::Sequential model(conv("conv1", 32), nn::MaxPool2D({.name = "pool1"}), conv("conv2", 64),
                       nn::MaxPool2D({.name = "pool2"}), nn::Flatten("flatten"),
                       nn::Dense({.units = 500, .activation = nn::relu, .name = "fc1"}),
                       logits_layer());
  model.set_name_in_path(false);
  return model;
}

/// One 3x3 convolution with pooling, a dense layer of 128: the network of TensorFlow's tutorials.
inline nn::Sequential tutorial_model() {
  nn::Sequential model(
      nn::Conv2D({.filters = 32, .kernel_size = 3, .activation = nn::relu, .name = "conv1"}),
      nn::MaxPool2D({.name = "pool1"}), nn::Flatten("flatten"),
      nn::Dense({.units = 128, .activation = nn::relu, .name = "fc1"}), logits_layer());
  model.set_name_in_path(false);
  return model;
}

}  // namespace mnist_cnn
