#include <tests/fuzz/parsers.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/file_text.hpp>
#include <tests/support/source_dir.hpp>
#include <tests/support/temporary_directory.hpp>

#include <distribute/optim/adagrad.hpp>
#include <distribute/summary/detail/png.hpp>

#include <array>
#include <cstdlib>
#include <fstream>
#include <random>
#include <vector>

namespace {

using Parser = void (*)(std::string_view);

const std::vector<Parser> kParsers = {fuzz::bundle_index,
                                      fuzz::bundle_rows,
                                      fuzz::table_block,
                                      fuzz::tfrecord,
                                      fuzz::gzip,
                                      fuzz::object_graph,
                                      fuzz::checkpoint_state,
                                      fuzz::event,
                                      fuzz::example,
                                      fuzz::jpeg,
                                      fuzz::png,
                                      fuzz::safetensors,
                                      fuzz::safetensors_header,
                                      fuzz::sequence_example,
                                      fuzz::csv};

std::string small_jpeg(bool progressive) {
  if (!distribute::data::has_jpeg()) return "\xff\xd8";
  std::vector<uint8_t> pixels;
  for (int i = 0; i < 20 * 17 * 3; ++i) pixels.push_back(uint8_t(i * 7));
  return distribute::data::encode_jpeg(distribute::Tensor(distribute::Shape{20, 17, 3}, pixels),
                                       {.quality = 50, .progressive = progressive});
}

constexpr std::array<uint8_t, 12> kRow = {1, 2, 3, 50, 60, 70, 200, 210, 220, 9, 8, 7};

/// Well-formed inputs of the parsers: what mutations start from.
std::vector<std::string> seeds() {
  namespace train = distribute::train;
  train::BundleEntry entry;
  entry.dtype = distribute::io::DataType::Float;
  entry.dims = {2, 3};
  entry.size = 24;
  train::BundleEntry whole = entry;
  whole.slices = {{{0, 2}, {0, -1}}};
  const std::string index = train::encode_bundle_index(
      {}, {{"a", entry}, {"b", whole}, {train::slice_key("b", whole.slices[0]), entry}});
  train::TrackableObjectGraph graph;
  graph.nodes.resize(2);
  graph.nodes[0].children = {{1, "model"}};
  graph.nodes[1].attributes = {{"VARIABLE_VALUE", "w", "w/.ATTRIBUTES/VARIABLE_VALUE", false}};
  train::TableBlockBuilder block(2);
  for (const char* key : {"", "abc", "abd", "abde"}) block.add(key, "value");
  const std::string row = std::string("\0\x06\x08\x01\x1a\x02\x08\x01\x01", 9) + "a" +
                          std::string("\x0a\x08\x01\x12\x02\x12\x00\x35\x01\x02\x03\x04", 12);
  return {
      index,
      row,
      block.finish(),
      distribute::io::frame_record("abc") + distribute::io::frame_record(""),
      std::string("\x1f\x8b\x08\0\0\0\0\0\0\x03\x4b\x4c\x4a\x06\0\xc2\x41\x24\x35\x03\0\0\0", 23),
      train::encode_object_graph(graph),
      "model_checkpoint_path: \"a\\142\"\nlast_preserved_timestamp: 1.5\n",
      distribute::summary::encode_event(
          1.5, 2, {"tag", "scalars", distribute::summary::encode_tensor(0.5f), "text"}),
      distribute::data::encode_example({{"b", distribute::data::BytesList{"x", "yz"}},
                                        {"f", distribute::data::FloatList{1, 2}},
                                        {"i", distribute::data::Int64List{-1, 300}}}),
      small_jpeg(false),
      small_jpeg(true),
      distribute::summary::encode_png(kRow, 1, 4, 3),
      distribute::saving::safetensors::serialize({{"a", distribute::Tensor{1.0f, 2.0f}}}),
      R"({"a":{"dtype":"F32","shape":[2,4],"data_offsets":[0,32]},)"
      R"("b":{"dtype":"BOOL","shape":[32],"data_offsets":[32,64]}})",
      distribute::data::encode_sequence_example(
          {.context = {{"b", distribute::data::BytesList{"x"}}},
           .feature_lists = {{"f", {distribute::data::FloatList{1, 2}}},
                             {"i", {distribute::data::Int64List{-1, 300}, {}}}}}),
      "1,2.5,\"a \"\"b\"\"\nc\",x\r\n-3,4e2,d,\n,\"5\",\"\",\"\"\n"};
}

std::string mutate(std::string bytes, std::mt19937& random) {
  for (int edits = 1 + int(random() % 4); edits > 0; --edits) {
    const size_t at = bytes.empty() ? 0 : random() % bytes.size();
    switch (random() % 5) {
      case 0: bytes.insert(at, 1, char(random())); break;
      case 1: bytes.erase(at, 1 + random() % 8); break;
      case 2: bytes.insert(at, bytes.substr(0, random() % 16)); break;
      case 3: bytes.resize(at); break;
      default:
        if (!bytes.empty()) bytes[at] = char(random() % 3 == 0 ? 0xff : random());
    }
  }
  return bytes;
}

}  // namespace

TEST_CASE("the seeds of the file fuzzers are well formed", "[fuzz][file_formats]") {
  const auto all = seeds();
  namespace train = distribute::train;
  train::BundleHeader header;
  CHECK(train::decode_bundle_index(all[0], "seed", header).size() == 3);
  CHECK(*distribute::io::decompress_gzip(all[4], "seed") == "abc");
  CHECK(train::decode_object_graph(all[5], "seed").nodes.size() == 2);
  CHECK(train::decode_checkpoint_state(all[6], "seed").model_checkpoint_path == "ab");
  CHECK(distribute::summary::decode_event(all[7], "seed").entries.at(0).number == 0.5);
  CHECK(distribute::data::decode_example(all[8], "seed").size() == 3);
  CHECK(distribute::data::decode_sequence_example(all[14], "seed").feature_lists.size() == 2);
  CHECK(distribute::saving::safetensors::deserialize(all[12], "seed").tensors.size() == 1);
  if (distribute::data::has_jpeg())
    CHECK(distribute::data::decode_jpeg(all[10]).shape() == distribute::Shape{20, 17, 3});
  if (distribute::data::has_png())
    CHECK(distribute::data::decode_png(all[11]).to_vector() ==
          std::vector<float>(kRow.begin(), kRow.end()));
}

TEST_CASE("file parsers survive mutated and foreign bytes", "[fuzz][file_formats]") {
  std::mt19937 random(1);
  for (const std::string& seed : seeds()) {
    for (const Parser parser : kParsers) {
      parser(seed);
      for (int round = 0; round < 400; ++round) parser(mutate(seed, random));
    }
  }
  SUCCEED();
}

namespace {

/// FUZZ_ROUNDS gives more rounds, by hand.
int rounds_of_files() {
  const char* asked = std::getenv("FUZZ_ROUNDS");
  return asked ? std::atoi(asked) : 60;
}

/// FUZZ_SEED gives other files, by hand.
std::mt19937 random_of_files() {
  const char* asked = std::getenv("FUZZ_SEED");
  return std::mt19937(asked ? unsigned(std::atoi(asked)) : 1u);
}

std::string keras_file(const std::string& name) {
  return distribute::testing::source_dir() + "/tests/saving/files/" + name;
}

}  // namespace

// Whole files of Keras, as load_model takes them.
TEST_CASE("load_model survives mutated files", "[fuzz][file_formats]") {
  const int rounds = rounds_of_files();
  const TemporaryDirectory directory;
  std::mt19937 random = random_of_files();
  for (const std::string name :
       {"text.h5", "trained_sgd.h5", "trained_adam.keras", "graph.keras"}) {
    const std::string seed = file_text(keras_file(name));
    const std::string path = directory / name;
    for (int round = 0; round < rounds; ++round) {
      std::ofstream(path, std::ios::binary) << mutate(seed, random);
      fuzz::may_refuse([&] { distribute::saving::load_model(path); });
    }
  }
  SUCCEED();
}

// Weights alone, as load_weights takes them: Keras's with and without an optimizer, safetensors in
// one file, and the index of several.
TEST_CASE("load_weights survives mutated files", "[fuzz][file_formats]") {
  namespace saving = distribute::saving;
  const TemporaryDirectory directory;
  const auto text = saving::load_model(keras_file("text.keras"));
  const auto trained = saving::load_model(keras_file("trained_adam.keras"));
  distribute::optim::RMSprop optimizer({.momentum = 0.9f, .centered = true});
  saving::save_weights(*text, directory / "part.safetensors");
  std::string index;
  for (const auto& [name, tensor] :
       saving::safetensors::load_file(directory / "part.safetensors").tensors)
    index += (index.empty() ? "" : ",") + ('"' + name + R"(":"part.safetensors")");
  struct File {
    std::string name, seed;
    distribute::nn::Module& module;
    distribute::optim::Optimizer* optimizer = nullptr;
  };
  const std::vector<File> files = {
      {"text.weights.h5", file_text(keras_file("text.weights.h5")), *text, nullptr},
      {"trained.weights.h5", file_text(keras_file("trained_rmsprop.weights.h5")), *trained,
       &optimizer},
      {"text.safetensors", file_text(directory / "part.safetensors"), *text, nullptr},
      {"text.safetensors.index.json", R"({"metadata":{},"weight_map":{)" + index + "}}", *text,
       nullptr}};
  for (const File& file : files) {
    DYNAMIC_SECTION(file.name) {
      std::mt19937 random = random_of_files();
      const std::string path = directory / file.name;
      const auto load = [&](const std::string& bytes) {
        std::ofstream(path, std::ios::binary) << bytes;
        saving::load_weights(file.module, path, {.optimizer = file.optimizer});
      };
      CHECK_NOTHROW(load(file.seed));
      for (int round = 0; round < rounds_of_files(); ++round) {
        const std::string bytes = mutate(file.seed, random);
        fuzz::may_refuse([&] { load(bytes); });
      }
    }
  }
}
