#include "proto_support.hpp"

#include <distribute/nn/convolution.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/pooling.hpp>
#include <distribute/ops/convolution.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/saved_model/saved_model.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>

using namespace distribute;
using namespace distribute::saved_model;

namespace {

InferenceGraph image_graph(const InferenceFunction& function) {
  return trace_inference(function, {.input = {{-1, 6, 6, 2}}});
}

}  // namespace

TEST_CASE("a frozen graph has its weights as constants", "[saved_model][graph_def]") {
  nn::Sequential net(nn::Dense({.units = 2, .name = "fc"}));
  net(zeros({1, 3}));
  net.variables()[0].assign(Tensor({3, 2}, std::vector<float>{1, 2, 3, 4, 5, 6}));
  const GraphDef def = encode_graph_def(
      trace_inference([&](const Tensor& x) { return net(x); }, {.input = {{-1, 3}}}));
  CHECK(def.saved.empty());
  const auto kernel = proto::node_called(def.bytes, "sequential/fc/kernel");
  CHECK(kernel.op == "Const");
  const auto tensor = proto::one(kernel.attribute("value"), 8);
  CHECK(proto::number(tensor, 1) == 1);  // DT_FLOAT
  const float values[] = {1, 2, 3, 4, 5, 6};
  CHECK(proto::one(tensor, 4) ==
        std::string_view(reinterpret_cast<const char*>(values), sizeof values));
  const auto matmul = proto::node_called(def.bytes, "sequential/fc/MatMul");
  CHECK(matmul.inputs == std::vector<std::string>{"inputs", "sequential/fc/kernel"});
  CHECK(matmul.attribute("transpose_a").empty());  // a default
  CHECK(proto::node_called(def.bytes, "sequential/fc/BiasAdd").inputs ==
        std::vector<std::string>{"sequential/fc/MatMul", "sequential/fc/bias"});
  CHECK(proto::node_called(def.bytes, "outputs").inputs ==
        std::vector<std::string>{"sequential/fc/BiasAdd"});
  const auto shape = proto::one(proto::node_called(def.bytes, "inputs").attribute("shape"), 7);
  CHECK(proto::number(proto::all(shape, 2)[0], 1) == -1);
  CHECK(proto::number(proto::all(shape, 2)[1], 1) == 3);
}

TEST_CASE("a constant node has exactly these bytes", "[saved_model][graph_def]") {
  const GraphDef def = encode_graph_def(
      trace_inference([](const Tensor& x) { return x + 2.0f; }, {.input = {{-1, 1}}}));
  using namespace std::string_literals;
  const std::string tensor = "\x08\x01\x12\x00\x22\x04\x00\x00\x00\x40"s;
  const std::string value = "\x42"s + char(tensor.size()) + tensor;
  const std::string node =
      "\x0a\x05"s
      "Const"
      "\x12\x05"s
      "Const"s +
      "\x2a\x0b\x0a\x05"s
      "dtype"
      "\x12\x02\x30\x01"s +
      "\x2a"s + char(9 + value.size()) +
      "\x0a\x05"s
      "value"
      "\x12"s +
      char(value.size()) + value;
  CHECK(proto::node_called(def.bytes, "Const").message == node);
}

TEST_CASE("explicit paddings become nodes of their own", "[saved_model][graph_def]") {
  nn::Sequential net(nn::Conv2D({.filters = 3,
                                 .kernel_size = 3,
                                 .padding = Padding::Explicit,
                                 .explicit_paddings = {1, 1, 1, 1},
                                 .name = "c"}));
  const GraphDef def = encode_graph_def(image_graph([&](const Tensor& x) {
    return nn::max_pool2d(
        net(x), {.ksize = {3, 3}, .padding = Padding::Explicit, .explicit_paddings = {1, 0, 0, 0}});
  }));
  const auto conv = proto::node_called(def.bytes, "sequential/c/Conv2D");
  CHECK(conv.inputs == std::vector<std::string>{"sequential/c/Conv2D/Pad", "sequential/c/kernel"});
  CHECK(proto::one(conv.attribute("padding"), 2) == "VALID");
  CHECK(conv.attribute("explicit_paddings").empty());
  CHECK(proto::numbers(proto::one(conv.attribute("strides"), 1), 3) ==
        std::vector<int64_t>{1, 1, 1, 1});
  // What is around a maximum is less than everything.
  const auto value = proto::node_called(def.bytes, "MaxPool/Pad/value");
  const float least = std::numeric_limits<float>::lowest();
  CHECK(proto::one(proto::one(value.attribute("value"), 8), 4) ==
        std::string_view(reinterpret_cast<const char*>(&least), 4));
}

TEST_CASE("inference is said where TensorFlow's default is training", "[saved_model][graph_def]") {
  const GraphDef def = encode_graph_def(image_graph([](const Tensor& x) {
    return reduce_mean(x, {1, 2});
  }));
  CHECK(proto::node_called(def.bytes, "Mean").inputs ==
        std::vector<std::string>{"inputs", "Mean/axes"});
  const auto versions = proto::one(def.bytes, 4);
  CHECK(proto::number(versions, 1) == 440);
  CHECK(proto::number(versions, 2) == 12);
}

TEST_CASE("with variables the graph reads, saves and restores them", "[saved_model][graph_def]") {
  nn::Sequential net(nn::Dense({.units = 2, .name = "fc"}));
  const GraphDef def = encode_graph_def(
      trace_inference([&](const Tensor& x) { return net(x); }, {.input = {{-1, 3}}}),
      Weights::Variables);
  REQUIRE(def.saved.size() == 2);
  CHECK(def.saved[0].name == "sequential/fc/bias");
  CHECK(def.saved[1].name == "sequential/fc/kernel");
  CHECK(proto::node_called(def.bytes, "sequential/fc/kernel").op == "VarHandleOp");
  CHECK(proto::node_called(def.bytes, "sequential/fc/MatMul").inputs[1] ==
        "sequential/fc/kernel/Read/ReadVariableOp");
  const auto restore = proto::node_called(def.bytes, kSaverRestore);
  CHECK(restore.op == "NoOp");
  CHECK(restore.inputs == std::vector<std::string>{"^save/Assign", "^save/Assign_1"});
  const auto names = proto::node_called(def.bytes, "save/RestoreV2/tensor_names");
  const auto texts = proto::all(proto::one(names.attribute("value"), 8), 8);
  // The order in which the assignments take them.
  CHECK(proto::node_called(def.bytes, "save/Assign").inputs ==
        std::vector<std::string>{std::string(texts[0]), "save/RestoreV2"});
  CHECK(proto::node_called(def.bytes, "save/Assign_1").inputs ==
        std::vector<std::string>{std::string(texts[1]), "save/RestoreV2:1"});
}

TEST_CASE("constants beyond the size of a message are refused, with the cure",
          "[saved_model][graph_def]") {
  InferenceGraph graph =
      trace_inference([](const Tensor& x) { return x + 1.0f; }, {.input = {{-1, 1}}});
  const Tensor large = Tensor::empty({1 << 20, 64}, DType::Float32);  // 256 MiB, never touched
  for (int i = 0; i < 8; ++i)
    graph.nodes.push_back({str_cat("large_", i), "Const", {}, {}, DType::Float32, {}, large, {}});
  CHECK_THROWS_SAYING(encode_graph_def(graph), InvalidArgumentError, "Weights::Variables");
}
