#include "proto_support.hpp"

#include <distribute/checkpoint/bundle.hpp>
#include <distribute/checkpoint/named_weights.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/normalization.hpp>
#include <distribute/ops/activation.hpp>
#include <distribute/ops/arrangement.hpp>
#include <distribute/saved_model/loaded_model.hpp>
#include <distribute/saved_model/saved_model.hpp>
#include <distribute/train/model.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/file_size_limit.hpp>
#include <tests/support/file_text.hpp>
#include <tests/support/temporary_directory.hpp>
#include <tests/support/thread_workers.hpp>

using namespace distribute;
using namespace distribute::saved_model;
namespace fs = std::filesystem;

namespace {

nn::Sequential small_model() {
  nn::Sequential net(nn::Dense({.units = 3, .activation = nn::relu, .name = "hidden"}),
                     nn::BatchNormalization({.name = "norm"}),
                     nn::Dense({.units = 2, .name = "out"}));
  net(zeros({1, 4}));
  return net;
}

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace

TEST_CASE("a SavedModel has one graph with a serving signature", "[saved_model]") {
  const TemporaryDirectory directory;
  nn::Sequential net = small_model();
  save(net, directory / "model", {.input_name = "x", .output_name = "logits"});
  CHECK(names_in(directory / "model") == std::set<std::string>{"saved_model.pb"});
  const std::string bytes = read(directory / "model/saved_model.pb");
  CHECK(proto::number(bytes, 1) == 1);
  const auto meta_graph = proto::one(bytes, 2);
  CHECK(proto::one(proto::one(meta_graph, 1), 4) == "serve");
  CHECK(proto::all(meta_graph, 3).empty());  // no saver
  const auto signature = proto::entry(meta_graph, 5, "serving_default");
  CHECK(proto::one(signature, 3) == "tensorflow/serving/predict");
  const auto input = proto::entry(signature, 1, "x"), output = proto::entry(signature, 2, "logits");
  CHECK(proto::one(input, 1) == "x:0");
  CHECK(proto::number(input, 2) == 1);
  CHECK(proto::number(proto::all(proto::one(input, 3), 2)[0], 1) == -1);
  CHECK(proto::number(proto::all(proto::one(input, 3), 2)[1], 1) == 4);
  CHECK(proto::one(output, 1) == "logits:0");
  CHECK(proto::number(proto::all(proto::one(output, 3), 2)[1], 1) == 2);
  CHECK(proto::node_called(proto::one(meta_graph, 2), "logits").op == "Identity");
}

/// TensorFlow 2.21 lists both outputs of such a file, with the dtypes int64 and float32, and gives
/// these values.
TEST_CASE("a function of several outputs has each in the signature", "[saved_model]") {
  const TemporaryDirectory directory;
  nn::Sequential net = small_model();
  const auto serve = [&](const Tensor& x) {
    const Tensor logits = net(x);
    return std::map<std::string, Tensor>{
        {"classes", argmax(logits, 1)}, {"predictions", nn::softmax(logits)}, {"same", logits}};
  };
  save(serve, directory / "model", {.input = data::TensorSpec{{-1, 4}}, .input_name = "images"});
  const LoadedFunction loaded = load(directory / "model").signature();
  CHECK(loaded.outputs() == std::vector<std::string>{"classes", "predictions", "same"});
  const Tensor x(Shape{2, 4}, std::vector<float>{1, -2, 3, -4, -1, 2, -3, 4});
  const auto results = loaded({{"images", x}}), wanted = serve(x);
  for (const auto& [key, value] : wanted) {
    INFO(key);
    CHECK(results.at(key).dtype() == value.dtype());
    CHECK(cast(results.at(key), DType::Float32).to_vector() ==
          cast(value, DType::Float32).to_vector());
  }
  const auto twice = [&](const Tensor& images) {
    return std::map<std::string, Tensor>{{"images", net(images)}};
  };
  CHECK_THROWS_SAYING(
      save(twice, directory / "no", {.input = data::TensorSpec{{-1, 4}}, .input_name = "images"}),
      InvalidArgumentError, "input and output need names that differ");
}

TEST_CASE("variables go to a bundle that the graph restores", "[saved_model]") {
  const TemporaryDirectory directory;
  nn::Sequential net = small_model();
  save(net, directory / "model", {.weights = Weights::Variables});
  train::BundleReader reader(directory / "model/variables/variables");
  reader.verify();
  CHECK(reader.keys() ==
        std::vector<std::string>{"sequential/hidden/bias", "sequential/hidden/kernel",
                                 "sequential/norm/beta", "sequential/norm/gamma",
                                 "sequential/norm/moving_mean", "sequential/norm/moving_variance",
                                 "sequential/out/bias", "sequential/out/kernel"});
  for (const Variable& v : net.variables())
    CHECK(train::read_tensor(reader, v.name()).to_vector() == v.value().to_vector());
  const std::string bytes = read(directory / "model/saved_model.pb");
  const auto meta_graph = proto::one(bytes, 2);
  CHECK(proto::one(proto::one(meta_graph, 3), 3) == "save/restore_all");
  const auto variables = proto::one(proto::entry(meta_graph, 4, "variables"), 2);
  const auto trained = proto::one(proto::entry(meta_graph, 4, "trainable_variables"), 2);
  CHECK(proto::all(variables, 1).size() == 8);
  CHECK(proto::all(trained, 1).size() == 6);
}

TEST_CASE("a function of one's own is exported with its input said", "[saved_model]") {
  const TemporaryDirectory directory;
  nn::Sequential net = small_model();
  const auto probabilities = [&](const Tensor& x) { return nn::softmax(net(x)); };
  save(probabilities, directory / "model", {.input = data::TensorSpec{{-1, 4}}});
  const std::string bytes = read(directory / "model/saved_model.pb");
  CHECK(proto::node_called(proto::one(proto::one(bytes, 2), 2), "Softmax").op == "Softmax");
  CHECK_THROWS_SAYING(save(probabilities, directory / "other", {}), InvalidArgumentError,
                      "give the option `input`");
}

TEST_CASE("an older SavedModel is replaced, other things are left alone", "[saved_model]") {
  const TemporaryDirectory directory;
  nn::Sequential net = small_model();
  const std::string path = directory / "models/1";
  save(net, path, {.weights = Weights::Variables});
  save(net, path + "/");
  CHECK(names_in(path) == std::set<std::string>{"saved_model.pb"});
  CHECK(names_in(directory / "models") == std::set<std::string>{"1"});
  std::ofstream(directory / "file") << "x";
  CHECK_THROWS_SAYING(save(net, directory / "file"), AlreadyExistsError, "is a file");
  fs::create_directories(directory / "full");
  std::ofstream(directory / "full/notes.txt") << "x";
  CHECK_THROWS_SAYING(save(net, directory / "full"), AlreadyExistsError, "with other things");
  CHECK_THROWS_SAYING(check_path(directory / "full"), AlreadyExistsError, "with other things");
  CHECK(names_in(directory / "full") == std::set<std::string>{"notes.txt"});
  fs::create_directories(directory / "empty");
  check_path(directory / "empty");
  save(net, directory / "empty");
  CHECK(fs::exists(directory / "empty/saved_model.pb"));
}

TEST_CASE("a full disk leaves what was there and nothing else", "[saved_model]") {
  const TemporaryDirectory directory;
  nn::Sequential net = small_model();
  save(net, directory / "model");
  const std::string before = read(directory / "model/saved_model.pb");
  net.variables()[0].assign(ones({4, 3}));
  {
    const FileSizeLimit limit(200);
    CHECK_THROWS_AS(save(net, directory / "model"), Error);
    CHECK_THROWS_AS(save(net, directory / "other"), Error);
  }
  CHECK(names_in(directory.path()) == std::set<std::string>{"model"});
  CHECK(read(directory / "model/saved_model.pb") == before);
}

TEST_CASE("extra files are copied beside the model", "[saved_model]") {
  const TemporaryDirectory directory;
  std::ofstream(directory / "words.txt") << "one two";
  nn::Sequential net = small_model();
  const std::string path = directory / "model", words = directory / "words.txt";
  save(net, path, {.assets_extra = {{"words.txt", words}, {"warm/up", words}}});
  CHECK(names_in(path) == std::set<std::string>{"assets.extra", "saved_model.pb"});
  CHECK(read(path + "/assets.extra/words.txt") == "one two");
  CHECK(read(path + "/assets.extra/warm/up") == "one two");
  for (const char* place : {"", "/words", "../words", "a/../../words", "a/"})
    CHECK_THROWS_SAYING(save(net, path, {.assets_extra = {{place, words}}}), InvalidArgumentError,
                        "is not the path of a file below assets.extra");
  CHECK_THROWS_SAYING(save(net, path, {.assets_extra = {{"words", directory / "none"}}}),
                      NotFoundError, "none");
  CHECK(fs::exists(path + "/assets.extra/words.txt"));  // as it was
}

TEST_CASE("a path below a file is refused before anything is written", "[saved_model]") {
  const TemporaryDirectory directory;
  std::ofstream(directory / "file") << "x";
  nn::Sequential net = small_model();
  CHECK_THROWS_AS(save(net, directory / "file/model"), Error);
  CHECK_THROWS_SAYING(save(net, ""), InvalidArgumentError, "the path is empty");
  CHECK(names_in(directory.path()) == std::set<std::string>{"file"});
}

TEST_CASE("every worker saves, and the chief's model stays", "[saved_model][workers]") {
  const TemporaryDirectory directory, alone;
  nn::Sequential reference = small_model();
  run_clean(3, 2, [&](Strategy& strategy, int) {
    const auto scope = strategy.scope();
    nn::Sequential net = small_model();
    for (size_t i = 0; i < net.variables().size(); ++i)
      train::restore_value(net.variables()[i], reference.variables()[i].value());
    train::Model model(net);
    model.save(directory / "model");
    save(net, directory / "with_variables", {.weights = Weights::Variables});
  });
  save(reference, alone / "model");
  CHECK(names_in(directory.path()) == std::set<std::string>{"model", "with_variables"});
  CHECK(read(directory / "model/saved_model.pb") == read(alone / "model/saved_model.pb"));
}

TEST_CASE("a path that only the chief cannot use is an error on every worker",
          "[saved_model][workers]") {
  const TemporaryDirectory directory;
  std::ofstream(directory / "taken") << "x";
  const auto errors = run_workers(3, 1, [&](Strategy& strategy, int) {
    const auto scope = strategy.scope();
    nn::Sequential net = small_model();
    save(net, directory / "taken");
  });
  REQUIRE(errors.size() == 3);
  for (const std::string& error : errors) CHECK_THAT(error, Contains("is a file"));
  CHECK(names_in(directory.path()) == std::set<std::string>{"taken"});
}
