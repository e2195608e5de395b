/// The tutorial "Save and load a model using a distribution strategy".
#include <tests/support/catch.hpp>
#include <tests/support/source_dir.hpp>
#include <tests/support/temporary_directory.hpp>

#include <filesystem>

#define main save_and_load_tutorial
// [tutorial]
#include <cstdio>
#include <distribute/distribute.hpp>
#include <distribute/saved_model.hpp>
#include <distribute/saving.hpp>
namespace dist = distribute;
namespace nn = dist::nn;
namespace train = dist::train;

// Network, optimizer and model, which the strategy in scope makes.
struct Cnn {
  nn::Sequential network{
      nn::Conv2D({.filters = 32, .kernel_size = 3, .activation = nn::relu, .name = "conv"}),
      nn::MaxPool2D(), nn::Flatten(),
      nn::Dense({.units = 64, .activation = nn::relu, .name = "dense"}),
      nn::Dense({.units = 10, .name = "scores"})};
  dist::optim::Adam optimizer{{.learning_rate = 0.001}};
  train::Model model{network};
  Cnn() {
    model.compile({.optimizer = optimizer,
                   .loss = nn::SparseCategoricalCrossentropy({.from_logits = true}),
                   .metrics = {nn::metrics::SparseCategoricalAccuracy("accuracy")}});
  }
  // The model of another program, or of another strategy.
  explicit Cnn(const std::string& path) : Cnn() {
    network(dist::zeros({1, 28, 28, 1}));
    dist::saving::load_weights(network, path);
  }
};

class SubclassedModel : public nn::Module {
  nn::Dense& dense_layer_ = add("output_layer", nn::Dense({.units = 5}));
  dist::Tensor call(const dist::Tensor& x, nn::CallOptions options) override {
    return dense_layer_(x, options);
  }
};

int main(int argc, char** argv) {
  const std::string data_dir = argc > 1 ? argv[1] : "examples/mnist_cnn/data";
  const std::string dir = argc > 2 ? argv[2] : "/tmp";
  const int64_t images = argc > 3 ? std::atoi(argv[3]) : 9'000;
  dist::MirroredStrategy mirrored_strategy({"/cpu:0", "/cpu:1"});
  const int64_t batch_size = 64 * mirrored_strategy.num_replicas_in_sync();
  const auto train_dataset =
      dist::data::load_mnist(data_dir).take(images).cache().shuffle(10'000).batch(batch_size);
  const auto eval_dataset =
      dist::data::load_mnist(data_dir, {.split = dist::data::Split::Test}).batch(batch_size);
  const std::string weights_path = dir + "/keras_save.safetensors";
  const std::string saved_model_path = dir + "/tf_save";
  {
    // Train under a strategy, and save.
    const auto scope = mirrored_strategy.scope();
    Cnn cnn;
    cnn.model.fit(train_dataset, {.epochs = 2});
    dist::saving::save_weights(cnn.network, weights_path);
    dist::saved_model::save(cnn.network, saved_model_path);
  }
  // Restore without a strategy.
  Cnn restored(weights_path);
  restored.model.fit(train_dataset, {.epochs = 2});
  {
    // Restore under another strategy.
    dist::OneDeviceStrategy another_strategy("/cpu:0");
    const auto scope = another_strategy.scope();
    Cnn restored_ds(weights_path);
    restored_ds.model.fit(train_dataset, {.epochs = 2});
  }

  // Inference with the SavedModel, without a strategy and under one.
  const auto loaded = dist::saved_model::load(saved_model_path);
  const auto& inference_func = loaded.signature("serving_default");
  for (const auto& batch : eval_dataset.take(1))
    std::printf("%s\n", to_string(inference_func(batch.x).shape()).c_str());
  const auto dist_predict_dataset = mirrored_strategy.experimental_distribute_dataset(eval_dataset);
  for (const auto& batch : dist_predict_dataset) {
    const auto result = mirrored_strategy.run(
        [&](const dist::data::Batch& part) { return inference_func(part.x); }, batch);
    for (const auto& one : result.values()) std::printf("%s\n", to_string(one.shape()).c_str());
    break;
  }

  // A class of one's own: saved for the input that it says, or was called with.
  SubclassedModel my_model;
  try {
    dist::saved_model::save(my_model, saved_model_path);
  } catch (const dist::Error& error) {
    std::printf("%s\n", error.what());
  }
  const auto row = dist::cast(dist::range(5), dist::DType::Float32);
  const auto dataset = dist::data::Dataset::from_tensors(dist::data::Batch{row, row})
                           .repeat(100)
                           .batch(4 * mirrored_strategy.num_replicas_in_sync());
  dist::optim::Adam adam({.learning_rate = 0.001});
  train::Model model(my_model);
  model.compile({.optimizer = adam, .loss = "mean_squared_error"});
  model.fit(dataset, {.epochs = 2});
  model.save(saved_model_path);
  return 0;
}
// [tutorial]
#undef main

TEST_CASE("models are saved and loaded under strategies", "[tutorials]") {
  const TemporaryDirectory directory;
  std::string digits = distribute::testing::source_dir() + "/examples/mnist_cnn/data",
              images = "256";
  std::string dir = directory.path();
  char* words[] = {nullptr, digits.data(), dir.data(), images.data()};
  CHECK(save_and_load_tutorial(4, words) == 0);
  CHECK(std::filesystem::exists(directory / "tf_save/saved_model.pb"));
}
