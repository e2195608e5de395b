#include <distribute/data/example.hpp>

#include <distribute/base/status.hpp>
#include <distribute/io/protobuf.hpp>
#include <distribute/io/tfrecord.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/shared_data.hpp>

#include <nlohmann/json.hpp>

using namespace distribute;
using namespace distribute::data;

namespace {

std::string hex(std::string_view bytes) {
  std::string text;
  for (unsigned char byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

const Features kFeatures = {
    {"b", BytesList{"xy", ""}}, {"f", FloatList{1.5f, -2}}, {"i", Int64List{7, -1}}, {"e", {}}};

/// An Example with one feature of these encoded fields.
std::string example_of(const std::string& name, const io::ProtoWriter& feature) {
  io::ProtoWriter entry, features, example;
  entry.bytes(1, name);
  entry.message(2, feature);
  features.message(1, entry);
  example.message(1, features);
  return example.take();
}

std::vector<int64_t> integers(const ParsedExample& parsed, const std::string& name) {
  const auto values = parsed.at(name).values.data<int64_t>();
  return {values.begin(), values.end()};
}

}  // namespace

TEST_CASE("examples are written byte by byte as TensorFlow writes them", "[data][example]") {
  // tf.train.Example(...).SerializeToString(deterministic=True), TensorFlow 2.21
  CHECK(hex(encode_example(kFeatures)) ==
        "0a3f0a0d0a016212080a060a0278790a000a050a016512000a110a0166120c120a0a080000c03f000000c00a14"
        "0a0169120f1a0d0a0b07ffffffffffffffffff01");
  CHECK(decode_example(encode_example(kFeatures), "here") == kFeatures);
  CHECK(decode_example("", "here").empty());
}

TEST_CASE("examples that TensorFlow wrote are read", "[data][example]") {
  const auto folder = shared_data("tf_files/tfrecord");
  if (!folder) SKIP("no reference data");
  const auto listing = nlohmann::json::parse(std::ifstream(*folder + "/records.json"))["examples"];
  auto reader = value_or_throw(io::RecordReader::open(*folder + "/plain.tfrecord"));
  size_t count = 0;
  for (std::string record; value_or_throw(reader.next(record)); ++count) {
    const Features features = decode_example(record, "record");
    const auto& wanted = listing[count]["features"];
    REQUIRE(features.size() == wanted.size());
    for (const auto& [name, feature] : features) {
      INFO(count << " " << name);
      if (const auto* list = std::get_if<Int64List>(&feature))
        CHECK(*list == wanted[name]["int64"].get<Int64List>());
      if (const auto* list = std::get_if<FloatList>(&feature))
        CHECK(*list == wanted[name]["float"].get<FloatList>());
      if (const auto* list = std::get_if<BytesList>(&feature)) {
        std::vector<std::string> texts;
        for (const std::string& bytes : *list) texts.push_back(hex(bytes));
        CHECK(texts == wanted[name]["bytes_hex"].get<std::vector<std::string>>());
      }
    }
  }
  CHECK(count == listing.size());
}

TEST_CASE("fixed features have their shape, variable ones their length", "[data][example]") {
  const std::string record = encode_example(kFeatures);
  const auto parsed = parse_single_example(record,
                                           {{"b", fixed_len_feature(FeatureKind::Bytes, {2})},
                                            {"f", fixed_len_feature(FeatureKind::Float, {1, 2})},
                                            {"i", var_len_feature(FeatureKind::Int64)},
                                            {"absent", var_len_feature(FeatureKind::Float)}},
                                           "here");
  CHECK(parsed.at("b").bytes == std::vector<std::string_view>{"xy", ""});
  CHECK(parsed.at("f").values.shape() == Shape{1, 2});
  CHECK(parsed.at("f").values.to_vector() == std::vector<float>{1.5f, -2});
  CHECK(integers(parsed, "i") == std::vector<int64_t>{7, -1});
  CHECK(parsed.at("absent").values.shape() == Shape{0});
}

TEST_CASE("batches of examples stack fixed features and count variable ones", "[data][example]") {
  const std::string a = encode_example({{"n", Int64List{1}}, {"v", FloatList{1, 2}}});
  const std::string b = encode_example({{"n", Int64List{5}}});
  const std::string_view records[] = {a, b};
  const FeatureSpecs specs = {{"n", fixed_len_feature(FeatureKind::Int64)},
                              {"v", var_len_feature(FeatureKind::Float)}};
  const auto parsed = parse_example(records, specs, "here");
  CHECK(parsed.at("n").values.shape() == Shape{2});
  CHECK(integers(parsed, "n") == std::vector<int64_t>{1, 5});
  CHECK(parsed.at("v").values.to_vector() == std::vector<float>{1, 2});
  CHECK(parsed.at("v").row_lengths.to_vector() == std::vector<float>{2, 0});
  const FeatureSpecs more = {{"v", fixed_len_feature(FeatureKind::Float, {2})}};
  CHECK_THROWS_SAYING(parse_example(records, more, "here"), InvalidArgumentError,
                      "here, example 1: feature \"v\"");
}

TEST_CASE("a default stands in for a feature that is missing or has no kind", "[data][example]") {
  const FeatureSpecs specs = {
      {"e", fixed_len_feature(FeatureKind::Int64, {2}, Int64List{3, 4})},
      {"absent", fixed_len_feature(FeatureKind::Bytes, {}, BytesList{"none"})}};
  const auto parsed = parse_single_example(encode_example(kFeatures), specs, "here");
  CHECK(integers(parsed, "e") == std::vector<int64_t>{3, 4});
  CHECK(parsed.at("absent").bytes[0] == "none");
  CHECK_THROWS_AS(
      parse_single_example("", {{"e", fixed_len_feature(FeatureKind::Int64, {2}, Int64List{3})}},
                           "here"),
      InvalidArgumentError);
  CHECK_THROWS_AS(parse_single_example(
                      "", {{"e", fixed_len_feature(FeatureKind::Int64, {}, FloatList{3})}}, "here"),
                  InvalidArgumentError);
}

TEST_CASE("a wrong spec says what was wanted, what came and where", "[data][example]") {
  const std::string record = encode_example(kFeatures);
  const auto parse = [&](const std::string& name, const FeatureSpec& spec) {
    parse_single_example(record, {{name, spec}}, "x.tfrecord, record 3");
  };
  CHECK_THROWS_SAYING(
      parse("absent", fixed_len_feature(FeatureKind::Bytes)), InvalidArgumentError,
      "x.tfrecord, record 3: feature \"absent\": wanted bytes [], but the example has no such");
  CHECK_THROWS_SAYING(parse("f", fixed_len_feature(FeatureKind::Int64)), InvalidArgumentError,
                      "feature \"f\": wanted int64 [], found a list of float");
  CHECK_THROWS_SAYING(parse("i", fixed_len_feature(FeatureKind::Int64, {3})), InvalidArgumentError,
                      "feature \"i\": wanted int64 [3], which is 3 values, found 2");
  CHECK_THROWS_SAYING(parse("f", var_len_feature(FeatureKind::Bytes)), InvalidArgumentError,
                      "wanted bytes values, found a list of float");
}

TEST_CASE("lists may be unpacked, and the last of equal names counts", "[data][example]") {
  io::ProtoWriter integers_list, floats_list, feature, other;
  for (int64_t value : {5, -6}) integers_list.integer(1, value);
  feature.message(3, integers_list);
  const auto parsed = parse_single_example(
      example_of("i", feature), {{"i", fixed_len_feature(FeatureKind::Int64, {2})}}, "here");
  CHECK(integers(parsed, "i") == std::vector<int64_t>{5, -6});
  for (float value : {1.5f, 2.5f}) floats_list.float32(1, value);
  other.message(2, floats_list);
  const std::string twice = example_of("i", feature) + example_of("i", other);
  const auto last =
      parse_single_example(twice, {{"i", var_len_feature(FeatureKind::Float)}}, "here");
  CHECK(last.at("i").values.to_vector() == std::vector<float>{1.5f, 2.5f});
}

TEST_CASE("bytes that are no example are refused", "[data][example]") {
  const std::string record = encode_example(kFeatures);
  for (const std::string& bytes :
       {std::string("\x0a\xff"), std::string("\x0b"), record.substr(0, record.size() - 1)})
    CHECK_THROWS_SAYING(decode_example(bytes, "x, record 1"), DataLossError,
                        "x, record 1: not a tf.train.Example");
}
