#include <distribute/checkpoint/bundle.hpp>
#include <distribute/checkpoint/checkpoint.hpp>
#include <distribute/checkpoint/named_weights.hpp>
#include <distribute/nn/activation.hpp>
#include <distribute/nn/convolution.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/normalization.hpp>
#include <distribute/nn/reshaping.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_close.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/shared_data.hpp>
#include <tests/support/temporary_directory.hpp>
#include <tests/support/thread_workers.hpp>

#include <fstream>

#include <nlohmann/json.hpp>

using namespace distribute;

namespace {

/// The network of checkpoint_keras.
nn::Sequential keras_net(int64_t classes = 3) {
  nn::Sequential net(
      nn::Conv2D({.filters = 4,
                  .kernel_size = 3,
                  .padding = Padding::Same,
                  .use_bias = false,
                  .name = "conv"}),
      nn::BatchNormalization({.epsilon = 1e-3, .activation = nn::relu, .name = "bn"}),
      nn::Flatten(), nn::Dense({.units = 6, .activation = nn::relu, .name = "hidden"}),
      nn::Dense({.units = classes, .name = "logits"}));
  net(zeros({1, 8, 8, 1}));
  return net;
}

void flatten_into(const nlohmann::json& json, std::vector<double>& numbers) {
  if (json.is_number()) return numbers.push_back(json.get<double>());
  for (const auto& part : json) flatten_into(part, numbers);
}

}  // namespace

TEST_CASE("a Keras model's weights are found by name, and it computes the same",
          "[checkpoint][named_weights][tensorflow]") {
  const auto files = shared_data("tf_files/checkpoint_keras");
  if (!files) SKIP("tf_files is absent");
  auto net = keras_net();
  const auto loaded = train::load_weights(*files + "/ckpt-1", net.variables());
  CHECK(loaded.loaded.size() == 9);
  CHECK(loaded.missing.empty());
  CHECK(std::find(loaded.unused.begin(), loaded.unused.end(), "adam/iteration") !=
        loaded.unused.end());
  std::ifstream file(*files + "/forward.json");
  const auto forward = nlohmann::json::parse(file);
  std::vector<double> input, output;
  flatten_into(forward["input"], input);
  flatten_into(forward["output"], output);
  const Shape shape(forward["input_shape"].get<std::vector<int64_t>>());
  check_close(net(Tensor(shape, std::vector<float>(input.begin(), input.end()))), output, 1e-5);
}

TEST_CASE("the first variable that differs is named, and nothing is loaded",
          "[checkpoint][named_weights][tensorflow]") {
  const auto files = shared_data("tf_files/checkpoint_keras");
  if (!files) SKIP("tf_files is absent");
  const std::string prefix = *files + "/ckpt-1";
  auto other = keras_net(5);
  const auto before = train::value_to_save(other.variables()[0]).to_vector();
  check_throws<InvalidArgumentError>([&] { train::load_weights(prefix, other.variables()); },
                                     "'logits/kernel' is [6, 3]");
  CHECK(train::value_to_save(other.variables()[0]).to_vector() == before);
  const auto partly = train::load_weights(prefix, other.variables(), {.skip_mismatch = true});
  CHECK(partly.mismatched ==
        std::vector<std::string>{"sequential/logits/kernel", "sequential/logits/bias"});
  CHECK(partly.loaded.size() == 7);
  const Variable unknown(zeros({2}), {.name = "extra/bias"});
  check_throws<NotFoundError>([&] { train::load_weights(prefix, {unknown}); },
                              "there is no variable 'extra/bias'; there are: adam/");
  CHECK(train::load_weights(prefix, {unknown}, {.skip_missing = true}).missing ==
        std::vector<std::string>{"extra/bias"});
}

TEST_CASE("names may be translated, and flat files serve as well", "[checkpoint][named_weights]") {
  const TemporaryDirectory directory;
  const Variable a(Tensor{1.0f, 2.0f}, {.name = "stage1/a"});
  const Variable b(Tensor{0.0f, 0.0f}, {.name = "model/stage1/a"});
  train::save_weights(directory / "flat", {a});
  train::Checkpoint({{"x", a}}).write(directory / "objects");
  for (const char* file : {"flat", "objects"}) {
    b.assign(zeros({2}));
    train::load_weights(directory / file, {b},
                        {.name_in_file = [](const std::string& name) { return name.substr(6); }});
    CHECK(b.value().to_vector() == std::vector<float>{1, 2});
  }
}

TEST_CASE("weights of two models go to one file, and their names may be translated both ways",
          "[checkpoint][named_weights]") {
  const TemporaryDirectory directory;
  const auto make = [] {
    nn::Sequential model(nn::Dense({.units = 2}));
    model(zeros({1, 3}));
    return model;
  };
  nn::Sequential first = make(), second = make();
  std::vector<Variable> all = first.variables();
  for (const Variable& variable : second.variables()) all.push_back(variable);
  train::save_weights(directory / "both", all);
  CHECK(train::BundleReader(directory / "both").keys() ==
        std::vector<std::string>{"sequential/dense/bias", "sequential/dense/kernel",
                                 "sequential_1/dense_1/bias", "sequential_1/dense_1/kernel"});
  const auto teacher = [](const std::string& name) { return "teacher" + name.substr(12); };
  train::save_weights(directory / "one", second.variables(), {.name_in_file = teacher});
  CHECK(train::BundleReader(directory / "one").contains("teacher/dense_1/kernel"));
  const auto kernel = second.variables()[0].value().to_vector();
  second.variables()[0].assign(zeros({3, 2}));
  const auto loaded =
      train::load_weights(directory / "one", second.variables(), {.name_in_file = teacher});
  CHECK(loaded.loaded.size() == 2);
  CHECK(second.variables()[0].value().to_vector() == kernel);
  check_throws<InvalidArgumentError>(
      [&] {
        train::save_weights(directory / "same", all,
                            {.name_in_file = [](const std::string&) { return "w"; }});
      },
      "two variables would be called 'w'");
  CHECK_FALSE(std::ifstream(directory / "same.index").good());
}

TEST_CASE("files whose names do not begin with a model's are read, for one model",
          "[checkpoint][named_weights]") {
  const TemporaryDirectory directory;
  const auto make = [](bool shown) {
    nn::Sequential model(nn::Dense({.units = 2, .name = "fc"}));
    model.set_name_in_path(shown);
    model(zeros({1, 3}));
    return model;
  };
  nn::Sequential old = make(false), now = make(true), other = make(true);
  train::save_weights(directory / "old", old.variables());
  CHECK(train::BundleReader(directory / "old").contains("fc/kernel"));
  CHECK(train::load_weights(directory / "old", now.variables()).loaded[0] ==
        now.variables()[0].name());
  const auto kernel = old.variables()[0].value().to_vector();
  CHECK(now.variables()[0].value().to_vector() == kernel);
  train::Checkpoint(other).restore(directory / "old").assert_consumed();
  CHECK(other.variables()[0].value().to_vector() == kernel);
  std::vector<Variable> both = now.variables();
  for (const Variable& variable : other.variables()) both.push_back(variable);
  check_throws<NotFoundError>([&] { train::load_weights(directory / "old", both); },
                              "there is no variable 'sequential_1/fc/kernel'; there are: fc/bias");
}

TEST_CASE("a name that stands for two values is no name", "[checkpoint][named_weights]") {
  const TemporaryDirectory directory;
  const Variable a(Tensor(1.0f), {.name = "same"}), b(Tensor(2.0f), {.name = "same"});
  const Variable c(Tensor(3.0f), {.name = "other"});
  train::Checkpoint({{"a", a}, {"b", b}, {"c", c}}).write(directory / "twice");
  train::BundleReader reader(directory / "twice");
  CHECK(train::weight_keys(reader).at("same").size() == 2);
  check_throws<InvalidArgumentError>([&] { train::load_weights(directory / "twice", {a}); },
                                     "'same' is there twice");
  const Variable alone(Tensor(0.0f), {.name = "other"});
  train::load_weights(directory / "twice", {alone});
  CHECK(alone.value().item<float>() == 3.0f);
}

TEST_CASE("all of three workers load the weights", "[checkpoint][named_weights]") {
  const TemporaryDirectory directory;
  const Variable v(Tensor(4.0f), {.name = "v"});
  train::save_weights(directory / "flat", {v});
  run_clean(3, 2, [&](Strategy& strategy, int) {
    const auto scope = strategy.scope();
    const Variable mine(Tensor(0.0f), {.name = "v"});
    train::load_weights(directory / "flat", {mine});
    require(mine.value().item<float>() == 4.0f, "the value");
  });
}
