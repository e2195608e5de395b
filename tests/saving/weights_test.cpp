#include "keras_models.hpp"

#include <distribute/saving/detail/hdf5_file.hpp>
#include <distribute/saving/detail/separate_process.hpp>
#include <distribute/saving/keras_model.hpp>
#include <distribute/saving/zip_file.hpp>

#include <tests/support/check_close.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/shared_data.hpp>

#include <csignal>
#include <functional>

#include <unistd.h>

using namespace distribute;
using saving::load_weights;
using saving_internal::Hdf5Reader;

namespace {

void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace

TEST_CASE("load_weights: an image model of Keras computes what it does there", "[saving][keras]") {
  auto model = keras_models::images();
  const auto loaded = load_weights(model, keras_models::file("images.weights.h5"));
  CHECK(loaded.loaded.size() == 18);
  CHECK(loaded.unused.empty());
  const auto [x, y] = keras_models::expected("images");
  check_close(model(x), y, 1e-5);
}

TEST_CASE("load_weights: a text model that TensorFlow trained, in three formats",
          "[saving][keras]") {
  const auto [x, y] = keras_models::expected("text", true);
  for (const char* name : {"text.weights.h5", "text.keras", "text.h5"}) {
    INFO(name);
    auto model = keras_models::text();
    const auto loaded = load_weights(model, keras_models::file(name));
    CHECK(loaded.loaded.size() == 12);
    check_close(model(x), y, 1e-5);
    CHECK(std::all_of(loaded.unused.begin(), loaded.unused.end(),
                      [](const std::string& path) { return path.starts_with("optimizer"); }));
  }
}

TEST_CASE("load_weights: layers by the names of a functional model", "[saving][keras]") {
  const auto [x, y] = keras_models::expected("attention", true);
  keras_models::Attention model;
  CHECK_THROWS_AS(load_weights(model, keras_models::file("attention.weights.h5")), NotFoundError);
  const auto loaded =
      load_weights(model, keras_models::file("attention.weights.h5"), {.by_name = true});
  CHECK(loaded.missing.empty());
  check_close(model(x), y, 1e-5);
}

TEST_CASE("load_weights: a residual network of Keras, from a compressed file", "[saving][keras]") {
  const auto [x, y] = keras_models::expected("small_resnet");
  auto model = keras_models::resnet({1}, 5, 32);
  const auto loaded = load_weights(model, keras_models::file("small_resnet.weights.h5"));
  CHECK(loaded.loaded.size() == 32);
  check_close(model(x), y, 1e-4);
}

TEST_CASE("save_weights: the file has the groups and arrays of Keras's", "[saving][keras]") {
  keras_models::skip_without_formats();
  const TemporaryDirectory directory;
  auto images = keras_models::images();
  auto text = keras_models::text();
  auto resnet = keras_models::resnet({1}, 5, 32);
  const std::vector<std::pair<std::string, nn::Module*>> models = {
      {"images", &images}, {"text", &text}, {"small_resnet", &resnet}};
  for (const auto& [name, model] : models) {
    INFO(name);
    const std::string path = directory / (name + ".weights.h5");
    saving::save_weights(*model, path);
    const Hdf5Reader ours(file_text(path), path);
    const Hdf5Reader theirs(file_text(keras_models::file(name + ".weights.h5")), name);
    size_t compared = 0;
    for (const auto& [place, array] : theirs.arrays()) {
      if (place.starts_with("optimizer")) continue;
      INFO(place);
      REQUIRE(ours.arrays().contains(place));
      CHECK(ours.arrays().at(place).shape == array.shape);
      ++compared;
    }
    CHECK(ours.arrays().size() == compared);
    if (name == "small_resnet") continue;  // whose further layers have no weights
    for (const std::string& group : theirs.groups())
      if (!group.starts_with("optimizer"))
        CHECK(std::count(ours.groups().begin(), ours.groups().end(), group) == 1);
  }
}

TEST_CASE("save_weights: what was written comes back, in each format", "[saving][keras]") {
  const TemporaryDirectory directory;
  const auto [x, y] = keras_models::expected("images");
  auto model = keras_models::images();
  const std::vector<float> wanted = model(x).to_vector();
  for (const char* name : {"a.weights.h5", "a.h5", "a.hdf5", "a.safetensors"}) {
    if (std::string(name) != "a.safetensors" && !keras_models::can_open_files()) continue;
    saving::save_weights(model, directory / name);
    nn::clear_session();
    auto other = keras_models::images();
    CHECK(other(x).to_vector() != wanted);
    CHECK(load_weights(other, directory / name).loaded.size() == 18);
    CHECK(other(x).to_vector() == wanted);
  }
  CHECK_THROWS_SAYING(saving::save_weights(model, directory / "a.npz"), InvalidArgumentError,
                      "ends in none of .weights.h5, .h5");
}

TEST_CASE("load_weights: what does not fit is one error, and nothing is assigned",
          "[saving][keras]") {
  const std::string file = keras_models::file("images.weights.h5");
  auto wide = keras_models::images(5);
  const auto before = wide.variables().back().value().to_vector();
  CHECK_THROWS_SAYING(load_weights(wide, file), InvalidArgumentError,
                      "'layers/conv2d/vars/0' is [3, 3, 3, 4] float32, variable '" +
                          wide.variables().front().name() + "' is [3, 3, 3, 5] float32");
  CHECK(wide.variables().back().value().to_vector() == before);
  const auto loaded = load_weights(wide, file, {.skip_mismatch = true});
  CHECK(loaded.mismatched.size() == 8);
  CHECK(loaded.loaded.size() == 10);

  auto text = keras_models::text();
  CHECK_THROWS_SAYING(load_weights(text, file), NotFoundError, "there is nothing for variable");
  nn::Sequential unbuilt(nn::Dense({.units = 2}));
  CHECK_THROWS_SAYING(load_weights(unbuilt, file), FailedPreconditionError, "call it once");
  CHECK_THROWS_SAYING(load_weights(text, "x.npz"), InvalidArgumentError, "ends in none of");
}

TEST_CASE("load_weights: damaged files end in one error", "[saving][keras]") {
  const TemporaryDirectory directory;
  auto model = keras_models::text();
  const std::string h5 = file_text(keras_models::file("text.weights.h5"));
  const std::string keras = file_text(keras_models::file("text.keras"));
  for (const size_t kept : {size_t(0), size_t(7), size_t(200), h5.size() / 2, h5.size() - 1}) {
    INFO(kept);
    write(directory / "a.weights.h5", h5.substr(0, kept));
    CHECK_THROWS_SAYING(load_weights(model, directory / "a.weights.h5"), DataLossError,
                        "a.weights.h5: no HDF5 file, or damaged");
  }
  for (const size_t kept : {size_t(0), keras.size() / 2, keras.size() - 30}) {
    INFO(kept);
    write(directory / "a.keras", keras.substr(0, kept));
    CHECK_THROWS_SAYING(load_weights(model, directory / "a.keras"), DataLossError,
                        "a.keras: no zip archive, or damaged");
  }
  write(directory / "b.keras", saving::encode_zip({{"config.json", "{}"}}));
  CHECK_THROWS_SAYING(load_weights(model, directory / "b.keras"), NotFoundError,
                      "there is no 'model.weights.h5'");
  std::string changed = keras;
  changed[changed.find("vars") + 40] ^= 1;  // inside of the stored weights
  write(directory / "c.keras", changed);
  CHECK_THROWS_SAYING(load_weights(model, directory / "c.keras"), DataLossError, "is damaged");
}

// libhdf5 1.10 ends by SIGSEGV for some of these, as for this file, where one bit of a length is
// wrong.
TEST_CASE("load_model: a damaged .h5 file does not end the process", "[saving][keras]") {
  keras_models::skip_without_formats();
  const auto damaged = shared_data("damaged");
  if (!damaged) SKIP("the damaged files are not here");
  CHECK_THROWS_SAYING(saving::load_model(*damaged + "/heap.h5"), DataLossError,
                      "heap.h5: no HDF5 file, or damaged");
}

TEST_CASE("HDF5: a crash, an exception and silence are told from a result", "[saving][keras]") {
  using saving_internal::run_in_separate_process;
  using Write = std::function<void(std::string_view)>;
  const std::string large(3'000'000, 'x');
  CHECK(run_in_separate_process([&](const Write& write) {
          write(large);
          write("end");
          return true;
        }) == large + "end");
  CHECK(run_in_separate_process([](const Write&) { return true; }) == "");
  CHECK_FALSE(run_in_separate_process([](const Write& write) {
    write("begun");
    return false;
  }));
  CHECK_FALSE(run_in_separate_process([](const Write&) -> bool { throw InternalError("no"); }));
  CHECK_FALSE(run_in_separate_process([](const Write& write) -> bool {
    write("begun");
    std::raise(SIGSEGV);
    std::abort();
  }));
  CHECK_FALSE(run_in_separate_process(
      [](const Write&) -> bool {
        for (;;) ::pause();
      },
      std::chrono::seconds(1)));
}

TEST_CASE("HDF5: every dtype comes back", "[saving][keras]") {
  keras_models::skip_without_formats();
  saving_internal::Hdf5Contents contents;
  for (const DType dtype : {DType::Float32, DType::BFloat16, DType::Float16, DType::Int32,
                            DType::Int64, DType::UInt8, DType::Bool})
    contents.arrays[std::string("g/") + name_of(dtype)] = fill({2, 3}, 1, dtype);
  contents.arrays["scalar"] = Tensor(2.5f);
  contents.arrays["empty"] = zeros({0, 4});
  contents.attributes["g/h"]["name"] = "layer";
  const Hdf5Reader file(saving_internal::encode_hdf5(contents), "x");
  REQUIRE(file.arrays().size() == contents.arrays.size());
  for (const auto& [path, value] : contents.arrays) {
    INFO(path);
    const Tensor read = file.read(path);
    CHECK(read.dtype() == value.dtype());
    CHECK(read.shape() == value.shape());
    CHECK(read.to_vector() == value.to_vector());
  }
  CHECK(file.texts("g/h", "name") == std::vector<std::string>{"layer"});
  CHECK(file.texts("g/h", "other").empty());
}

TEST_CASE("Keras reads what was written, and its ResNet-50 comes in",
          "[saving][keras][tensorflow]") {
  const TemporaryDirectory directory;
  const std::string script = "saving/keras_files.py";
  auto images = keras_models::images(), text = keras_models::text();
  for (const auto& [name, model] : {std::pair("images", &images), std::pair("text", &text)}) {
    load_weights(*model, keras_models::file(std::string(name) + ".weights.h5"));
    for (const char* ending : {".weights.h5", ".h5"})
      saving::save_weights(*model, directory / ("ours_" + std::string(name) + ending));
  }
  std::filesystem::copy_file(keras_models::file("expected.json"), directory / "expected.json");
  const auto answers = keras_models::answers_of_keras(directory);
  CHECK(answers.size() == 8);  // values and penalty of each
  for (const std::string name : {"images.weights.h5", "images.h5", "text.weights.h5", "text.h5"}) {
    const std::string model = name.substr(0, name.find('.'));
    const auto [x, y] = keras_models::expected(model, model == "text");
    const auto there = answers.at("ours_" + name).at("values");
    check_close(Tensor(Shape{int64_t(there.size())}, there.get<std::vector<float>>()), y, 1e-5);
  }

  REQUIRE(run_tensorflow_script(script, "resnet50 " + directory.path(), directory / "log"));
  auto resnet = keras_models::resnet({3, 4, 6, 3}, 1000, 32);
  CHECK(load_weights(resnet, directory / "resnet50.weights.h5").loaded.size() == 320);
  const std::string x = file_text(directory / "resnet50.x"),
                    y = file_text(directory / "resnet50.y");
  Tensor image = Tensor::empty({1, 224, 224, 3}, DType::Float32);
  std::copy(x.begin(), x.end(), image.array().bytes());
  std::vector<float> wanted(1000);
  REQUIRE(y.size() == 4000);
  std::memcpy(wanted.data(), y.data(), y.size());
  const float largest = *std::max_element(wanted.begin(), wanted.end());
  CHECK(largest > 0.01f);
  const std::vector<float> logits = resnet(image).to_vector();
  for (size_t i = 0; i < wanted.size(); ++i)
    if (std::abs(logits[i] - wanted[i]) > 1e-3f * largest)
      FAIL_CHECK("class " << i << ": " << logits[i] << ", wanted " << wanted[i]);
}
