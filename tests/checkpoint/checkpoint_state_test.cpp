#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/checkpoint/bundle.hpp>
#include <distribute/checkpoint/checkpoint_state.hpp>
#include <distribute/checkpoint/detail/object_graph.hpp>
#include <distribute/io/file_system.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/temporary_directory.hpp>

#include <fstream>

using namespace distribute;
using namespace distribute::train;
using Catch::Matchers::Contains;

namespace {

void write(const std::string& path, std::string_view text) {
  throw_if_error(io::write_file_atomically(path, text));
}

std::string error_of(const std::string& text) {
  try {
    decode_checkpoint_state(text, "dir/checkpoint");
  } catch (const DataLossError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("the state file has TensorFlow's text", "[checkpoint][state]") {
  const CheckpointState state{.model_checkpoint_path = "ckpt-3",
                              .all_model_checkpoint_paths = {"ckpt-2", "ckpt-3"},
                              .all_model_checkpoint_timestamps = {1700000000.25, 1700000001},
                              .last_preserved_timestamp = 1699999999.0};
  const std::string text =
      "model_checkpoint_path: \"ckpt-3\"\n"
      "all_model_checkpoint_paths: \"ckpt-2\"\n"
      "all_model_checkpoint_paths: \"ckpt-3\"\n"
      "all_model_checkpoint_timestamps: 1700000000.25\n"
      "all_model_checkpoint_timestamps: 1700000001.0\n"
      "last_preserved_timestamp: 1699999999.0\n";
  CHECK(encode_checkpoint_state(state) == text);
  const CheckpointState back = decode_checkpoint_state(text, "checkpoint");
  CHECK(back.model_checkpoint_path == state.model_checkpoint_path);
  CHECK(back.all_model_checkpoint_paths == state.all_model_checkpoint_paths);
  CHECK(back.all_model_checkpoint_timestamps == state.all_model_checkpoint_timestamps);
  CHECK(back.last_preserved_timestamp == state.last_preserved_timestamp);
}

TEST_CASE("odd paths survive the state file", "[checkpoint][state]") {
  for (const std::string path : {"with \"quotes\"", "back\\slash",
                                 "gr\xc3\xbc\xc3\x9f"
                                 "e1",
                                 "tab\tand\nline", "o'clock", "/abs/path",
                                 "\x01"
                                 "7"}) {
    const std::string text = encode_checkpoint_state({.model_checkpoint_path = path,
                                                      .all_model_checkpoint_paths = {},
                                                      .all_model_checkpoint_timestamps = {},
                                                      .last_preserved_timestamp = {}});
    CHECK(decode_checkpoint_state(text, "checkpoint").model_checkpoint_path == path);
  }
}

TEST_CASE("text format's freedoms are understood", "[checkpoint][state]") {
  const std::string text =
      "# comment\nmodel_checkpoint_path : 'ck' \"pt\\x2d1\\0601\" ;all_model_checkpoint_paths:"
      "\"a\", all_model_checkpoint_timestamps: 5 last_preserved_timestamp: -1e3 # end";
  const CheckpointState state = decode_checkpoint_state(text, "checkpoint");
  CHECK(state.model_checkpoint_path == "ckpt-101");
  CHECK(state.all_model_checkpoint_paths == std::vector<std::string>{"a"});
  CHECK(state.all_model_checkpoint_timestamps == std::vector<double>{5});
  CHECK(state.last_preserved_timestamp == -1000.0);
}

TEST_CASE("a damaged state file is an error with file and line", "[checkpoint][state]") {
  CHECK(error_of("").find("dir/checkpoint:1") == 0);
  CHECK(error_of("model_checkpoint_path: \"\"").find("missing or empty") != std::string::npos);
  CHECK(error_of("\nmodel_checkpoint_path: \"a").find("dir/checkpoint:2") == 0);
  CHECK(error_of("model_checkpoint_path: a").find("quoted") != std::string::npos);
  CHECK(error_of("model_checkpoint_path \"a\"").find("':'") != std::string::npos);
  CHECK(error_of("other: 3").find("unknown field other") != std::string::npos);
  CHECK(error_of("last_preserved_timestamp: x").find("number") != std::string::npos);
  CHECK(error_of("model_checkpoint_path: \"\\q\"").find("escape") != std::string::npos);
  CHECK(error_of("model_checkpoint_path: \"\\").find("ends inside") != std::string::npos);
  CHECK(error_of(std::string("\0\xff", 2)).find("field name") != std::string::npos);
}

TEST_CASE("the newest checkpoint of a directory is found, relative or not", "[checkpoint][state]") {
  const TemporaryDirectory directory;
  CHECK_FALSE(get_checkpoint_state(directory.path()));
  CHECK_FALSE(latest_checkpoint(directory / "missing"));
  update_checkpoint_state(directory.path(),
                          {.model_checkpoint_path = directory / "ckpt-1",
                           .all_model_checkpoint_paths = {directory / "ckpt-1", "/other/ckpt-0"},
                           .all_model_checkpoint_timestamps = {},
                           .last_preserved_timestamp = {}});
  CHECK(value_or_throw(io::read_file(directory / "checkpoint")) ==
        "model_checkpoint_path: \"ckpt-1\"\n"
        "all_model_checkpoint_paths: \"ckpt-1\"\n"
        "all_model_checkpoint_paths: \"/other/ckpt-0\"\n");
  CHECK(get_checkpoint_state(directory.path())->model_checkpoint_path == directory / "ckpt-1");
  CHECK(get_checkpoint_state(directory.path())->all_model_checkpoint_paths[1] == "/other/ckpt-0");
  CHECK_FALSE(latest_checkpoint(directory.path()));  // no index file yet
  BundleWriter(directory / "ckpt-1").finish();
  CHECK(latest_checkpoint(directory.path()) == directory / "ckpt-1");
  write(directory / "checkpoint", "damaged");
  CHECK_THROWS_AS(latest_checkpoint(directory.path()), DataLossError);
}

TEST_CASE("a checkpoint that is not where the state file says is found beside the file",
          "[checkpoint][state]") {
  const TemporaryDirectory directory;
  std::ofstream(directory / "ckpt-5.index") << "x";
  std::ofstream(directory / "ckpt-4.index") << "x";
  const std::string here = directory / "ckpt-5";
  // Not s3://: that would ask the real store, and it would stay the store of this process.
  for (const char* named : {"/home/other/run/ckpt-5", "run/ckpt-5", "C:\\\\run\\\\ckpt-5",
                            "ram://of-another-program/run/ckpt-5", "../run/ckpt-5"}) {
    INFO(named);
    std::ofstream(directory / "checkpoint")
        << "model_checkpoint_path: \"" << named << "\"\n"
        << "all_model_checkpoint_paths: \"/home/other/run/ckpt-4\"\n"
        << "all_model_checkpoint_paths: \"" << named << "\"\n";
    const auto state = train::get_checkpoint_state(directory.path());
    REQUIRE(state);
    CHECK(state->model_checkpoint_path == here);
    CHECK(state->moved_from.ends_with("ckpt-5"));
    CHECK(state->all_model_checkpoint_paths ==
          std::vector<std::string>{directory / "ckpt-4", here});
    CHECK(train::latest_checkpoint(directory.path()) == here);
  }
  std::ofstream(directory / "checkpoint") << "model_checkpoint_path: \"ckpt-5\"\n";
  CHECK(train::get_checkpoint_state(directory.path())->moved_from == "");
}

TEST_CASE("why there is no newest checkpoint is told with a cure", "[checkpoint][state]") {
  const TemporaryDirectory directory;
  const auto why = [&] { return train::why_no_checkpoint(directory.path()); };
  CHECK_THAT(why(), Contains("the directory has no checkpoint"));
  for (const char* name : {"ckpt-10.index", "ckpt-9.index", "weights.index"})
    std::ofstream(directory / name) << "x";
  CHECK_THAT(why(), Contains("has checkpoints, but no file `checkpoint`") &&
                        Contains("write `model_checkpoint_path: \"ckpt-10\"`"));
  std::ofstream(directory / "checkpoint") << "model_checkpoint_path: \"/gone/ckpt-11\"\n";
  CHECK(train::latest_checkpoint(directory.path()) == std::nullopt);
  CHECK_THAT(why(), Contains("names /gone/ckpt-11, which is not there") &&
                        Contains("write `model_checkpoint_path: \"ckpt-10\"`"));
}

TEST_CASE("object graphs survive a round trip", "[checkpoint][object_graph]") {
  TrackableObjectGraph graph;
  graph.nodes.resize(4);
  graph.nodes[0].children = {{1, "model"}, {2, "optimizer"}};
  graph.nodes[0].has_checkpoint_values = true;
  graph.nodes[1].attributes = {{"VARIABLE_VALUE", "w", "model/.ATTRIBUTES/VARIABLE_VALUE", true}};
  graph.nodes[2].slot_variables = {{1, "momentum", 3}};
  graph.nodes[2].has_checkpoint_values = false;
  graph.nodes[3].registered_saver = {"saver", "object"};
  const std::string bytes = encode_object_graph(graph);
  CHECK(decode_object_graph(bytes, "test") == graph);
  graph.nodes[0].children[0].node_id = 4;
  CHECK_THROWS_AS(decode_object_graph(encode_object_graph(graph), "test"), DataLossError);
  for (size_t size = 0; size < bytes.size(); ++size) {
    try {
      decode_object_graph(bytes.substr(0, size), "test");
    } catch (const DataLossError&) {
    }
  }
}

TEST_CASE("keys of objects are TensorFlow's", "[checkpoint][object_graph]") {
  CHECK(escape_local_name("x.y/z") == "x..y.Sz");
  CHECK(object_key("model/conv1/kernel") == "model/conv1/kernel/.ATTRIBUTES/VARIABLE_VALUE");
  CHECK(object_key("save_counter") == "save_counter/.ATTRIBUTES/VARIABLE_VALUE");
  CHECK(object_key(slot_path("model/w", "optimizer", "momentum")) ==
        "model/w/.OPTIMIZER_SLOT/optimizer/momentum/.ATTRIBUTES/VARIABLE_VALUE");
}
