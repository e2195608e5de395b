// Weights in several safetensors files with an index.
#include <distribute/saving/keras_model.hpp>

#include <distribute/nn/dense.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/file_size_limit.hpp>
#include <tests/support/file_text.hpp>
#include <tests/support/python_script.hpp>
#include <tests/support/temporary_directory.hpp>

#include <filesystem>
#include <fstream>
#include <set>

#include <nlohmann/json.hpp>

using namespace distribute;
using namespace distribute::saving;
namespace st = saving::safetensors;

namespace {

/// Weights of 64, 16, 128, 32, 256 and 32 bytes.
class Layers : public nn::Sequential {
 public:
  Layers()
      : nn::Sequential(nn::Dense({.units = 4}), nn::Dense({.units = 8}), nn::Dense({.units = 8})) {
    (*this)(zeros({1, 4}));
  }
};

void fill_with(nn::Module& model, float value) {
  for (const Variable& v : model.variables()) v.assign(v.value() * 0.0f + value);
}

std::set<std::string> files_in(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.insert(entry.path().filename());
  return names;
}

SaveWeightsOptions shards_of(int64_t bytes) {
  return {.names = torch_names(), .max_shard_bytes = bytes};
}

}  // namespace

TEST_CASE("weights are written to files of a largest size", "[saving][shards]") {
  const TemporaryDirectory own;
  const std::string path = own / "model.safetensors";
  Layers model;
  save_weights(model, path, shards_of(150));
  CHECK(files_in(own.path()) == std::set<std::string>{"model-00001-of-00004.safetensors",
                                                      "model-00002-of-00004.safetensors",
                                                      "model-00003-of-00004.safetensors",
                                                      "model-00004-of-00004.safetensors",
                                                      "model.safetensors.index.json"});
  const auto index = nlohmann::json::parse(file_text(path + ".index.json"));
  CHECK(index["metadata"]["total_size"] == 528);
  CHECK(index["metadata"]["total_parameters"] == 132);
  CHECK(index["weight_map"].size() == 6);
  CHECK(index["weight_map"]["0.bias"] == "model-00001-of-00004.safetensors");
  CHECK(index["weight_map"]["0.weight"] == "model-00001-of-00004.safetensors");  // 16 + 64 + 32
  CHECK(index["weight_map"]["1.bias"] == "model-00001-of-00004.safetensors");
  CHECK(index["weight_map"]["1.weight"] == "model-00002-of-00004.safetensors");
  CHECK(index["weight_map"]["2.bias"] == "model-00003-of-00004.safetensors");
  CHECK(index["weight_map"]["2.weight"] == "model-00004-of-00004.safetensors");  // 256 by itself
  CHECK(st::load_file(own / "model-00001-of-00004.safetensors").metadata.at("format") == "pt");
  Layers other;
  fill_with(other, 0);
  CHECK(load_weights(other, path, {.names = torch_names()}).unused.empty());
  for (size_t i = 0; i < model.variables().size(); ++i)
    CHECK(other.variables()[i].value().to_vector() == model.variables()[i].value().to_vector());

  save_weights(model, own / "own/model.safetensors", {.max_shard_bytes = 300});
  fill_with(model, 0);
  load_weights(model, own / "own/model.safetensors.index.json");
  CHECK(other.variables()[4].value().to_vector() == model.variables()[4].value().to_vector());
}

TEST_CASE("a save removes the files of an earlier one, and no others", "[saving][shards]") {
  const TemporaryDirectory own;
  const std::string path = own / "model.safetensors";
  Layers model;
  for (const char* name : {"model-2.safetensors", "model-1-of-2.safetensors", "config.json",
                           "model-00001-of-00002.safetensors.bak", "a-00001-of-00002.safetensors"})
    std::ofstream(own / name) << "other";
  const auto others = files_in(own.path());
  const auto with = [&](std::set<std::string> names) {
    names.insert(others.begin(), others.end());
    return names;
  };
  save_weights(model, path, {.names = torch_names()});
  save_weights(model, path, shards_of(150));
  CHECK(files_in(own.path()).size() == others.size() + 5);
  save_weights(model, path, shards_of(300));
  CHECK(files_in(own.path()) ==
        with({"model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors",
              "model.safetensors.index.json"}));
  save_weights(model, path, shards_of(10'000));
  CHECK(files_in(own.path()) == with({"model.safetensors"}));
}

TEST_CASE("a full disk leaves the files of an earlier save", "[saving][shards]") {
  const TemporaryDirectory own;
  const std::string path = own / "model.safetensors";
  Layers model;
  fill_with(model, 1);
  for (const bool had : {false, true}) {
    if (had) save_weights(model, path, shards_of(150));
    const auto before = files_in(own.path());
    {
      const FileSizeLimit limit(350);  // the file of 256 bytes, with a header, is too large
      Layers other;
      fill_with(other, 2);
      CHECK_THROWS_AS(save_weights(other, path, shards_of(150)), ResourceExhaustedError);
    }
    CHECK(files_in(own.path()) == before);
  }
  Layers loaded;
  load_weights(loaded, path, {.names = torch_names()});
  for (const Variable& v : loaded.variables())
    for (const float value : v.value().to_vector()) CHECK(value == 1);
}

TEST_CASE("shards that cannot be written are one error", "[saving][shards]") {
  const TemporaryDirectory own;
  Layers model;
  std::ofstream(own / "file") << "old";
  CHECK_THROWS_AS(save_weights(model, own / "file/model.safetensors", shards_of(150)), Error);
  CHECK(files_in(own.path()) == std::set<std::string>{"file"});
  CHECK_THROWS_SAYING(save_weights(model, own / "m.weights.h5", {.max_shard_bytes = 1}),
                      InvalidArgumentError, "above 0 for .safetensors alone");
  CHECK_THROWS_SAYING(save_weights(model, own / "m.safetensors", {.max_shard_bytes = -1}),
                      InvalidArgumentError, "max_shard_bytes is -1");
}

TEST_CASE("a folder with a pickle alone says what to do", "[saving][shards]") {
  const TemporaryDirectory own;
  Layers model;
  std::ofstream(own / "pytorch_model.bin") << "pickle";
  CHECK_THROWS_SAYING(load_weights(model, own / "model.safetensors", {.names = torch_names()}),
                      NotFoundError, "pytorch_model.bin is a pickle of PyTorch");
  CHECK_THROWS_SAYING(load_weights(model, own / "pytorch_model.bin", {.names = torch_names()}),
                      InvalidArgumentError, "by safetensors.torch.save_file");
}

TEST_CASE("the library of safetensors opens shards", "[saving][shards][torch]") {
  const TemporaryDirectory own;
  Layers model;
  save_weights(model, own / "model.safetensors", shards_of(150));
  if (!run_torch_script("saving/torch_models.py", "shards " + own.path(), own / "log"))
    SKIP("there is no PyTorch with safetensors for Python (DISTRIBUTE_TORCH_PYTHON)");
  const std::string said = file_text(own / "log");
  CHECK_THAT(said, Catch::Contains("2.weight [8, 8]") && Catch::Contains("0.bias [4]"));
}
