#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/io/tfrecord.hpp>
#include <distribute/summary/file_writer.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/shared_data.hpp>
#include <tests/support/temporary_directory.hpp>

using namespace distribute;
using summary::GraphNode;

TEST_CASE("a graph comes back from its file", "[summary][graph]") {
  const std::vector<GraphNode> nodes{{.name = "input", .op = "Placeholder"},
                                     {.name = "conv/kernel",
                                      .op = "VariableV2",
                                      .output_shape = {3, 3, 1, 8},
                                      .has_output_shape = true},
                                     {.name = "conv/Conv2D",
                                      .op = "Conv2D",
                                      .inputs = {"input", "conv/kernel"},
                                      .output_shape = {-1, 26, 26, 8},
                                      .has_output_shape = true}};
  const TemporaryDirectory directory;
  const auto writer = summary::create_file_writer(directory.path());
  CHECK_FALSE(summary::graph(nodes));  // no writer in scope
  {
    const auto scope = writer.as_default();
    CHECK(summary::graph(nodes, 3));
  }
  writer.close();
  auto reader = value_or_throw(io::RecordReader::open(writer.path()));
  std::string record;
  value_or_throw(reader.next(record));
  REQUIRE(value_or_throw(reader.next(record)));
  const summary::Event event = summary::decode_event(record, writer.path());
  CHECK(event.step == 3);
  const auto read = summary::decode_graph(event.graph_def, "here");
  REQUIRE(read.size() == nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    CHECK(read[i].name == nodes[i].name);
    CHECK(read[i].op == nodes[i].op);
    CHECK(read[i].inputs == nodes[i].inputs);
    CHECK(read[i].has_output_shape == nodes[i].has_output_shape);
    CHECK(read[i].output_shape == nodes[i].output_shape);
  }
}

TEST_CASE("graphs that TensorBoard could not draw are refused", "[summary][graph]") {
  const std::vector<GraphNode> twice{{.name = "a", .op = "x"}, {.name = "a", .op = "y"}};
  CHECK_THROWS_SAYING(summary::encode_graph(twice), InvalidArgumentError, "'a'");
  const std::vector<GraphNode> unknown{{.name = "a", .op = "x", .inputs = {"b"}}};
  CHECK_THROWS_SAYING(summary::encode_graph(unknown), InvalidArgumentError, "'b'");
  CHECK_THROWS_AS(summary::decode_graph("\x0a\xff", "here"), DataLossError);
}

TEST_CASE("the graph of TensorFlow's own event file is read", "[summary][graph]") {
  const auto folder = shared_data("tf_files");
  if (!folder) SKIP("the files of TensorFlow are not there");
  size_t nodes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(*folder + "/events")) {
    if (entry.path().string().find("tfevents") == std::string::npos) continue;
    auto reader = value_or_throw(io::RecordReader::open(entry.path()));
    for (std::string record; value_or_throw(reader.next(record));) {
      const auto event = summary::decode_event(record, entry.path());
      if (event.graph_def.empty()) continue;
      for (const GraphNode& node : summary::decode_graph(event.graph_def, entry.path())) {
        CHECK_FALSE(node.name.empty());
        CHECK_FALSE(node.op.empty());
        ++nodes;
      }
    }
  }
  CHECK(nodes > 0);
}
