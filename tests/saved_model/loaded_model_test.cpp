#include "export_cases.hpp"

#include <distribute/saved_model/loaded_model.hpp>
#include <distribute/saved_model/saved_model.hpp>

#include <tests/saving/keras_models.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/check_close.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/file_text.hpp>
#include <tests/support/shared_data.hpp>
#include <tests/support/source_dir.hpp>
#include <tests/support/temporary_directory.hpp>

#include <nlohmann/json.hpp>

using namespace distribute;

namespace {

const std::string kFiles = distribute::testing::source_dir() + "/tests/saved_model/files/";

void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

/// What the case gives here, in float32.
Tensor wanted(const export_cases::Case& one) {
  if (!one.module) return one.function(one.input);
  if (!one.same_in_float32) one.module->set_dtype_policy(nn::Policy("float32"));
  return (*one.module)(one.input);
}

void save(const export_cases::Case& one, const std::string& path, saved_model::Weights weights) {
  if (one.module) return saved_model::save(*one.module, path, {.weights = weights});
  data::TensorSpec spec{{one.input.shape().begin(), one.input.shape().end()}, one.input.dtype()};
  spec.shape[0] = -1;
  saved_model::save(one.function, path, {.input = spec, .weights = weights});
}

}  // namespace

TEST_CASE("load: every kind of layer and operation that is exported runs again",
          "[saved_model][loading]") {
  const TemporaryDirectory directory;
  for (const export_cases::Case& one : export_cases::all_cases()) {
    INFO(one.name);
    const std::string path = directory / "model";
    const Tensor y = wanted(one);
    if (one.module && one.module->count_params() > 2'000'000) continue;  // of the same layers
    save(one, path, one.module ? saved_model::Weights::Variables : saved_model::Weights::Constants);
    const auto model = saved_model::load(path);
    const Tensor again = model.signature()(one.input);
    CHECK(again.shape() == y.shape());
    const std::vector<float> numbers = y.to_vector();
    check_close(again, {numbers.begin(), numbers.end()}, 2e-4);
    std::filesystem::remove_all(path);
  }
}

TEST_CASE("load: signatures have named inputs and outputs", "[saved_model][loading]") {
  const TemporaryDirectory directory;
  nn::Sequential net(nn::Dense({.units = 2}));
  const Tensor x(Shape{1, 3}, std::vector<float>{1, 2, 3});
  const Tensor y = net(x);
  saved_model::save(net, directory / "m", {.input_name = "a", .output_name = "b"});
  const auto model = saved_model::load(directory / "m");
  const auto& serve = model.signature("serving_default");
  CHECK(serve.inputs().at("a") == data::TensorSpec{{-1, 3}});
  CHECK(serve.outputs() == std::vector<std::string>{"b"});
  CHECK(serve(saved_model::NamedTensors{{"a", x}}).at("b").to_vector() == y.to_vector());
  CHECK_THROWS_SAYING(model.signature("other"), NotFoundError, "there are: serving_default");
  CHECK_THROWS_SAYING(serve(saved_model::NamedTensors{{"c", x}}), InvalidArgumentError,
                      "has no input 'c'; its inputs are: a");
  CHECK_THROWS_SAYING(serve(saved_model::NamedTensors{}), InvalidArgumentError, "needs input 'a'");
  CHECK_THROWS_SAYING(serve(zeros({1, 4})), InvalidArgumentError, "given was [1, 4] float32");
  CHECK_THROWS_SAYING(serve(zeros({1, 3}, DType::Int64)), InvalidArgumentError, "int64");
  CHECK_THROWS_SAYING(saved_model::load(directory / "m", {"serve", "gpu"}), NotFoundError,
                      "there is no graph with the tags {gpu, serve}; there are: {serve}");
  CHECK_THROWS_SAYING(saved_model::load(directory / "none"), NotFoundError, "saved_model.pb");
}

TEST_CASE("load: a text model of TensorFlow with loops, functions and variables",
          "[saved_model][loading][tensorflow]") {
  const auto [x, y] = keras_models::expected("text", true);
  const auto model = saved_model::load(kFiles + "text");
  check_close(model.signature()(cast(x, DType::Int32)), y, 1e-5);
}

TEST_CASE("load_frozen_graph: graphs of TensorFlow give what Keras does",
          "[saved_model][loading][tensorflow]") {
  for (const char* name : {"images", "attention"}) {
    INFO(name);
    const bool integers = std::string(name) == "attention";
    const auto [x, y] = keras_models::expected(name, integers);
    const auto graph = saved_model::load_frozen_graph(kFiles + name + "_frozen.pb");
    CHECK(graph.inputs().size() == 1);
    check_close(graph(integers ? cast(x, DType::Int32) : x), y, 1e-5);
  }
  const auto part = saved_model::load_frozen_graph(kFiles + "images_frozen.pb",
                                                   {.inputs = {"x:0"}, .outputs = {"Identity:0"}});
  const auto [x, y] = keras_models::expected("images");
  check_close(part(saved_model::NamedTensors{{"x:0", x}}).at("Identity:0"), y, 1e-5);
  CHECK_THROWS_SAYING(
      saved_model::load_frozen_graph(kFiles + "images_frozen.pb", {.outputs = {"no"}}),
      NotFoundError, "there is no node 'no'");
}

TEST_CASE("load: operations that are not there are named in one error", "[saved_model][loading]") {
  const TemporaryDirectory directory;
  std::string graph = file_text(kFiles + "attention_frozen.pb");
  for (const auto& [op, other] :
       {std::pair("Softmax", "Xoftmax"), std::pair("GatherV2", "XatherV2")})
    for (size_t at = 0; (at = graph.find(op, at)) != std::string::npos; ++at)
      graph.replace(at, std::string(op).size(), other);
  write(directory / "g.pb", graph);
  CHECK_THROWS_SAYING(saved_model::load_frozen_graph(directory / "g.pb"), UnimplementedError,
                      "not run here: XatherV2, Xoftmax");
}

TEST_CASE("load: a SavedModel that TensorFlow wrote", "[saved_model][loading][tensorflow]") {
  const auto files = shared_data("tf_files");
  if (!files) SKIP("tf_files is absent");
  const auto model = saved_model::load(*files + "/saved_model");
  std::ifstream stream(*files + "/saved_model.json");
  const auto listing = nlohmann::json::parse(stream);
  std::vector<float> x;
  for (const auto& row : listing.at("example_input"))
    for (const auto& number : row) x.push_back(number.get<float>());
  const auto result = model.signature()(saved_model::NamedTensors{{"x", Tensor({3, 4}, x)}});
  std::vector<double> scores;
  for (const auto& row : listing.at("example_output").at("scores"))
    for (const auto& number : row) scores.push_back(number.get<double>());
  check_close(result.at("scores"), scores, 1e-5);
  check_close(result.at("class"),
              listing.at("example_output").at("class").get<std::vector<double>>());
}

TEST_CASE("load: damaged files end in one error", "[saved_model][loading]") {
  const TemporaryDirectory directory;
  const std::string whole = file_text(kFiles + "images_frozen.pb");
  std::mt19937 random(1);
  for (int round = 0; round < 100; ++round) {
    std::string bytes = whole;
    if (round % 3 == 0) bytes.resize(random() % bytes.size());
    for (int i = 0; i < 3 && !bytes.empty(); ++i) bytes[random() % bytes.size()] = char(random());
    write(directory / "g.pb", bytes);
    try {
      saved_model::load_frozen_graph(directory / "g.pb")(zeros({1, 6, 6, 3}));
    } catch (const Error&) {
    }
  }
  std::filesystem::copy(kFiles + "text", directory / "text",
                        std::filesystem::copy_options::recursive);
  std::filesystem::resize_file(directory / "text/variables/variables.data-00000-of-00001", 100);
  CHECK_THROWS_AS(saved_model::load(directory / "text"), DataLossError);
  write(directory / "text/saved_model.pb",
        file_text(kFiles + "text/saved_model.pb").substr(0, 999));
  CHECK_THROWS_AS(saved_model::load(directory / "text"), Error);
}
