#pragma once
/// The models of keras_files.py.

#include <tests/support/catch.hpp>
#include <tests/support/file_text.hpp>
#include <tests/support/python_script.hpp>
#include <tests/support/source_dir.hpp>
#include <tests/support/temporary_directory.hpp>

#include <distribute/nn/activation.hpp>
#include <distribute/nn/attention.hpp>
#include <distribute/nn/convolution.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/dropout.hpp>
#include <distribute/nn/embedding.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/normalization.hpp>
#include <distribute/nn/pooling.hpp>
#include <distribute/nn/recurrent.hpp>
#include <distribute/nn/reshaping.hpp>
#include <distribute/nn/resnet.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/saving/detail/hdf5_file.hpp>
#include <distribute/saving/zip_file.hpp>

#include <nlohmann/json.hpp>

namespace keras_models {

using namespace distribute;

inline bool can_open_files() { return saving_internal::has_hdf5() && saving::has_zip(); }

/// Ends a test in builds that cannot open these files.
inline void skip_without_formats() {
  if (!can_open_files()) SKIP("built without libhdf5 or libzip");
}

/// A file of Keras; ends the test in builds that cannot open it.
inline std::string file(const std::string& name) {
  if (!name.ends_with(".json")) skip_without_formats();
  return distribute::testing::source_dir() + "/tests/saving/files/" + name;
}

inline nlohmann::json content(const std::string& name) {
  return nlohmann::json::parse(file_text(file(name)));
}

/// From {"shape", "values"}.
inline Tensor tensor(const nlohmann::json& listed) {
  return Tensor(Shape(listed.at("shape").get<std::vector<int64_t>>()),
                listed.at("values").get<std::vector<float>>());
}

inline std::vector<double> numbers(const nlohmann::json& listed) {
  return listed.at("values").get<std::vector<double>>();
}

/// The input that layer_models.py gave to a model.
inline Tensor input_of(const nlohmann::json& answer) {
  const Tensor x(Shape(answer.at("x")[0].get<std::vector<int64_t>>()),
                 answer.at("x")[1].get<std::vector<float>>());
  return answer.at("ids").get<bool>() ? cast(x, DType::Int32) : x;
}

/// Input and output of a model in Keras.
struct Expected {
  Tensor x;
  std::vector<double> y;
};

inline Expected expected(const std::string& name, bool integers = false) {
  const nlohmann::json all = content("expected.json").at(name);
  const Tensor x = tensor(all.at("x"));
  return {integers ? cast(x, DType::Int64) : x, numbers(all.at("y"))};
}

/// What Keras says of the files "ours_*" of a directory, for the inputs of its expected.json; ends
/// the test where Python has no TensorFlow.
inline nlohmann::json answers_of_keras(const TemporaryDirectory& directory) {
  if (!run_tensorflow_script("saving/keras_files.py", "check " + directory.path(),
                             directory / "log"))
    SKIP("Python has no TensorFlow");
  return nlohmann::json::parse(file_text(directory / "answers.json"));
}

inline nn::Sequential images(int64_t width = 4) {
  nn::Sequential model(
      nn::Conv2D({.filters = width, .kernel_size = 3, .activation = nn::relu}),
      nn::BatchNormalization(), nn::ReLU(), nn::SeparableConv2D({.filters = 4, .kernel_size = 2}),
      nn::Conv2D({.filters = 2, .kernel_size = 1}), nn::Flatten(), nn::Dropout({.rate = 0.1}),
      nn::Dense({.units = 3}), nn::PReLU(),
      nn::Sequential(nn::Dense({.units = 4, .activation = nn::tanh}), nn::Dense({.units = 2})));
  model(zeros({1, 6, 6, 3}));
  return model;
}

inline nn::Sequential text() {
  nn::Sequential model(nn::Embedding({.input_dim = 10, .output_dim = 4, .mask_zero = true}),
                       nn::Bidirectional(nn::LSTM({.units = 3, .return_sequences = true})),
                       nn::GRU({.units = 3}), nn::Dense({.units = 2}));
  model(zeros({1, 6}, DType::Int64));
  return model;
}

/// Self-attention over tokens, whose layers have the names that Keras's model gives them.
class Attention : public nn::Module {
 public:
  Attention() { (*this)(zeros({1, 5}, DType::Int64)); }

 private:
  Tensor call(const Tensor& tokens, nn::CallOptions options) override {
    const Tensor x = tokens_(tokens, options);
    return head_(pool_(norm_(x + attention_(x, options), options), options), options);
  }
  nn::Embedding& tokens_ = add("tokens", nn::Embedding({.input_dim = 12, .output_dim = 4}));
  nn::MultiHeadAttention& attention_ =
      add("attention", nn::MultiHeadAttention({.num_heads = 2, .key_dim = 3}));
  nn::LayerNormalization& norm_ = add("norm", nn::LayerNormalization());
  nn::GlobalAveragePooling1D& pool_ = add("pool", nn::GlobalAveragePooling1D());
  nn::Dense& head_ = add("head", nn::Dense({.units = 3}));
};

inline nn::applications::ResNet resnet(std::vector<int64_t> blocks, int64_t classes, int64_t size) {
  nn::applications::ResNet model({.blocks = std::move(blocks),
                                  .classes = classes,
                                  .version_1 = true,
                                  .classifier_activation = nullptr});
  model(zeros({1, size, size, 3}));
  return model;
}

}  // namespace keras_models
