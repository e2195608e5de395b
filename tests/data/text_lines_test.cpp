// Against TensorFlow: sequences/answers.json.
#include <distribute/data/files.hpp>

#include <distribute/data/distribute_options.hpp>
#include <distribute/data/grouping.hpp>

#include <tests/data/sequences/sequence_answers.hpp>
#include <tests/data/write_file.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/temporary_directory.hpp>

using namespace distribute;
using namespace distribute::data;

TEST_CASE("lines end as in TensorFlow", "[data][text_lines]") {
  const TemporaryDirectory root;
  const std::string_view text = "a\rb\r\nline two\n\nlast\r";
  const auto wanted = tensorflow_answer("lines");
  for (const int64_t buffer_size : {1, 3, 1000}) {
    const Dataset lines =
        text_line_dataset({write(root, "plain", text)}, {.buffer_size = buffer_size});
    CHECK(answer_of(lines) == wanted);
    CHECK(resumes_everywhere(lines));
  }
  const Dataset packed = text_line_dataset({write(root, "gz", text, io::Compression::Gzip)},
                                           {.compression_type = io::Compression::Gzip});
  CHECK(elements_as_json(packed) == wanted["elements"]);
  CHECK(resumes_everywhere(packed));
  CHECK(elements_as_json(text_line_dataset({write(root, "ends", "x\ny\n")})) ==
        nlohmann::json({"x", "y"}));
}

TEST_CASE("lines of several files, in turn and shared by workers", "[data][text_lines]") {
  const TemporaryDirectory root;
  const std::vector<std::string> paths = {write(root, "1", "a\nbb\n"),
                                          write(root, "2", "ccc\nd\n")};
  const Dataset lines = text_line_dataset(paths);
  CHECK(elements_as_json(lines) == nlohmann::json({"a", "bb", "ccc", "d"}));
  CHECK(elements_as_json(text_line_dataset(paths, {.num_parallel_reads = 2})) ==
        nlohmann::json({"a", "ccc", "bb", "d"}));
  const Dataset second(auto_shard(lines.node(), 2, 1, AutoShardPolicy::Auto));
  CHECK(elements_as_json(second) == nlohmann::json({"ccc", "d"}));
  const Batch padded = lines.padded_batch(3).iterator().next();
  CHECK(to_string(padded.x.shape()) == "[3, 3]");
  CHECK_THROWS_AS(text_line_dataset({}), InvalidArgumentError);
  CHECK_THROWS_AS(text_line_dataset(paths, {.compression_type = io::Compression::Auto}),
                  InvalidArgumentError);
  CHECK_THROWS_AS(elements_as_json(text_line_dataset({root.path() + "/none"})), NotFoundError);
}
