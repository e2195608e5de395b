// Each source gives the same elements from a store as from a local file.
#include <distribute/data/csv.hpp>
#include <distribute/data/example.hpp>
#include <distribute/data/files.hpp>
#include <distribute/datasets/detail/archive_reader.hpp>
#include <distribute/datasets/detail/sql_rows.hpp>
#include <distribute/datasets/detail/table_file.hpp>
#include <distribute/datasets/tables.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/io/tfrecord.hpp>

#include <tests/data/dataset_cases.hpp>
#include <tests/data/write_file.hpp>
#include <tests/datasets/dataset_answers.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/fake_s3.hpp>
#include <tests/support/fake_webhdfs.hpp>

#include <functional>

using namespace distribute;
using namespace distribute::data;
using Catch::Matchers::Contains;

namespace {

/// One way to read a file, and bytes for it.
struct Source {
  std::string name, bytes;
  std::function<Dataset(const std::string& path)> open;
};

const SequenceFeatureSpecs kSteps = {{"tok", fixed_len_sequence_feature(FeatureKind::Int64)}};

std::string sequence_records() {
  const TemporaryDirectory root;
  const std::string path = root / "records";
  auto writer = value_or_throw(io::RecordWriter::create(path, io::Compression::None));
  for (const SequenceExample& example :
       {SequenceExample{.feature_lists = {{"tok", {Int64List{1}, Int64List{2}}}}},
        SequenceExample{.feature_lists = {{"tok", {Int64List{9}, Int64List{8}}}}}})
    throw_if_error(writer.write(encode_sequence_example(example)));
  throw_if_error(writer.close());
  return *io::read_file(path);
}

Dataset steps_of(const std::string& path) {
  return tfrecord_dataset({path}).map([](const Batch& record) {
    return Batch{parse_single_sequence_example(bytes_of(record.x), {}, kSteps, "a record")
                     .feature_lists.at("tok")
                     .values};
  });
}

std::vector<Source> sources() {
  const auto file = [](const char* name) { return *io::read_file(fixture(name)); };
  const std::string csv = "a,b\n1,x\n2,\"y,z\"\n3,w\n";
  std::vector<Source> all = {
      {"csv", csv,
       [](const std::string& path) {
         return csv_dataset({path}, {CsvType::Int32, CsvType::Bytes}, {.header = true});
       }},
      {"make_csv", csv,
       [](const std::string& path) {
         return make_csv_dataset(std::vector<std::string>{path}, 2,
                                 {.num_epochs = 1, .shuffle = false});
       }},
      {"fixed_length", "abcdefghij",
       [](const std::string& path) { return fixed_length_record_dataset({path}, 5); }},
      {"sequence_example", sequence_records(), steps_of},
  };
  if (data_internal::has_sqlite())
    all.push_back({"sqlite", file("people.db"), [](const std::string& path) {
                     return sql_dataset("sqlite", path, "select id, name from people order by id",
                                        {DType::Int64, DType::UInt8});
                   }});
  if (data_internal::has_arrow())
    all.push_back({"parquet", file("table.parquet"),
                   [](const std::string& path) { return parquet_dataset({path}); }});
  if (data_internal::has_libarchive())
    all.push_back({"tar", file("samples.tar"), [](const std::string& path) {
                     return web_dataset({path}, {"__key__", "jpg;jpeg", "cls"});
                   }});
  return all;
}

/// Names, shapes and values of all components.
std::vector<std::string> texts_of(const Dataset& dataset) {
  std::vector<std::string> all;
  for (const Batch& element : dataset) {
    all.push_back(to_string(spec_of(element)));
    for (size_t i = 0; i < element.size(); ++i)
      all.back() +=
          as_json(element[i]).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  }
  return all;
}

void put(const std::string& path, const std::string& bytes) {
  auto file = value_or_throw(value_or_throw(io::file_system_for(path))->create(path));
  throw_if_error(file->append(bytes));
  throw_if_error(file->close());
}

/// A place of this kind, without anything in it; empty where there is no such store.
std::string place_in(const std::string& kind) {
  if (kind == "s3" && !FakeS3::serve_process()) return "";
  if (kind == "hdfs") FakeWebHdfs::serve_process();
  const std::string place = kind + "://bucket/sources";
  throw_if_error(io::remove_recursively(place));  // a real server keeps what was there
  return place;
}

}  // namespace

TEST_CASE("sources give the same elements from a store as from a file", "[datasets][stores]") {
  const std::string place = place_in(GENERATE("s3", "hdfs"));
  if (place.empty()) SKIP("the environment names another server");
  const TemporaryDirectory root;
  for (const Source& source : sources()) {
    INFO(place << "/" << source.name);
    const std::vector<std::string> local =
        texts_of(source.open(write(root, source.name, source.bytes)));
    CHECK(local.size() >= 2);
    const std::string path = place + "/" + source.name;
    put(path, source.bytes);
    CHECK(texts_of(source.open(path)) == local);
  }
}

TEST_CASE("an object that is not there is named", "[datasets][stores]") {
  const std::string place = place_in(GENERATE("s3", "hdfs"));
  if (place.empty()) SKIP("the environment names another server");
  for (const Source& source : sources()) {
    INFO(place << "/" << source.name);
    const std::string path = place + "/missing_" + source.name;
    std::string error;
    try {
      texts_of(source.open(path));
    } catch (const NotFoundError& thrown) {
      error = thrown.what();
    }
    CHECK_THAT(error, Contains(path));
  }
}
