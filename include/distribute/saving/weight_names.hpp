#pragma once
/// How other programs name and arrange the weights of layers, such as PyTorch.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace distribute::saving {

/// How a tensor of a file and the value of a variable become one another.
struct WeightLayout {
  /// Returns the value of a variable of shape `wanted`; an empty tensor if it does not fit.
  std::function<Tensor(const Tensor& in_file, const Shape& wanted)> read;
  std::function<Tensor(const Tensor& value)> write;
};

namespace layouts {

/// Gives the layout of weights whose axes have the same order in both libraries.
WeightLayout same();
/// All axes are one in the file: [heads, size] is [heads * size].
WeightLayout flat();
/// A matrix product: [inputs..., outputs...], of which the first `input_axes` are inputs, is
/// [outputs, inputs] in the file.
WeightLayout linear(int input_axes = 1);
/// A matrix product whose matrix is [inputs, outputs] in the file, too, each of one axis.
WeightLayout matrix(int input_axes = 1);
/// A convolution: [size..., inputs, outputs] is [outputs, inputs, size...].
WeightLayout convolution();
/// A convolution of each channel by itself: [height, width, channels, multiplier] is [channels *
/// multiplier, 1, height, width].
WeightLayout depthwise();
/// A linear layer behind the Flatten of images [height, width, channels], which the other program
/// has as [channels, height, width].
WeightLayout linear_behind_flatten(int64_t height, int64_t width, int64_t channels);
/// `inner` with the first two of `count` equal pieces of the file's first axis exchanged, as the
/// gates of GRUs.
WeightLayout first_two_exchanged(WeightLayout inner, int64_t count);

}  // namespace layouts

/// A variable is a tensor of the file, or a part of one that several variables share, or is made of
/// several tensors.
struct WeightRule {
  std::string layer;               // its class_name(), "conv2d", or its name in the file, "fc1"
  std::string weight;              // its weight here: "kernel", or a part's: "query/kernel"
  std::vector<std::string> names;  // what follows the layer's name and a dot in the file
  WeightLayout layout = layouts::same();
  bool stacked = false;  // several names are the rows of the variable; else their sum is its value
  int part = 0, parts = 1, axis = 0;  // equal parts of the file's tensor along an axis
};

/// Names of weights. A layer is called by the names that its modules were added with, joined by
/// dots; layers of Sequential and ModuleList by their index. A weight without a rule has its own
/// name and axes.
struct NameRules {
  /// The first rule for a weight whose names the file has is used; files are written by the first
  /// one. To add a rule, put it in front.
  std::vector<WeightRule> weights;
  /// Changes the whole name: "norm.weight" to "model.norm.weight"; empty: it stays.
  std::function<std::string(const std::string& name)> rename = {};
  /// Names in the file that end so are not names of weights.
  std::vector<std::string> ignored = {};
};

/// Names and axes of PyTorch's modules: convolutions, linear, recurrent and normalization layers,
/// embeddings, and attention with its three products joined (in_proj_weight) or apart (q_proj).
///
///   rules.weights.insert(rules.weights.begin(), {"fc1", "kernel", {"weight"},
///                        layouts::linear_behind_flatten(7, 7, 64)});
///
/// Source  torch.nn
NameRules torch_names();

/// Names of applications::ResNet in torchvision.models.resnet50 and its kin ("layer1.0.conv1"),
/// which has bn_epsilon 1e-5.
NameRules torchvision_resnet_names();

}  // namespace distribute::saving
