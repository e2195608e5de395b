// docs/export.md shows lines of this file; tools/check_programs.py compares them.
#include <distribute/saved_model/saved_model.hpp>

#include <distribute/nn/dense.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/ops/arrangement.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/saved_model/detail/onnx_graph.hpp>
#include <distribute/saved_model/loaded_model.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_close.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/temporary_directory.hpp>

#include <filesystem>

using namespace distribute;

TEST_CASE("functions of several inputs and outputs are saved under their keys",
          "[saved_model][export]") {
  const TemporaryDirectory own;
  const std::string file = own / "weighted.onnx";
  nn::Sequential model(nn::Dense({.units = 3}));
  const Tensor x({2, 4}, std::vector<float>{1, 2, 3, 4, -1, 0, 1, 2});
  const Tensor w({2, 3}, std::vector<float>{1, 2, 3, -1, 0.5f, 2});
  model(x);
  const auto weighted = [&](const saved_model::NamedTensors& inputs) {
    const Tensor scores = model(inputs.at("features")) * inputs.at("weights");
    return saved_model::NamedTensors{{"scores", scores}, {"best", argmax(scores, 1)}};
  };
  saved_model::export_onnx(weighted, file,
                           {.inputs = {{"features", {{-1, 4}}}, {"weights", {{-1, 3}}}}});
  CHECK(std::filesystem::file_size(file) > 100);

  const saved_model::NamedSpecs specs = {
      {"features", {{-1, 4}}}, {"weights", {{-1, 3}}}, {"unused", {{-1}, DType::Int32}}};
  const auto graph = saved_model::trace_inference(weighted, {.inputs = specs});
  CHECK(graph.inputs.size() == 3);
  CHECK(graph.outputs.size() == 2);
  const auto onnx = saved_model_internal::onnx_graph(graph);
  CHECK(onnx.inputs.size() == 3);
  CHECK(onnx.outputs.size() == 2);

  saved_model::save(weighted, own / "saved", {.inputs = specs});
  const auto loaded = saved_model::load(own / "saved");
  const auto got = loaded.signature("serving_default")(
      {{"features", x}, {"weights", w}, {"unused", zeros({2}, DType::Int32)}});
  const auto wanted = weighted({{"features", x}, {"weights", w}});
  const auto scores = wanted.at("scores").to_vector();
  check_close(got.at("scores"), {scores.begin(), scores.end()}, 1e-6);
  CHECK(got.at("best").to_vector() == wanted.at("best").to_vector());
}

TEST_CASE("inputs that do not fit are refused before anything is written",
          "[saved_model][export]") {
  const TemporaryDirectory own;
  const auto sum = [](const saved_model::NamedTensors& inputs) {
    return saved_model::NamedTensors{{"y", inputs.at("a") + inputs.at("b")}};
  };
  const auto refuse = [&](const saved_model::NamedSpecs& inputs, const std::string& part) {
    CHECK_THROWS_SAYING(saved_model::export_onnx(sum, own / "x.onnx", {.inputs = inputs}),
                        InvalidArgumentError, part);
    CHECK_THROWS_SAYING(saved_model::save(sum, own / "x", {.inputs = inputs}), InvalidArgumentError,
                        part);
  };
  refuse({}, "give the option `inputs`");
  refuse({{"a", {{-1, 2}}}, {"b", {{-1, -1}}}}, "of 'b'");
  refuse({{"a", {{-1, 2}}}, {"b", {{-1, 2}}}, {"y", {{-1, 2}}}}, "got 'y' and 'y'");
  refuse({{"a", {{-1, 2}}}, {"b", {{-1, 2}}}, {"c d", {{-1, 2}}}}, "'c d' cannot be the name");
  CHECK(std::filesystem::is_empty(own.path()));
}
