#include <distribute/nn/dense.hpp>
#include <distribute/nn/dropout.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/reshaping.hpp>
#include <distribute/ops/activation.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/ops/slicing.hpp>
#include <distribute/saved_model/saved_model.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>

using namespace distribute;
using namespace distribute::saved_model;

namespace {

InferenceGraph trace(const InferenceFunction& function, std::vector<int64_t> shape = {-1, 4}) {
  return trace_inference(function, {.input = {std::move(shape)}});
}

}  // namespace

TEST_CASE("a traced model is a graph for batches of any size", "[saved_model][inference_graph]") {
  nn::Sequential net(nn::Flatten(), nn::Dense({.units = 3, .activation = nn::relu, .name = "fc"}),
                     nn::Dropout(0.5f));
  net(zeros({1, 2, 2}));
  const InferenceGraph graph =
      trace_inference([&](const Tensor& x) { return net(x); },
                      {.input = {{-1, 2, 2}}, .input_name = "image", .output_name = "scores"});
  std::vector<std::string> names;
  for (const InferenceNode& node : graph.nodes) names.push_back(node.name + " " + node.op);
  CHECK(names == std::vector<std::string>{"image Placeholder", "Reshape Reshape",
                                          "sequential/fc/kernel Const", "sequential/fc/bias Const",
                                          "sequential/fc/MatMul MatMul", "sequential/fc/Relu Relu",
                                          "scores Identity"});
  CHECK(graph.nodes[0].shape == std::vector<int64_t>{-1, 2, 2});
  CHECK(std::get<std::vector<int64_t>>(graph.nodes[1].attributes.at("shape")) ==
        std::vector<int64_t>{-1, 4});
  CHECK(graph.nodes[size_t(graph.output)].shape == std::vector<int64_t>{-1, 3});
  CHECK(graph.nodes[2].variable.name() == "sequential/fc/kernel");
  CHECK(graph.nodes[2].value.to_vector() == net.variables()[0].value().to_vector());
  CHECK(graph.constant_bytes() == (4 * 3 + 3) * 4);
}

TEST_CASE("a value used twice is one node", "[saved_model][inference_graph]") {
  const auto graph = trace([](const Tensor& x) {
    const Tensor y = x * 2.0f;
    return y + y;
  });
  CHECK(graph.nodes.size() == 5);  // input, 2, product, sum, output
  CHECK(graph.nodes[3].inputs[0] == graph.nodes[3].inputs[1]);
}

TEST_CASE("one tensor alone is not concatenated, which TensorFlow refuses",
          "[saved_model][inference_graph]") {
  const auto nodes_of = [](size_t count) {
    const auto graph = trace(
        [&](const Tensor& x) { return concat(std::vector<Tensor>(count, x + 1.0f), 1) * 2.0f; });
    std::string ops;
    for (const InferenceNode& node : graph.nodes) ops += node.op + " ";
    return ops;
  };
  CHECK(nodes_of(1) == "Placeholder Const AddV2 Const Mul Identity ");
  CHECK(nodes_of(2) == "Placeholder Const AddV2 ConcatV2 Const Mul Identity ");
}

TEST_CASE("what does not lead to the result is left out", "[saved_model][inference_graph]") {
  const auto graph = trace([](const Tensor& x) {
    reduce_sum(x * 3.0f);
    return x + 1.0f;
  });
  CHECK(graph.nodes.size() == 4);
}

TEST_CASE("numbers that depend on the input cannot become constants",
          "[saved_model][inference_graph]") {
  check_throws<InvalidArgumentError>(
      [] { trace([](const Tensor& x) { return x * reduce_sum(x).item<float>(); }); },
      "differs between two passes");
  check_throws<InvalidArgumentError>(
      [] { trace([](const Tensor& x) { return x.shape()[0] == 2 ? x + 1.0f : x * 2.0f; }); },
      "operation add or multiply");
}

TEST_CASE("operations without a counterpart are named", "[saved_model][inference_graph]") {
  check_throws<UnimplementedError>(
      [] { trace([](const Tensor& x) { return clip_by_norm(x, 2.0f) + 1.0f; }); },
      "has no counterpart in the graphs of TensorFlow; leave it out");
  check_throws<UnimplementedError>(
      [] { trace([](const Tensor& x) {
             return slice(x, {1, 0}, {-1, 4});
           }); }, "'slice'");
}

TEST_CASE("inputs need a batch and sizes", "[saved_model][inference_graph]") {
  const auto same = [](const Tensor& x) { return x; };
  CHECK_THROWS_SAYING(trace(same, {}), InvalidArgumentError, "must be [batch, ...]");
  CHECK_THROWS_SAYING(trace(same, {-1, -1}), InvalidArgumentError, "must be [batch, ...]");
  CHECK_THROWS_SAYING(
      trace_inference(same, {.input = {{-1, 2}}, .input_name = "a", .output_name = "a"}),
      InvalidArgumentError, "names that differ");
  CHECK_THROWS_SAYING(trace_inference(same, {.input = {{-1, 2}}, .input_name = "a b"}),
                      InvalidArgumentError, "'a b'");
  CHECK(trace(same).nodes.size() == 2);
}

TEST_CASE("a module's input is that of its first call", "[saved_model][inference_graph]") {
  nn::Sequential net(nn::Dense({.units = 2}));
  CHECK_THROWS_SAYING(inference_input(net, {}), FailedPreconditionError, "has not been called yet");
  net(zeros({7, 5}));
  CHECK(inference_input(net, {}) == data::TensorSpec{{-1, 5}});
  CHECK(inference_input(net, data::TensorSpec{{-1, 6}}) == data::TensorSpec{{-1, 6}});
}
