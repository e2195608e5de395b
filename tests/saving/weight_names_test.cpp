// files/torch holds weights, inputs and results of PyTorch 2.15, which torch_models.py wrote.
#include <distribute/saving/weight_names.hpp>

#include <distribute/nn/activation.hpp>
#include <distribute/nn/attention.hpp>
#include <distribute/nn/convolution.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/embedding.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/normalization.hpp>
#include <distribute/nn/recurrent.hpp>
#include <distribute/nn/reshaping.hpp>
#include <distribute/nn/resnet.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/ops/slicing.hpp>
#include <distribute/saving/keras_model.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_close.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/file_text.hpp>
#include <tests/support/python_script.hpp>
#include <tests/support/source_dir.hpp>
#include <tests/support/temporary_directory.hpp>

#include <filesystem>
#include <fstream>

using namespace distribute;
using namespace distribute::saving;
namespace st = saving::safetensors;

namespace {

std::string file(const std::string& name) {
  return distribute::testing::source_dir() + "/tests/saving/files/torch/" + name;
}

/// Images of PyTorch as they are here.
Tensor channels_last(const Tensor& x) { return transpose(x, {0, 2, 3, 1}); }

void check_results(const Tensor& y, const Tensor& wanted, double tolerance = 1e-5) {
  CHECK(y.shape() == wanted.shape());
  const float largest = reduce_max(abs(wanted)).item<float>();
  const auto values = (wanted / largest).to_vector();
  check_close(y / largest, {values.begin(), values.end()}, tolerance);
}

class ConvNet : public nn::Module {
 public:
  explicit ConvNet(bool depthwise)
      : conv1_(add("conv1",
                   nn::Conv2D({.filters = 8, .kernel_size = 3, .padding = nn::Padding::Same}))),
        bn1_(add("bn1", nn::BatchNormalization({.epsilon = 1e-5}))),
        up_(add("up", nn::Conv2DTranspose({.filters = 6, .kernel_size = 2, .strides = 2}))),
        line_(add("line", nn::Conv1D({.filters = 4, .kernel_size = 3}))),
        norm_(add("norm", nn::GroupNormalization({.groups = 2, .epsilon = 1e-5}))),
        act_(add("act", nn::PReLU({.shared_axes = {1}}))),
        fc_(add("fc", nn::Dense({.units = 5}))) {
    if (depthwise)
      deep_ = &add("deep", nn::DepthwiseConv2D({.kernel_size = 3, .depth_multiplier = 2}));
    else
      deep_ = &add("deep", nn::Conv2D({.filters = 16, .kernel_size = 3, .groups = 8}));
  }

 private:
  Tensor call(const Tensor& image, nn::CallOptions options) override {
    Tensor x = nn::relu(bn1_(conv1_(image, options), options));
    x = up_((*deep_)(x, options), options);
    x = reshape(x, {x.shape()[0], 64, 6});
    x = act_(norm_(line_(x, options), options), options);
    return fc_(reshape(x, {x.shape()[0], -1}), options);
  }

  nn::Conv2D& conv1_;
  nn::BatchNormalization& bn1_;
  nn::Conv2DTranspose& up_;
  nn::Conv1D& line_;
  nn::GroupNormalization& norm_;
  nn::PReLU& act_;
  nn::Dense& fc_;
  nn::Module* deep_;
};

class Sequences : public nn::Module {
  Tensor call(const Tensor& words, nn::CallOptions options) override {
    const Tensor x = both_(gru_(lstm_(embed_(words, options), options), options), options);
    return out_(norm_(rnn_(x, options), options), options);
  }

  nn::Embedding& embed_ = add("embed", nn::Embedding({.input_dim = 11, .output_dim = 6}));
  nn::Bidirectional& lstm_ =
      add("lstm", nn::Bidirectional(nn::LSTM({.units = 5, .return_sequences = true})));
  nn::GRU& gru_ = add("gru", nn::GRU({.units = 4, .return_sequences = true}));
  nn::Bidirectional& both_ =
      add("both", nn::Bidirectional(nn::GRU({.units = 3, .return_sequences = true})));
  nn::SimpleRNN& rnn_ = add("rnn", nn::SimpleRNN({.units = 3, .return_sequences = true}));
  nn::LayerNormalization& norm_ = add("norm", nn::LayerNormalization({.epsilon = 1e-5}));
  nn::Sequential& out_ =
      add("out", nn::Sequential(nn::Dense({.units = 7}), nn::ReLU(), nn::Dense({.units = 2})));
};

class TwoAttentions : public nn::Module {
  Tensor call(const Tensor& x, nn::CallOptions options) override {
    const Tensor y = own_(x, options), other = slice(x, {0, 0, 0}, {-1, 3, 6});
    return cross_(y, other);
  }

  nn::MultiHeadAttention& own_ = add("own", nn::MultiHeadAttention({.num_heads = 2, .key_dim = 4}));
  nn::MultiHeadAttention& cross_ =
      add("cross", nn::MultiHeadAttention({.num_heads = 4, .key_dim = 2}));
};

NameRules conv_names() {
  NameRules rules = torch_names();
  rules.weights.insert(rules.weights.begin(),
                       {"fc", "kernel", {"weight"}, layouts::linear_behind_flatten(1, 62, 4)});
  return rules;
}

template <typename Model>
struct Loaded {
  Model model;
  st::Tensors io;
  train::LoadedWeights weights;
};

/// The model with PyTorch's weights, after its results were compared.
template <typename Model>
Loaded<Model> loaded(Model model, const std::string& name, const NameRules& rules) {
  st::Tensors io = st::load_file(file(name + ".io.safetensors")).tensors;
  if (io.at("x").shape().rank() == 4) io["x"] = channels_last(io.at("x"));
  model(io.at("x"));
  const auto weights = load_weights(model, file(name + ".safetensors"), {.names = rules});
  check_results(model(io.at("x")), io.at("y"));
  CHECK(weights.missing.empty());
  CHECK(weights.unused.empty());
  return {std::move(model), io, weights};
}

/// What save_weights writes, whose tensors are the same as PyTorch's.
void check_saved(nn::Module& model, const std::string& path, const NameRules& rules,
                 const st::Tensors& wanted) {
  save_weights(model, path, {.names = rules});
  const st::Contents saved = st::load_file(path);
  CHECK(saved.metadata.at("format") == "pt");
  for (const auto& [key, value] : wanted) {
    if (key.ends_with("num_batches_tracked")) continue;
    INFO(key);
    REQUIRE(saved.tensors.contains(key));
    CHECK(saved.tensors.at(key).shape() == value.shape());
    if (key.find("bias_") == std::string::npos)  // of a sum only the sum is known
      CHECK(saved.tensors.at(key).to_vector() == value.to_vector());
  }
  for (const auto& [key, value] : saved.tensors) CHECK(wanted.contains(key));
}

st::Tensors all_of(const std::vector<std::string>& names) {
  st::Tensors all;
  for (const std::string& name : names) all.merge(st::load_file(file(name)).tensors);
  return all;
}

}  // namespace

TEST_CASE("weights of PyTorch give PyTorch's results, and are written as it has them",
          "[saving][torch]") {
  const TemporaryDirectory own;
  for (const bool depthwise : {true, false}) {
    auto net = loaded(ConvNet(depthwise), "conv_net", conv_names());
    check_saved(net.model, own / "conv_net.safetensors", conv_names(),
                all_of({"conv_net.safetensors"}));
  }
  auto sequences = loaded(Sequences(), "sequences", torch_names());  // by the index of two files
  check_saved(
      sequences.model, own / "sequences.safetensors", torch_names(),
      all_of({"sequences-00001-of-00002.safetensors", "sequences-00002-of-00002.safetensors"}));
  auto attention = loaded(TwoAttentions(), "attention", torch_names());
  // One that has query, key and value of different sizes apart in PyTorch is written joined.
  NameRules apart = torch_names();
  for (const std::string name : {"query", "key", "value"})
    apart.weights.insert(
        apart.weights.begin(),
        {"cross", name + "/kernel", {name.substr(0, 1) + "_proj_weight"}, layouts::linear()});
  check_saved(attention.model, own / "attention.safetensors", apart,
              all_of({"attention.safetensors"}));
  for (const char* name : {"conv_net", "sequences", "attention"})
    std::filesystem::copy(file(name + std::string(".io.safetensors")), own.path());
  if (!run_torch_script("saving/torch_models.py", "check " + own.path(), own / "log"))
    SKIP("there is no PyTorch for Python (DISTRIBUTE_TORCH_PYTHON)");
}

TEST_CASE("a ResNet-50 of torchvision gives the same results, and opens there again",
          "[saving][torch]") {
  const TemporaryDirectory own;
  if (!run_torch_script("saving/torch_models.py", "resnet " + own.path(), own / "log"))
    SKIP("there is no torchvision for Python (DISTRIBUTE_TORCH_PYTHON)");
  nn::applications::ResNet model(
      {.classes = 10, .bn_epsilon = 1e-5, .classifier_activation = nullptr});
  const st::Tensors io = st::load_file(own / "resnet.io.safetensors").tensors;
  const Tensor x = channels_last(io.at("x"));
  model(x);
  const auto weights =
      load_weights(model, own / "resnet.safetensors", {.names = torchvision_resnet_names()});
  CHECK(weights.loaded.size() == 267);
  CHECK(weights.unused.empty());
  check_results(model(x), io.at("y"));
  for (const Variable& variable : model.variables())  // as after a step
    if (variable.trainable()) variable.assign(variable.value() * 0.999f);
  save_weights(model, own / "resnet.tuned.safetensors", {.names = torchvision_resnet_names()});
  st::save_file({{"x", io.at("x")}, {"y", model(x)}}, own / "resnet.tuned.io.safetensors");
  CHECK(run_torch_script("saving/torch_models.py", "resnet " + own.path(), own / "log"));
}

TEST_CASE("16-bit weights of PyTorch become float32", "[saving][torch]") {
  TwoAttentions model, wide;
  const st::Tensors io = st::load_file(file("attention.io.safetensors")).tensors;
  model(io.at("x"));
  for (const auto& [dtype, tolerance] : {std::pair("bfloat16", 3e-2), std::pair("float16", 3e-3)}) {
    const std::string path = file(str_cat("attention.", dtype, ".safetensors"));
    load_weights(model, path, {.names = torch_names()});
    CHECK(model.variables()[0].value().dtype() == DType::Float32);
    check_results(model(io.at("x")), io.at("y"), tolerance);
  }
}

TEST_CASE("names with something in front are found, and all names can be changed",
          "[saving][torch]") {
  const TemporaryDirectory own;
  st::Tensors wrapped, other;
  for (const auto& [key, value] : st::load_file(file("attention.safetensors")).tensors) {
    wrapped["module." + key] = value;
    other["encoder_" + key] = value;
  }
  st::save_file(wrapped, own / "wrapped.safetensors");
  st::save_file(other, own / "other.safetensors");
  const st::Tensors io = st::load_file(file("attention.io.safetensors")).tensors;
  NameRules renamed = torch_names();
  renamed.rename = [](const std::string& name) { return "encoder_" + name; };
  for (const auto& [path, rules] : {std::pair(own / "wrapped.safetensors", torch_names()),
                                    std::pair(own / "other.safetensors", renamed)}) {
    TwoAttentions model;
    model(io.at("x"));
    CHECK(load_weights(model, path, {.names = rules}).unused.empty());
    check_results(model(io.at("x")), io.at("y"));
  }
}

TEST_CASE("names that lack what the rules have in front are found", "[saving][torch]") {
  const TemporaryDirectory own;
  nn::Sequential model(nn::Dense({.units = 3}));
  model(zeros({1, 4}));
  NameRules rules = torch_names();
  rules.rename = [](const std::string& name) { return "base.h." + name; };
  const std::string path = own / "m.safetensors";
  for (const char* front : {"", "h.", "base.h.", "other."}) {
    INFO(front);
    model.variables()[0].assign(zeros({4, 3}));
    st::save_file(
        {{str_cat(front, "0.weight"), ones({3, 4})}, {str_cat(front, "0.bias"), zeros({3})}}, path);
    if (std::string(front) == "other.") {
      CHECK_THROWS_SAYING(load_weights(model, path, {.names = rules}), NotFoundError,
                          "there is no 'base.h.0.weight'");
      continue;
    }
    CHECK(load_weights(model, path, {.names = rules}).unused.empty());
    CHECK(reduce_sum(model.variables()[0].value()).item<float>() == 12);
  }
}

TEST_CASE("errors name the nearest tensor and both shapes, and nothing is assigned",
          "[saving][torch]") {
  const TemporaryDirectory own;
  const std::string path = own / "x.safetensors";
  nn::Sequential model(nn::Dense({.units = 3}), nn::Dense({.units = 2}));
  model(zeros({1, 4}));
  const auto before = model.variables()[0].value().to_vector();
  const LoadWeightsOptions names{.names = torch_names()};
  st::Tensors tensors = {{"0.weight", ones({3, 4})},
                         {"0.bias", ones({3})},
                         {"2.weight", ones({2, 3})},
                         {"2.bias", ones({2})}};
  st::save_file(tensors, path);
  CHECK_THROWS_SAYING(load_weights(model, path, names), NotFoundError,
                      "there is no '1.weight', which variable");
  CHECK_THROWS_SAYING(load_weights(model, path, names), NotFoundError,
                      "the nearest is '0.weight' [3, 4]");
  tensors["1.weight"] = ones({3, 2}), tensors["1.bias"] = ones({2});
  st::save_file(tensors, path);
  CHECK_THROWS_SAYING(load_weights(model, path, names), InvalidArgumentError,
                      "'1.weight' is [3, 2], variable");
  CHECK_THROWS_SAYING(load_weights(model, path, names), InvalidArgumentError,
                      "of [3, 2] wants [2, 3]");
  CHECK(model.variables()[0].value().to_vector() == before);

  const auto dry = load_weights(model, path, {.names = torch_names(), .dry_run = true});
  CHECK(dry.loaded.size() == 3);
  CHECK(dry.mismatched.size() == 1);
  CHECK(dry.unused == std::vector<std::string>{"2.bias", "2.weight"});
  CHECK(model.variables()[0].value().to_vector() == before);
  load_weights(model, path, {.skip_mismatch = true, .names = torch_names()});
  CHECK(model.variables()[0].value().to_vector() == std::vector<float>(12, 1));

  st::save_file({}, path);
  CHECK_THROWS_SAYING(load_weights(model, path, names), NotFoundError, "the file has no tensors");
  CHECK_THROWS_SAYING(load_weights(model, path, {.by_name = true, .names = torch_names()}),
                      InvalidArgumentError, "without `by_name`");
  CHECK_THROWS_SAYING(load_weights(model, path, {.dry_run = true}), InvalidArgumentError,
                      "give it these");
  CHECK_THROWS_SAYING(load_weights(model, "x.weights.h5", {.names = torch_names()}),
                      InvalidArgumentError, "those of safetensors files");
  CHECK_THROWS_SAYING(save_weights(model, "x.weights.h5", {.names = torch_names()}),
                      InvalidArgumentError, "those of safetensors files");
}

TEST_CASE("an index whose files do not fit is an error", "[saving][torch]") {
  const TemporaryDirectory own;
  const std::string index = own / "m.safetensors.index.json";
  nn::Sequential model(nn::Dense({.units = 3}));
  model(zeros({1, 4}));
  const auto refuse = [&](const std::string& text, const std::string& part) {
    std::ofstream(index) << text;
    CHECK_THROWS_SAYING(load_weights(model, index, {.names = torch_names()}), DataLossError, part);
  };
  st::save_file({{"0.weight", ones({3, 4})}}, own / "a.safetensors");
  st::save_file({{"0.weight", ones({3, 4})}}, own / "b.safetensors");
  refuse("{", "no index of safetensors files");
  refuse("{\"weight_map\": 3}", "no object 'weight_map'");
  refuse(R"({"weight_map": {"0.weight": 3}})", "something else than files");
  refuse(R"({"weight_map": {"0.weight": "../a.safetensors"}})", "another folder");
  refuse(R"({"weight_map": {"0.weight": "a.safetensors", "0.bias": "a.safetensors"}})",
         "'0.bias' is not in a.safetensors");
  refuse(R"({"weight_map": {"0.weight": "a.safetensors", "0.bias": "b.safetensors"}})",
         "'0.weight' is in two files");
  std::ofstream(index) << R"({"weight_map": {"0.weight": "c.safetensors"}})";
  CHECK_THROWS_SAYING(load_weights(model, index, {.names = torch_names()}), NotFoundError,
                      "c.safetensors");
}
