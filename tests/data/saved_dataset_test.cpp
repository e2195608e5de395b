// Against TensorFlow: sequences/answers.json and the files in sequences/saved.
#include <distribute/data/files.hpp>

#include <distribute/io/file_system.hpp>

#include <tests/data/dataset_support.hpp>
#include <tests/data/sequences/sequence_answers.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/source_dir.hpp>
#include <tests/support/temporary_directory.hpp>

#include <iomanip>

using namespace distribute;
using namespace distribute::data;

namespace {

std::string hex_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file);
  std::ostringstream text;
  for (char c; file.get(c);)
    text << std::hex << std::setw(2) << std::setfill('0') << int(uint8_t(c));
  return text.str();
}

std::string find_file(const std::string& root, const std::string& extension) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root))
    if (entry.path().extension() == extension) return entry.path().string();
  return "";
}

/// Counts how many of its elements were made.
Dataset counted(int64_t count, int64_t& made) {
  return Dataset::range(count).map(
      [&made](const Batch& number) {
        ++made;
        return number;
      },
      {.output_spec = ElementSpec{{{}, DType::Int64}}});
}

}  // namespace

TEST_CASE("a dataset that TensorFlow saved is loaded", "[data][saved_dataset]") {
  const Dataset loaded =
      Dataset::load(distribute::testing::source_dir() + "/tests/data/sequences/saved");
  CHECK(loaded.cardinality() == 2);
  CHECK(to_string(loaded.element_spec()) ==
        "(a: [1] float32, inner/n: [] int32, text: [-1] uint8)");
  CHECK(elements_as_json(loaded) ==
        nlohmann::json({{{"a", {1.5}}, {"inner/n", 7}, {"text", "one"}},
                        {{"a", {-2.0}}, {"inner/n", 8}, {"text", "three"}}}));
  CHECK(resumes_everywhere(loaded));
}

TEST_CASE("what is saved are TensorFlow's files, byte by byte", "[data][saved_dataset]") {
  const TemporaryDirectory root;
  const std::string path = root.path() + "/saved";
  const Dataset two = Dataset::from_tensor_slices(
      Tensor{1.5f, -2.0f}, Tensor(Shape{2, 2}, std::vector<int64_t>{1, 2, 3, 4}));
  two.save(path);
  const auto wanted = tensorflow_answer("saved files");
  CHECK(hex_of(path + "/dataset_spec.pb") == wanted["spec"]);
  CHECK(hex_of(find_file(path, ".snapshot")) == wanted["snapshot"]);
  CHECK(answer_of(Dataset::load(path)) == answer_of(two));
  CHECK(Dataset::load(path).element_spec() == two.element_spec());
}

TEST_CASE("saved datasets keep names and are replaced", "[data][saved_dataset]") {
  const TemporaryDirectory root;
  const std::string path = root.path() + "/saved";
  Dataset::range(3).save(path);
  const Dataset named = Dataset::from_tensor_slices(
      TensorMap{{"b", Tensor{1.0f, 2.0f}}, {"a", Tensor{int64_t{3}, int64_t{4}}}});
  named.save(path, io::Compression::Gzip);
  CHECK(answer_of(Dataset::load(path)) == answer_of(named));
  CHECK(answer_of(Dataset::load(path, io::Compression::Gzip)) == answer_of(named));
  CHECK_THROWS_AS(elements_as_json(Dataset::load(path, io::Compression::None)), DataLossError);
  CHECK_THROWS_AS(named.repeat().save(path), InvalidArgumentError);
  CHECK_THROWS_AS(Dataset::load(root.path() + "/nothing"), NotFoundError);
  std::filesystem::resize_file(path + "/snapshot.metadata", 5);
  CHECK_THROWS_AS(Dataset::load(path), DataLossError);
}

TEST_CASE("a cache in a file serves later passes and programs", "[data][saved_dataset]") {
  const TemporaryDirectory root;
  const std::string file = root.path() + "/cache";
  int64_t made = 0;
  const Dataset cached = counted(4, made).cache(file);
  CHECK(cached.cardinality() == 4);
  scalars_of(cached, 2);  // a pass that does not come to the end leaves nothing behind
  CHECK(std::filesystem::is_empty(root.path()));
  made = 0;
  Iterator it = cached.iterator();
  it.next();
  const Tensor position = it.state();
  CHECK(scalars_of(cached) == count_up(0, 4));
  CHECK(scalars_of(cached) == count_up(0, 4));
  CHECK(made == 5);
  int64_t made_later = 0;
  const Dataset later = counted(4, made_later).cache(file);
  CHECK(scalars_of(later.repeat(2)).size() == 8);
  Iterator again = later.iterator();
  again.restore(position);
  CHECK(again.next().x.item<int64_t>() == 1);
  CHECK(made_later == 0);
  CHECK(resumes_everywhere(later));
  CHECK_THROWS_AS(Dataset::range(2).cache(""), InvalidArgumentError);
}

TEST_CASE("files of elements that are cut where a record ends are refused",
          "[data][saved_dataset]") {
  const TemporaryDirectory root;
  const std::string file = root.path() + "/cache";
  int64_t made = 0;
  const Dataset cached = counted(4, made).cache(file);
  scalars_of(cached);
  const int64_t whole = int64_t(std::filesystem::file_size(file));
  // All records of the elements are of one size; the last one is the seal.
  const int64_t seal = int64_t(io::frame_record("end of 4 elements").size());
  const int64_t element = (whole - seal) / 4;
  for (const int64_t size : {whole - seal, whole - seal - element, element, int64_t{0}}) {
    std::filesystem::resize_file(file, uint64_t(size));
    INFO(size);
    CHECK_THROWS_WITH(scalars_of(counted(4, made).cache(file)),
                      Catch::Matchers::Contains("remove it, and the next pass makes it anew"));
    CHECK_THROWS_AS(scalars_of(counted(4, made).cache(file).skip(4)), DataLossError);
  }
  std::filesystem::remove(file);
  CHECK(scalars_of(counted(4, made).cache(file)) == count_up(0, 4));

  const std::string saved = root.path() + "/saved";
  counted(4, made).save(saved);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(saved))
    if (entry.path().extension() == ".snapshot")
      std::filesystem::resize_file(entry.path(), uint64_t(2 * element));
  CHECK_THROWS_WITH(scalars_of(Dataset::load(saved)),
                    Catch::Matchers::Contains("the last 2 elements are missing"));
}

TEST_CASE("a snapshot is written while it is read, and read afterwards", "[data][saved_dataset]") {
  const TemporaryDirectory root;
  const std::string path = root.path() + "/snapshot";
  int64_t made = 0;
  {
    Iterator left = counted(4, made).snapshot(path).iterator();
    left.next();
    left.next();  // ends before the snapshot is whole, as a writer that is killed
  }
  CHECK(made == 2);
  const Dataset again = counted(4, made).snapshot(path);
  Iterator writer = again.iterator();
  CHECK(writer.next().x.item<int64_t>() == 0);
  const Tensor position = writer.state();
  while (writer.get_next_as_optional()) {
  }
  CHECK(made == 6);
  for (const auto compression : {io::Compression::None, io::Compression::Gzip}) {
    const std::string own = compression == io::Compression::None ? path : path + "_gz";
    const Dataset read = counted(4, made).snapshot(own, {.compression = compression});
    CHECK(scalars_of(read) == count_up(0, 4));
    made = 0;
    CHECK(scalars_of(read.repeat(2)).size() == 8);
    CHECK(resumes_everywhere(read));
    CHECK(made == 0);
  }
  Iterator reader = again.iterator();  // a position of the writer fits the reader
  reader.restore(position);
  CHECK(reader.next().x.item<int64_t>() == 1);
  CHECK(scalars_of(Dataset::load(path)) == count_up(0, 4));
  CHECK_THROWS_SAYING(scalars_of(Dataset::range(4).batch(2).snapshot(path)),
                      FailedPreconditionError, "holds elements ([] int64), the dataset gives");
  CHECK_THROWS_AS(Dataset::range(2).snapshot(""), InvalidArgumentError);
}
