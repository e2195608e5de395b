#include <tests/fuzz/cluster_parsers.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/source_dir.hpp>

#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

namespace {

/// Texts that the parsers read, and the values of TF_CONFIG that TensorFlow has answered.
std::vector<std::string> seeds() {
  std::vector<std::string> texts = {
      R"({"cluster": {"workerpool0": ["v:1"], "workerpool1": ["w:1"]},
          "task": {"type": "workerpool1", "index": 0}, "job": "{\"a\": [1]}"})",
      R"(["algo-2", "algo-1"])",
      R"({"items": [{"metadata": {"name": "a"}, "status": {"phase": "Running",
          "hostIP": "10.0.0.1", "podIP": "10.0.0.2"}}]})",
      "a=\"b\"\nc=\"d\\\"\\n\"\n",
      "n[1-2],m5,o[3-4,6]\n1(x4)",
      "rack[0-1]node[01-02]-ib\n1",
      "n[0-99999999999]",
      "n[0-9][0-9][0-9][0-9][0-9][0-9]"};
  std::ifstream file(distribute::testing::source_dir() +
                     "/tests/data/cluster/tf_config_answers.json");
  for (const auto& row : nlohmann::json::parse(file))
    if (row["tf_config"].is_string()) texts.push_back(row["tf_config"]);
  return texts;
}

/// Pieces that mean something to one of the parsers.
const char* const kWords[] = {"\"",
                              "{",
                              "}",
                              "[",
                              "]",
                              ",",
                              ":",
                              "\"task\"",
                              "\"0\"",
                              "-1",
                              "1e400",
                              "null",
                              "\\u0000",
                              "\\ud800",
                              "worker",
                              "2147483647",
                              "9999999999999999999999",
                              "(x",
                              ")",
                              "-",
                              "\xff",
                              "\xef\xbb\xbf"};

std::string mutate(std::string text, std::mt19937& random) {
  for (int edits = 1 + int(random() % 4); edits > 0; --edits) {
    const size_t at = text.empty() ? 0 : random() % text.size();
    switch (random() % 6) {
      case 0: text.insert(at, 1, char(random())); break;
      case 1: text.erase(at, 1 + random() % 8); break;
      case 2: text.insert(at, text.substr(text.size() / 2, random() % 24)); break;
      case 3: text.insert(at, kWords[random() % std::size(kWords)]); break;
      case 4:
        if (random() % 4 == 0) text.resize(at);
        break;
      default:
        if (!text.empty()) text[at] = char(random());
    }
  }
  return text;
}

}  // namespace

TEST_CASE("parsers of clusters survive mutated and foreign text", "[fuzz][tf_config]") {
  std::mt19937 random(1);
  const std::vector<std::string> texts = seeds();
  REQUIRE(texts.size() > 100);
  for (const std::string& seed : texts)
    for (const fuzz::ClusterParser parser : fuzz::kClusterParsers) {
      parser(seed);
      for (int round = 0; round < 30; ++round) parser(mutate(seed, random));
    }
  SUCCEED();
}

TEST_CASE("parsers of clusters survive hostile sizes", "[fuzz][tf_config]") {
  std::string nested, keys = "{\"cluster\": {\"worker\": {";
  for (int i = 0; i < 200'000; ++i) nested += i % 2 ? "{\"a\":" : "[";
  for (int i = 0; i < 20'000; ++i) keys += (i ? ",\"" : "\"") + std::to_string(i) + "\": \"a:1\"";
  const std::string hostile[] = {nested,
                                 keys + "}}}",
                                 std::string(1 << 20, '['),
                                 "\"" + std::string(1 << 20, 'x') + "\"",
                                 std::string(1 << 20, '9'),
                                 std::string(1 << 20, '\0'),
                                 "n[0-99999]" + std::string(1 << 16, 'y'),
                                 std::string(1 << 16, ',')};
  for (const std::string& text : hostile)
    for (const fuzz::ClusterParser parser : fuzz::kClusterParsers) parser(text);
  SUCCEED();
}
