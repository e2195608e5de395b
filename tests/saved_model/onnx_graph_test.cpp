#include "proto_support.hpp"

#include <distribute/nn/convolution.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/normalization.hpp>
#include <distribute/nn/pooling.hpp>
#include <distribute/nn/reshaping.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/saved_model/detail/onnx_graph.hpp>
#include <distribute/saved_model/saved_model.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>

using namespace distribute;
using namespace distribute::saved_model;

namespace {

saved_model_internal::OnnxGraph lower(const InferenceFunction& function,
                                      std::vector<int64_t> shape) {
  const InferenceGraph graph = trace_inference(function, {.input = {std::move(shape)}});
  return saved_model_internal::onnx_graph(graph);
}

std::vector<std::string> operations(const saved_model_internal::OnnxGraph& graph) {
  std::vector<std::string> ops;
  for (const std::string& node : graph.nodes) ops.emplace_back(proto::one(node, 4));
  return ops;
}

/// A list attribute of the node with this operation.
std::vector<int64_t> list(const saved_model_internal::OnnxGraph& graph, const std::string& op,
                          std::string_view name) {
  for (const std::string& node : graph.nodes)
    if (proto::one(node, 4) == op)
      for (const std::string_view attribute : proto::all(node, 5))
        if (proto::one(attribute, 1) == name) return proto::numbers(attribute, 8);
  FAIL("no " << name << " of " << op);
  return {};
}

using Ops = std::vector<std::string>;

}  // namespace

TEST_CASE("images are transposed once, up to what needs them as they were",
          "[saved_model][onnx_graph]") {
  nn::Sequential net(
      nn::Conv2D(
          {.filters = 4, .kernel_size = 3, .padding = Padding::Same, .activation = nn::relu}),
      nn::BatchNormalization(), nn::MaxPool2D(), nn::Flatten(), nn::Dense({.units = 2}));
  const auto graph = lower([&](const Tensor& x) { return net(x); }, {-1, 8, 8, 1});
  CHECK(operations(graph) == Ops{"Transpose", "Conv", "Relu", "BatchNormalization", "MaxPool",
                                 "Transpose", "Reshape", "Gemm", "Identity"});
}

TEST_CASE("a global mean needs no second transpose", "[saved_model][onnx_graph]") {
  nn::Sequential net(nn::Conv2D({.filters = 4, .kernel_size = 3}), nn::GlobalAveragePooling2D(),
                     nn::Dense({.units = 2, .use_bias = false}));
  const auto graph = lower([&](const Tensor& x) { return net(x); }, {-1, 8, 8, 1});
  CHECK(operations(graph) == Ops{"Transpose", "Conv", "ReduceMean", "MatMul", "Identity"});
  CHECK(list(graph, "ReduceMean", "axes") == std::vector<int64_t>{2, 3});
}

TEST_CASE("kernels are transposed in the file", "[saved_model][onnx_graph]") {
  nn::Sequential net(nn::Conv2D({.filters = 2, .kernel_size = {1, 2}, .name = "c"}));
  net(zeros({1, 4, 4, 3}));
  std::vector<float> values(12);
  for (size_t i = 0; i < values.size(); ++i) values[i] = float(i);
  net.variables()[0].assign(Tensor({1, 2, 3, 2}, values));  // [height, width, in, out]
  const auto graph = lower([&](const Tensor& x) { return net(x); }, {-1, 4, 4, 3});
  const auto found =
      std::find_if(graph.initializers.begin(), graph.initializers.end(),
                   [](const auto& one) { return one.first == "sequential/c/kernel/oihw"; });
  REQUIRE(found != graph.initializers.end());
  CHECK(found->second.shape() == Shape{2, 3, 1, 2});
  CHECK(found->second.to_vector() == std::vector<float>{0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11});
}

TEST_CASE("TensorFlow's SAME becomes pads, the odd one at the end", "[saved_model][onnx_graph]") {
  nn::Sequential net(nn::Conv2D(
      {.filters = 1, .kernel_size = 3, .strides = 2, .padding = Padding::Same, .name = "c"}));
  const auto graph = lower([&](const Tensor& x) { return net(x); }, {-1, 8, 7, 1});
  CHECK(list(graph, "Conv", "pads") == std::vector<int64_t>{0, 1, 1, 1});
}

TEST_CASE("grouped and depthwise convolutions say their groups", "[saved_model][onnx_graph]") {
  nn::Sequential net(nn::DepthwiseConv2D({.kernel_size = 3, .depth_multiplier = 2}));
  const auto graph = lower([&](const Tensor& x) { return net(x); }, {-1, 5, 5, 3});
  bool found = false;
  for (const std::string_view attribute : proto::all(graph.nodes[1], 5))
    if (proto::one(attribute, 1) == "group") found = proto::number(attribute, 3) == 3;
  CHECK(found);
}

TEST_CASE("elementwise operations and paddings stay in the layout of the convolution",
          "[saved_model][onnx_graph]") {
  nn::Sequential net(nn::Conv2D({.filters = 2, .kernel_size = 3, .name = "c"}));
  const auto graph = lower(
      [&](const Tensor& x) {
        const Tensor y = net(x);
        return pad(y * Tensor{2.0f, 3.0f} + y, {{0, 0}, {1, 2}, {3, 4}, {5, 6}});
      },
      {-1, 5, 5, 1});
  CHECK(operations(graph) ==
        Ops{"Transpose", "Conv", "Mul", "Add", "Pad", "Transpose", "Identity"});
  const auto pads = std::find_if(graph.initializers.begin(), graph.initializers.end(),
                                 [](const auto& one) { return one.first.ends_with("/pads"); });
  REQUIRE(pads != graph.initializers.end());
  const auto values = pads->second.data<int64_t>();
  CHECK(std::vector<int64_t>(values.begin(), values.end()) ==
        std::vector<int64_t>{0, 5, 1, 3, 0, 6, 2, 4});
}

TEST_CASE("inputs and outputs have a batch of any size", "[saved_model][onnx_graph]") {
  const auto graph = lower([](const Tensor& x) { return reshape(x, {-1, 2, 3}); }, {-1, 6});
  const auto tensor = proto::one(proto::one(graph.outputs.at(0), 2), 1);
  CHECK(proto::number(tensor, 1) == 1);
  const auto dims = proto::all(proto::one(tensor, 2), 1);
  REQUIRE(dims.size() == 3);
  CHECK(proto::one(dims[0], 2) == "batch");
  CHECK(proto::number(dims[2], 1) == 3);
}
