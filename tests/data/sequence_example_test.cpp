// Against TensorFlow 2.21: tests/comparison/dataset_cases.py.
#include <distribute/data/example.hpp>

#include <tests/data/dataset_cases.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>

using namespace distribute;
using namespace distribute::data;

namespace {

SequenceExample long_one() {
  return {.context = {{"n", Int64List{3}}, {"t", BytesList{"hi"}}},
          .feature_lists = {{"tok", {Int64List{1}, Int64List{2}, Int64List{3}}},
                            {"w", {FloatList{0.5f, 1.5f}, FloatList{2.5f, 3.5f}}},
                            {"s", {BytesList{"x"}, BytesList{"yz"}}},
                            {"v", {Int64List{1, 2}, Int64List{}, Int64List{3}}}}};
}

SequenceExample short_one() {
  return {.context = {{"n", Int64List{1}}},
          .feature_lists = {{"tok", {Int64List{9}}}, {"w", {}}, {"s", {}}, {"v", {}}}};
}

FeatureSpecs context() {
  return {{"n", fixed_len_feature(FeatureKind::Int64)},
          {"t", fixed_len_feature(FeatureKind::Bytes, {}, BytesList{"none"})}};
}

SequenceFeatureSpecs lists() {
  return {{"tok", fixed_len_sequence_feature(FeatureKind::Int64)},
          {"s", fixed_len_sequence_feature(FeatureKind::Bytes)},
          {"w", fixed_len_sequence_feature(FeatureKind::Float, {2})},
          {"v", var_len_sequence_feature(FeatureKind::Int64)}};
}

std::string hex(const std::string& bytes) {
  std::string text;
  for (const char c : bytes)
    for (const int digit : {(c >> 4) & 15, c & 15}) text += "0123456789abcdef"[digit];
  return text;
}

/// As dataset_cases.py prints it. Texts have the shape [batch, steps], or [steps].
nlohmann::json as_case(const ParsedSequenceExample& parsed, int64_t batch = 0) {
  nlohmann::json result;
  for (const auto& [name, feature] : parsed.context) {
    if (feature.values)
      result[name] = as_json(feature.values);
    else if (batch == 0)
      result[name] = feature.bytes.at(0);
    else
      result[name] = feature.bytes;
  }
  for (const auto& [name, list] : parsed.feature_lists) {
    nlohmann::json& all = result[name];
    if (list.values) {
      all["values"] = as_json(list.values);
    } else if (batch == 0) {
      all["values"] = list.bytes;
    } else {
      const size_t steps = list.bytes.size() / size_t(batch);
      for (int64_t row = 0; row < batch; ++row)
        all["values"].push_back(
            std::vector<std::string_view>(list.bytes.begin() + int64_t(steps) * row,
                                          list.bytes.begin() + int64_t(steps) * (row + 1)));
    }
    if (list.row_lengths) all["row_lengths"] = as_json(list.row_lengths);
    if (list.lengths && !list.row_lengths) all["lengths"] = as_json(list.lengths);
  }
  return result;
}

}  // namespace

TEST_CASE("sequence examples have TensorFlow's bytes", "[data][sequence_example]") {
  const auto wanted = tensorflow_case("sequence bytes");
  CHECK(hex(encode_sequence_example(long_one())) == wanted[0]);
  CHECK(hex(encode_sequence_example(short_one())) == wanted[1]);
  for (const SequenceExample& example : {long_one(), short_one()}) {
    const SequenceExample back =
        decode_sequence_example(encode_sequence_example(example), "a record");
    CHECK(back.context == example.context);
    CHECK(back.feature_lists == example.feature_lists);
  }
}

TEST_CASE("parsed sequence examples are TensorFlow's", "[data][sequence_example]") {
  const std::string a = encode_sequence_example(long_one()),
                    b = encode_sequence_example(short_one());
  CHECK(as_case(parse_single_sequence_example(a, context(), lists(), "a")) ==
        tensorflow_case("sequence a"));
  CHECK(as_case(parse_single_sequence_example(b, context(), lists(), "b")) ==
        tensorflow_case("sequence b"));
  const std::vector<std::string_view> both = {a, b};
  const auto specs = context();  // default bytes are views into it
  const auto batch = parse_sequence_example(both, specs, lists(), "both");
  CHECK(as_case(batch, 2) == tensorflow_case("sequence batch"));
  CHECK(as_json(batch.feature_lists.at("v").lengths) == nlohmann::json({3, 0}));
}

TEST_CASE("lists that do not fit are refused, with the step", "[data][sequence_example]") {
  const std::string record = encode_sequence_example(long_one());
  const auto parse = [&](const std::string& name, SequenceFeatureSpec spec) {
    return as_case(parse_single_sequence_example(record, {}, {{name, std::move(spec)}}, "r.tf"));
  };
  const auto refused = [](const char* name) {
    return tensorflow_case(str_cat("sequence ", name)) ==
           nlohmann::json{{"error", "InvalidArgumentError"}};
  };
  CHECK(refused("missing list"));
  CHECK_THROWS_SAYING(parse("zz", fixed_len_sequence_feature(FeatureKind::Int64)),
                      InvalidArgumentError, "r.tf: feature list \"zz\" is required");
  CHECK(parse("zz", fixed_len_sequence_feature(FeatureKind::Int64, {2}, true)) ==
        tensorflow_case("sequence missing list allowed"));
  CHECK(refused("other kind"));
  CHECK_THROWS_SAYING(parse("tok", fixed_len_sequence_feature(FeatureKind::Float)),
                      InvalidArgumentError,
                      "feature list \"tok\", step 0: wanted float [], found a list of int64");
  CHECK(refused("other size"));
  CHECK_THROWS_AS(parse("w", fixed_len_sequence_feature(FeatureKind::Float, {3})),
                  InvalidArgumentError);
  CHECK(refused("unequal steps"));
  CHECK_THROWS_SAYING(parse("v", fixed_len_sequence_feature(FeatureKind::Int64)),
                      InvalidArgumentError, "step 0: wanted int64 [], which is 1 values, found 2");
  CHECK_THROWS_AS(decode_sequence_example("\xff\xff", "r.tf"), DataLossError);
  CHECK_THROWS_AS(parse_sequence_example({}, {}, {}, "r.tf"), InvalidArgumentError);
}
