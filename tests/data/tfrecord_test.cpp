#include <distribute/data/files.hpp>

#include <distribute/base/status.hpp>
#include <distribute/data/distribute_options.hpp>
#include <distribute/data/element_spec.hpp>
#include <distribute/io/tfrecord.hpp>

#include <tests/data/picture_support.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/shared_data.hpp>
#include <tests/support/temporary_directory.hpp>

using namespace distribute;
using namespace distribute::data;
using Texts = std::vector<std::string>;

namespace {

/// Files 0, 1, ... with the records "<file>.<number>".
Texts make_files(const std::string& root, const std::vector<int>& counts,
                 io::Compression compression = io::Compression::None) {
  Texts paths;
  for (size_t file = 0; file < counts.size(); ++file) {
    paths.push_back(str_cat(root, "/", file, ".tfrecord"));
    auto writer = value_or_throw(io::RecordWriter::create(paths.back(), compression));
    for (int i = 0; i < counts[file]; ++i) REQUIRE(writer.write(str_cat(file, ".", i)).ok());
    REQUIRE(writer.close().ok());
  }
  return paths;
}

Texts texts_of(const Dataset& dataset, size_t limit = 1000) {
  Texts texts;
  for (Iterator it = dataset.iterator(); texts.size() < limit;) {
    const auto element = it.get_next_as_optional();
    if (!element) break;
    texts.emplace_back(bytes_of(element->x));
  }
  return texts;
}

}  // namespace

TEST_CASE("records come file after file, or from several files in turn", "[data][tfrecord]") {
  const TemporaryDirectory root;
  for (auto compression : {io::Compression::None, io::Compression::Gzip, io::Compression::Zlib}) {
    const auto paths = make_files(root.path(), {3, 0, 2}, compression);
    TFRecordOptions options{.compression_type = compression, .buffer_size = 7};
    CHECK(texts_of(tfrecord_dataset(paths, options)) == Texts{"0.0", "0.1", "0.2", "2.0", "2.1"});
    options.num_parallel_reads = 3;
    CHECK(texts_of(tfrecord_dataset(paths, options)) == Texts{"0.0", "2.0", "0.1", "2.1", "0.2"});
  }
}

TEST_CASE("origins tell file and record", "[data][tfrecord]") {
  const TemporaryDirectory root;
  const auto paths = make_files(root.path(), {2, 2});
  const Dataset dataset = tfrecord_dataset(paths, {.with_origin = true});
  CHECK(dataset.element_spec() == ElementSpec{{{-1}, DType::UInt8}, {{2}, DType::Int64}});
  const Dataset second(auto_shard(dataset.node(), 2, 1, AutoShardPolicy::Auto));
  std::vector<std::vector<float>> origins;
  for (const Batch& element : second) origins.push_back(element.y.to_vector());
  CHECK(origins == std::vector<std::vector<float>>{{1, 0}, {1, 1}});
}

TEST_CASE("files come in a new order in each pass", "[data][tfrecord]") {
  const TemporaryDirectory root;
  const auto paths = make_files(root.path(), {1, 1, 1, 1, 1, 1});
  const auto make = [&] { return tfrecord_dataset(paths, {.shuffle_files = true, .seed = 4}); };
  const Dataset dataset = make();
  const Texts first = texts_of(dataset), second = texts_of(dataset);
  CHECK(first != second);
  CHECK(std::set<std::string>(first.begin(), first.end()).size() == 6);
  CHECK(texts_of(make()) == first);
}

TEST_CASE("every position of files, shuffles and repetitions is restored", "[data][tfrecord]") {
  const TemporaryDirectory root;
  for (auto compression : {io::Compression::None, io::Compression::Gzip}) {
    const auto paths = make_files(root.path(), {5, 0, 7, 1, 4}, compression);
    for (int64_t reads : {1, 3}) {
      const auto make = [&] {
        return tfrecord_dataset(paths, {.compression_type = compression,
                                        .num_parallel_reads = reads,
                                        .shuffle_files = true})
            .shuffle(4, {.seed = 2})
            .repeat(2);
      };
      const Dataset dataset = make();
      const Texts all = texts_of(make());
      REQUIRE(all.size() == 34);
      Iterator it = dataset.iterator();
      for (size_t given = 0; given <= all.size(); ++given) {
        const Dataset fresh = make();
        Iterator other = fresh.iterator();
        other.restore(it.state());
        Texts rest;
        while (const auto element = other.get_next_as_optional())
          rest.emplace_back(bytes_of(element->x));
        CHECK(rest == Texts(all.begin() + int64_t(given), all.end()));
        it.get_next_as_optional();
      }
    }
  }
}

TEST_CASE("restoring reads nothing of the files behind it", "[data][tfrecord]") {
  const TemporaryDirectory root;
  const auto paths = make_files(root.path(), {20, 20, 20, 20});
  const auto make = [&] { return tfrecord_dataset(paths).shuffle(3, {.seed = 2}); };
  Iterator it = make().iterator();
  for (int i = 0; i < 65; ++i) it.next();
  const Tensor state = it.state();
  const Texts wanted = [&] {
    Texts rest;
    while (const auto element = it.get_next_as_optional()) rest.emplace_back(bytes_of(element->x));
    return rest;
  }();
  for (int file : {0, 1}) std::filesystem::remove(paths[size_t(file)]);
  Iterator other = make().iterator();
  other.restore(state);
  Texts rest;
  while (const auto element = other.get_next_as_optional()) rest.emplace_back(bytes_of(element->x));
  CHECK(rest == wanted);
}

TEST_CASE("a damaged file is an error at its record, and the next file goes on",
          "[data][tfrecord]") {
  const TemporaryDirectory root;
  const auto paths = make_files(root.path(), {3, 3, 3});
  std::string bytes = *io::read_file(paths[0]);
  bytes[16 + 3 + 12] ^= 1;  // in the second record
  write_bytes(paths[0], bytes);
  std::filesystem::resize_file(paths[1], 2 * (16 + 3) + 5);
  Iterator it = tfrecord_dataset(paths).iterator();
  CHECK(bytes_of(it.next().x) == "0.0");
  CHECK_THROWS_SAYING(it.next(), DataLossError,
                      paths[0] + ": record 1 at offset 19 has a wrong checksum");
  CHECK(bytes_of(it.next().x) == "1.0");
  CHECK(bytes_of(it.next().x) == "1.1");
  CHECK_THROWS_SAYING(it.next(), DataLossError, paths[1] + ": record 2 at offset 38 is cut off");
  for (const char* text : {"2.0", "2.1", "2.2"}) CHECK(bytes_of(it.next().x) == text);
  CHECK(!it.get_next_as_optional());
}

TEST_CASE("records are counted by their lengths", "[data][tfrecord]") {
  const TemporaryDirectory root;
  for (auto compression : {io::Compression::None, io::Compression::Gzip}) {
    const auto paths = make_files(root.path(), {3, 0, 7}, compression);
    CHECK(count_records(paths, compression) == 10);
  }
  const auto paths = make_files(root.path(), {3});
  std::filesystem::resize_file(paths[0], 40);
  CHECK_THROWS_SAYING(count_records(paths), DataLossError, "record 2 at offset 38 is cut off");
}

TEST_CASE("files that are not there and options that are none are refused", "[data][tfrecord]") {
  CHECK_THROWS_SAYING(tfrecord_dataset({"/nonexistent/x"}).iterator().next(), NotFoundError,
                      "/nonexistent/x");
  CHECK_THROWS_AS(tfrecord_dataset({}), InvalidArgumentError);
  CHECK_THROWS_AS(tfrecord_dataset({"x"}, {.num_parallel_reads = 0}), InvalidArgumentError);
  CHECK_THROWS_AS(tfrecord_dataset({"x"}, {.buffer_size = 0}), InvalidArgumentError);
  CHECK_THROWS_SAYING(auto_shard(tfrecord_dataset({"x", "y"}).node(), 3, 0, AutoShardPolicy::Auto),
                      InvalidArgumentError, "not enough files");
}

TEST_CASE("TensorFlow's compressed files are datasets", "[data][tfrecord]") {
  const auto folder = shared_data("tf_files/tfrecord");
  if (!folder) SKIP("no reference data");
  const Texts plain = texts_of(tfrecord_dataset({*folder + "/plain.tfrecord"}));
  CHECK(plain.size() == 25);
  CHECK(texts_of(tfrecord_dataset({*folder + "/gzip.tfrecord.gz"},
                                  {.compression_type = io::Compression::Gzip})) == plain);
  CHECK(texts_of(tfrecord_dataset({*folder + "/zlib.tfrecord.zlib"},
                                  {.compression_type = io::Compression::Zlib})) == plain);
  // Each file as its first bytes tell.
  const TFRecordOptions any{.compression_type = io::Compression::Auto};
  Texts thrice = plain;
  for (int i = 0; i < 2; ++i) thrice.insert(thrice.end(), plain.begin(), plain.end());
  CHECK(texts_of(tfrecord_dataset({*folder + "/gzip.tfrecord.gz", *folder + "/plain.tfrecord",
                                   *folder + "/empty.tfrecord", *folder + "/zlib.tfrecord.zlib"},
                                  any)) == thrice);
  CHECK(texts_of(tfrecord_dataset({*folder + "/empty.tfrecord"})).empty());
}
