#include <distribute/base/status.hpp>
#include <distribute/checkpoint/bundle.hpp>
#include <distribute/checkpoint/checkpoint_state.hpp>
#include <distribute/checkpoint/detail/object_graph.hpp>
#include <distribute/io/compression.hpp>
#include <distribute/io/file_system.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/shared_data.hpp>
#include <tests/support/source_dir.hpp>
#include <tests/support/temporary_directory.hpp>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

using namespace distribute;
using namespace distribute::train;
using nlohmann::json;

namespace {

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    char digits[3];
    std::snprintf(digits, sizeof(digits), "%02x", unsigned(uint8_t(c)));
    text += digits;
  }
  return text;
}

/// The listing's crc32c: of the little-endian bytes, as eight hex digits.
std::string crc_text(const std::vector<std::byte>& bytes) {
  char text[9];
  std::snprintf(text, sizeof(text), "%08x",
                io::crc32c({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  return text;
}

/// Reads every tensor of a checkpoint and compares it with its listing.
void check_tensors(const std::string& prefix, const json& tensors) {
  INFO(prefix);
  BundleReader reader(prefix);
  CHECK(reader.keys().size() == tensors.size());
  for (const json& tensor : tensors) {
    const std::string key = tensor["name"];
    INFO(key);
    const BundleEntry& entry = reader.entry(key);
    CHECK(io::name_of(entry.dtype) == tensor["dtype"].get<std::string>());
    CHECK(entry.dims == tensor["shape"].get<std::vector<int64_t>>());
    if (entry.dtype == io::DataType::String) {
      const auto values = reader.read_strings(key);
      if (!tensor.contains("values_hex")) continue;
      std::vector<std::string> values_hex;
      for (const std::string& value : values) values_hex.push_back(hex(value));
      CHECK(values_hex == tensor["values_hex"].get<std::vector<std::string>>());
    } else {
      const auto bytes = reader.read(key);
      CHECK(bytes.size() == tensor["bytes"].get<size_t>());
      CHECK(crc_text(bytes) == tensor["crc32c"].get<std::string>());
    }
  }
}

std::string read(const std::string& path) { return value_or_throw(io::read_file(path)); }

/// Writes what a one-shard checkpoint holds again, tensors in the order of their bytes.
void rewrite(const std::string& from, const std::string& to) {
  BundleReader reader(from);
  std::vector<std::pair<int64_t, std::string>> order;
  std::map<std::string, std::pair<std::string, TensorSlice>> slices;  // slice key -> tensor, slice
  for (const std::string& key : reader.keys()) {
    const BundleEntry& entry = reader.entry(key);
    if (entry.slices.empty()) order.emplace_back(entry.offset, key);
    for (const TensorSlice& slice : entry.slices) {
      const std::string part = slice_key(key, slice);
      slices[part] = {key, slice};
      order.emplace_back(reader.entry(part).offset, part);
    }
  }
  // Empty tensors share their offset with the next one; TensorFlow's order is by name.
  std::sort(order.begin(), order.end());
  BundleWriter writer(to);
  for (const auto& [offset, key] : order) {
    const BundleEntry& entry = reader.entry(key);
    if (is_slice_key(key)) {
      const auto& [name, slice] = slices.at(key);
      writer.add_slice(name, entry.dtype, reader.entry(name).dims, slice, reader.read(key));
    } else if (entry.dtype == io::DataType::String) {
      writer.add_strings(key, entry.dims, reader.read_strings(key));
    } else {
      writer.add(key, entry.dtype, entry.dims, reader.read(key));
    }
  }
  writer.finish();
}

}  // namespace

TEST_CASE("the bundled checkpoints of TensorFlow hold what their listings say",
          "[checkpoint][bundle]") {
  for (const char* name : {"dtypes", "partitioned_shards", "ps_partitioned"}) {
    const std::string directory = distribute::testing::source_dir() + "/tests/data/bundle/" + name;
    const json listing = json::parse(std::ifstream(directory + "/tensors.json"));
    check_tensors(directory + "/" + listing["prefix"].get<std::string>(), listing["tensors"]);
  }
}

TEST_CASE("checkpoints that TensorFlow wrote hold what it says", "[checkpoint][bundle]") {
  const auto folder = shared_data("tf_files");
  if (!folder) SKIP("no reference data");
  for (const char* name : {"dtypes", "keras", "tf1_saver", "shards", "partitioned",
                           "partitioned_shards", "ps_partitioned"}) {
    const std::string directory = *folder + "/checkpoint_" + name;
    const json listing = json::parse(std::ifstream(directory + "/tensors.json"));
    check_tensors(directory + "/" + listing["prefix"].get<std::string>(), listing["tensors"]);
  }
  const std::string directory = *folder + "/checkpoint_manager";
  const json listing = json::parse(std::ifstream(directory + "/tensors.json"));
  for (const auto& [prefix, tensors] : listing["checkpoints"].items()) {
    check_tensors(directory + "/" + prefix, tensors);
  }
  BundleReader(*folder + "/saved_model/variables/variables").verify();
}

TEST_CASE("a TensorFlow index of several blocks is read", "[checkpoint][bundle]") {
  const auto folder = shared_data("tf_files/checkpoint_many_keys");
  if (!folder) SKIP("no reference data");
  BundleReader reader(*folder + "/many");
  const auto keys = reader.keys();
  REQUIRE(keys.size() == 12'000);
  CHECK(keys.front() == "net/layer_0000/bias");
  CHECK(keys.back() == "net/layer_5999/kernel");
  bool equal = true;
  for (size_t i = 0; i < keys.size(); ++i) {
    equal &= reader.read_values<float>(keys[i]) == std::vector<float>{float(i)};
  }
  CHECK(equal);
}

TEST_CASE("TensorFlow's checkpoints written again are the same bytes", "[checkpoint][bundle]") {
  const auto folder = shared_data("tf_files");
  if (!folder) SKIP("no reference data");
  const TemporaryDirectory directory;
  const std::string copy = directory / "copy";
  for (const char* name :
       {"checkpoint_dtypes/all", "checkpoint_keras/ckpt-1", "checkpoint_manager/ckpt-5",
        "checkpoint_many_keys/many", "checkpoint_tf1_saver/model.ckpt-2",
        "checkpoint_partitioned/model.ckpt", "saved_model/variables/variables"}) {
    INFO(name);
    const std::string original = *folder + "/" + name;
    rewrite(original, copy);
    for (const char* suffix : {".data-00000-of-00001", ".index"}) {
      CHECK((read(original + suffix) == read(copy + suffix)));
    }
  }
}

TEST_CASE("TensorFlow's object graphs are read and written alike", "[checkpoint][object_graph]") {
  const auto folder = shared_data("tf_files");
  if (!folder) SKIP("no reference data");
  for (const char* name : {"checkpoint_keras/ckpt-1", "checkpoint_manager/ckpt-5",
                           "checkpoint_ps_partitioned/ckpt-1", "saved_model/variables/variables"}) {
    INFO(name);
    BundleReader reader(*folder + "/" + name);
    const std::string bytes = reader.read_string(kObjectGraphKey);
    const TrackableObjectGraph graph = decode_object_graph(bytes, name);
    CHECK(encode_object_graph(graph) == bytes);
    // Every tensor but the graph itself is some object's attribute.
    std::set<std::string> keys = {kObjectGraphKey};
    for (const TrackableObject& node : graph.nodes) {
      for (const SerializedTensor& tensor : node.attributes) keys.insert(tensor.checkpoint_key);
    }
    for (const std::string& key : reader.keys()) CHECK(keys.count(key) == 1);
  }
}

TEST_CASE("TensorFlow's state files are read and written alike", "[checkpoint][state]") {
  const auto folder = shared_data("tf_files");
  if (!folder) SKIP("no reference data");
  for (const char* name : {"manager", "keras", "tf1_saver", "shards", "partitioned"}) {
    const std::string directory = *folder + "/checkpoint_" + name;
    const std::string text = read(directory + "/checkpoint");
    CHECK(encode_checkpoint_state(decode_checkpoint_state(text, "checkpoint")) == text);
    CHECK(latest_checkpoint(directory).has_value());
  }
  const std::string directory = *folder + "/checkpoint_manager";
  CHECK(latest_checkpoint(directory) == directory + "/ckpt-5");
  const auto state = get_checkpoint_state(directory);
  REQUIRE(state);
  CHECK(state->all_model_checkpoint_paths[0] == directory + "/ckpt-3");
  CHECK(state->all_model_checkpoint_timestamps.size() == 3);
  CHECK(*state->last_preserved_timestamp == 1795241948.7220523);
}
