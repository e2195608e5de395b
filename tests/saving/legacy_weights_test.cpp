#include "keras_models.hpp"

#include <distribute/saving/detail/hdf5_file.hpp>
#include <distribute/saving/detail/legacy_weights.hpp>
#include <distribute/saving/keras_model.hpp>

#include <distribute/optim/adam.hpp>

#include <tests/support/check_close.hpp>
#include <tests/support/check_throws.hpp>

using namespace distribute;
using saving_internal::Hdf5Reader;

namespace {

Hdf5Reader opened(const std::string& path) { return Hdf5Reader(file_text(path), path); }

/// A model whose weights are its own, beside a layer.
class OwnWeights : public nn::Module {
 public:
  explicit OwnWeights(int64_t count) : count_(count) { (*this)(zeros({1, 2})); }

 private:
  void build(const Shape&) override {
    for (int64_t i = 0; i < count_; ++i)
      add_weight("own_weight_" + std::to_string(i), {}, nn::initializers::constant(float(i)));
  }
  Tensor call(const Tensor& x, nn::CallOptions options) override { return dense_(x, options); }
  int64_t count_;
  nn::Dense& dense_ = add("dense", nn::Dense({.units = 2}));
};

}  // namespace

TEST_CASE("save_model: an .h5 file has the groups, names and order of Keras's",
          "[saving][legacy]") {
  const TemporaryDirectory directory;
  for (const char* name : {"text.h5", "trained_sgd.h5"}) {
    INFO(name);
    const auto model = saving::load_model(keras_models::file(name));
    saving::save_model(*model, directory / name);
    const Hdf5Reader ours = opened(directory / name), theirs = opened(keras_models::file(name));
    size_t compared = 0;
    for (const auto& [path, array] : theirs.arrays()) {
      if (path.starts_with("optimizer_weights")) continue;
      INFO(path);
      REQUIRE(ours.arrays().contains(path));
      CHECK(ours.read(path).to_vector() == theirs.read(path).to_vector());
      ++compared;
    }
    CHECK(ours.arrays().size() == compared);
    for (const std::string& group : theirs.groups())
      for (const char* attribute : {"layer_names", "weight_names", "backend", "keras_version"}) {
        if (group.starts_with("optimizer_weights")) continue;
        INFO(group << " " << attribute);
        CHECK(ours.texts(group, attribute) == theirs.texts(group, attribute));
      }
    CHECK(std::count(ours.groups().begin(), ours.groups().end(),
                     "model_weights/top_level_model_weights") == 1);
    CHECK(ours.texts("", "training_config").empty());
  }
}

TEST_CASE("load_model makes the model of an .h5 file", "[saving][legacy]") {
  const auto [x, y] = keras_models::expected("text", true);
  const auto model = saving::load_model(keras_models::file("text.h5"));
  check_close((*model)(x), y, 1e-5);

  const TemporaryDirectory directory;
  saving::save_weights(*model, directory / "a.h5");
  CHECK_THROWS_SAYING(saving::load_model(directory / "a.h5"), NotFoundError,
                      "there is no model in it");
  saving_internal::Hdf5Contents old;
  old.attributes[""] = {{"model_config", "{}"}, {"keras_version", "2.15.0"}};
  std::ofstream(directory / "old.h5", std::ios::binary) << saving_internal::encode_hdf5(old);
  CHECK_THROWS_SAYING(saving::load_model(directory / "old.h5"), UnimplementedError,
                      "the model is of Keras 2.15.0");
}

TEST_CASE("save_model: an .h5 file has the optimizer, which goes on from there",
          "[saving][legacy]") {
  const TemporaryDirectory directory;
  const auto model = saving::load_model(keras_models::file("trained_adam.keras"));
  optim::Adam adam({.learning_rate = 0.5, .amsgrad = true, .use_ema = true});
  saving::load_weights(*model, keras_models::file("trained_adam.keras"), {.optimizer = &adam});
  saving::save_model(*model, directory / "a.h5", {.optimizer = &adam});

  const auto again = saving::load_model(directory / "a.h5");
  optim::Adam other({.learning_rate = 0.1, .amsgrad = true, .use_ema = true});
  const auto loaded = saving::load_weights(*again, directory / "a.h5", {.optimizer = &other});
  CHECK(loaded.unused.empty());
  CHECK(other.iterations() == 3);
  CHECK(other.learning_rate() == adam.learning_rate());
  const auto ours = adam.slot_variables(), theirs = other.slot_variables();
  REQUIRE(ours.size() == theirs.size());
  for (size_t i = 0; i < ours.size(); ++i)
    CHECK(ours[i].variable.value().to_vector() == theirs[i].variable.value().to_vector());
  CHECK_THROWS_SAYING(saving::save_weights(*model, directory / "b.h5", {.optimizer = &adam}),
                      InvalidArgumentError, "have no optimizer");
}

TEST_CASE("save_weights: a frozen part keeps Keras's order of weights in .h5", "[saving][legacy]") {
  keras_models::skip_without_formats();
  const TemporaryDirectory directory;
  nn::Sequential model(
      nn::Flatten(),
      nn::Sequential(nn::Dense({.units = 2}), nn::BatchNormalization(), nn::Dense({.units = 2})));
  model(zeros({1, 3}));
  const auto ends = [&](const std::string& name) {
    saving::save_weights(model, directory / name);
    std::string all;
    const Hdf5Reader file = opened(directory / name);
    for (const std::string& weight : file.texts(model[1].name(), "weight_names"))
      all += weight.substr(weight.rfind('/') + 1) + " ";
    return all;
  };
  CHECK(ends("a.h5") == "kernel bias gamma beta kernel bias moving_mean moving_variance ");
  model[1].set_trainable(false);  // Keras: all, layer by layer
  CHECK(ends("b.h5") == "kernel bias gamma beta moving_mean moving_variance kernel bias ");
}

TEST_CASE("save_weights: a model's own weights, more than one attribute of .h5 can name",
          "[saving][legacy]") {
  keras_models::skip_without_formats();
  constexpr int64_t kCount = 5000;
  const TemporaryDirectory directory;
  OwnWeights model(kCount);
  REQUIRE(model.variables().size() == kCount + 2);
  saving::save_weights(model, directory / "a.h5");
  const Hdf5Reader file = opened(directory / "a.h5");
  CHECK(file.texts("top_level_model_weights", "weight_names").empty());
  CHECK_FALSE(file.texts("top_level_model_weights", "weight_names1").empty());

  OwnWeights other(kCount);
  for (Variable variable : other.variables()) variable.assign(variable.value() * 0.0f - 1.0f);
  CHECK(saving::load_weights(other, directory / "a.h5").loaded.size() == kCount + 2);
  const auto ours = model.variables(), theirs = other.variables();
  bool same = true;
  for (size_t i = 0; i < ours.size(); ++i)
    same = same && ours[i].value().to_vector() == theirs[i].value().to_vector();
  CHECK(same);
}

TEST_CASE("save_weights: a layer cannot be called as the group of the model's own weights in .h5",
          "[saving][legacy]") {
  keras_models::skip_without_formats();
  const TemporaryDirectory directory;
  nn::Sequential model(nn::Dense({.units = 2, .name = "top_level_model_weights"}));
  model(zeros({1, 3}));
  CHECK_THROWS_SAYING(saving::save_weights(model, directory / "a.h5"), InvalidArgumentError,
                      "two groups would be called 'top_level_model_weights'");
  CHECK(std::filesystem::is_empty(directory.path()));
}
