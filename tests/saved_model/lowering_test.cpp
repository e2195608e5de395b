#include <distribute/nn/convolution.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/normalization.hpp>
#include <distribute/ops/activation.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/slicing.hpp>
#include <distribute/saved_model/detail/lowering.hpp>
#include <distribute/saved_model/saved_model.hpp>

#include <tests/support/catch.hpp>

using namespace distribute;
using namespace distribute::saved_model;

namespace {

std::vector<std::string> operations(const InferenceGraph& graph) {
  std::vector<std::string> ops;
  for (const InferenceNode& node : graph.nodes)
    if (node.op != "Const") ops.push_back(node.op);
  return ops;
}

using Ops = std::vector<std::string>;

}  // namespace

TEST_CASE("biases and paddings stay with the convolution, activations follow",
          "[saved_model][lowering]") {
  nn::Sequential net(nn::Conv2D({.filters = 2,
                                 .kernel_size = 3,
                                 .padding = Padding::Explicit,
                                 .activation = nn::relu,
                                 .explicit_paddings = {1, 2, 3, 0}}));
  const auto graph =
      trace_inference([&](const Tensor& x) { return net(x); }, {.input = {{-1, 6, 6, 1}}});
  CHECK(operations(graph) == Ops{"Placeholder", "Conv2D", "Relu", "Identity"});
  const InferenceNode& node = graph.nodes[size_t(graph.nodes[size_t(graph.output) - 1].inputs[0])];
  CHECK(node.name == "sequential/conv2d/Conv2D");
  CHECK(node.inputs.size() == 3);
  CHECK(std::get<std::string>(node.attributes.at("padding")) == "EXPLICIT");
  CHECK(std::get<std::vector<int64_t>>(node.attributes.at("explicit_paddings")) ==
        std::vector<int64_t>{0, 0, 1, 2, 3, 0, 0, 0});
}

TEST_CASE("batch normalization of images is one node, of other ranks a formula",
          "[saved_model][lowering]") {
  nn::Sequential images{nn::BatchNormalization()}, rows{nn::BatchNormalization()};
  const auto of_images =
      trace_inference([&](const Tensor& x) { return images(x); }, {.input = {{-1, 3, 3, 2}}});
  CHECK(operations(of_images) == Ops{"Placeholder", "FusedBatchNormV3", "Identity"});
  const auto of_rows =
      trace_inference([&](const Tensor& x) { return rows(x); }, {.input = {{-1, 2}}});
  CHECK(operations(of_rows) == Ops{"Placeholder", "AddV2", "Rsqrt", "Mul", "Mul", "Neg", "AddV2",
                                   "Mul", "AddV2", "Identity"});
}

TEST_CASE("mixed precision leaves no trace in a graph", "[saved_model][lowering]") {
  nn::Sequential net(nn::Dense({.units = 2}));
  net.set_dtype_policy(nn::Policy("mixed_bfloat16"));
  const auto graph = trace_inference([&](const Tensor& x) { return net(x); }, {.input = {{-1, 3}}});
  CHECK(operations(graph) == Ops{"Placeholder", "MatMul", "Identity"});
  for (const InferenceNode& node : graph.nodes) CHECK(node.dtype == DType::Float32);
  // The weights are those of the variables, not rounded.
  CHECK(graph.nodes[1].value.to_vector() == net.variables()[0].value().to_vector());
}

TEST_CASE("slices that keep an axis whole leave its end open", "[saved_model][lowering]") {
  const auto graph = trace_inference(
      [](const Tensor& x) {
        return strided_slice(x, {{}, {3, 0, -2}});
      },
      {.input = {{-1, 4}}});
  const InferenceNode& node = graph.nodes[1];
  CHECK(node.op == "StridedSlice");
  constexpr int64_t kOpen = 2147483647;
  CHECK(std::get<std::vector<int64_t>>(node.attributes.at("begin")) == std::vector<int64_t>{0, 3});
  CHECK(std::get<std::vector<int64_t>>(node.attributes.at("end")) ==
        std::vector<int64_t>{kOpen, 0});
  CHECK(std::get<std::vector<int64_t>>(node.attributes.at("strides")) ==
        std::vector<int64_t>{1, -2});
}

TEST_CASE("casts between integers and floats stay", "[saved_model][lowering]") {
  const auto graph =
      trace_inference([](const Tensor& x) { return nn::relu(cast(x, DType::BFloat16)); },
                      {.input = {{-1, 2}, DType::UInt8}});
  CHECK(operations(graph) == Ops{"Placeholder", "Cast", "Relu", "Identity"});
  CHECK(graph.nodes[0].dtype == DType::UInt8);
  CHECK(graph.nodes[1].dtype == DType::Float32);
}
