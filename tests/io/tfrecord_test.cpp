#include <distribute/base/status.hpp>
#include <distribute/io/compression.hpp>
#include <distribute/io/detail/wire.hpp>
#include <distribute/io/tfrecord.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/memory_store.hpp>
#include <tests/support/shared_data.hpp>
#include <tests/support/temporary_directory.hpp>

#include <nlohmann/json.hpp>

using namespace distribute;

namespace {

std::vector<std::string> read_all(const std::string& path,
                                  io::Compression compression = io::Compression::None) {
  auto reader = value_or_throw(io::RecordReader::open(path, compression));
  std::vector<std::string> records;
  for (std::string record; value_or_throw(reader.next(record));) {
    records.push_back(record);
  }
  return records;
}

/// Reads until the end or the first error, and returns the number of good records.
int count_good_records(std::string_view bytes, absl::Status& status) {
  io::RecordReader reader(io::memory_input_stream(bytes, "memory"));
  std::string record;
  for (int good = 0;; ++good) {
    auto more = reader.next(record);
    status = more.status();
    if (!more.ok() || !*more) return good;
  }
}

}  // namespace

TEST_CASE("records survive a round trip under every compression", "[io][tfrecord]") {
  const TemporaryDirectory directory;
  const std::vector<std::string> records = {"", "a", std::string(300'000, 'z'), "last"};
  for (auto compression : {io::Compression::None, io::Compression::Zlib, io::Compression::Gzip}) {
    const std::string path = directory / "records";
    auto writer = value_or_throw(io::RecordWriter::create(path, compression));
    for (const std::string& record : records) REQUIRE(writer.write(record).ok());
    REQUIRE(writer.close().ok());
    CHECK(read_all(path, compression) == records);
  }
}

TEST_CASE("records that TensorFlow wrote are read, plain and compressed", "[io][tfrecord]") {
  const auto folder = shared_data("tf_files/tfrecord");
  if (!folder) SKIP("no reference data");
  const auto listing = nlohmann::json::parse(std::ifstream(*folder + "/records.json"));
  const auto& examples = listing["examples"];
  const auto plain = read_all(*folder + "/plain.tfrecord");
  REQUIRE(plain.size() == examples.size());
  for (size_t i = 0; i < plain.size(); ++i) {
    CHECK(plain[i].size() == examples[i]["bytes"].get<size_t>());
    char crc[9];
    std::snprintf(crc, sizeof(crc), "%08x", io::crc32c(plain[i]));
    CHECK(crc == examples[i]["crc32c"].get<std::string>());
  }
  CHECK(read_all(*folder + "/gzip.tfrecord.gz", io::Compression::Gzip) == plain);
  CHECK(read_all(*folder + "/zlib.tfrecord.zlib", io::Compression::Zlib) == plain);
  CHECK(read_all(*folder + "/empty.tfrecord").empty());
  CHECK(read_all(*folder + "/sequence_examples.tfrecord").size() ==
        listing["sequence_examples"].size());
  const auto raw = read_all(*folder + "/raw_records.tfrecord");
  const auto& lengths = listing["raw_record_lengths"];
  REQUIRE(raw.size() == lengths.size());
  std::string framed;
  for (size_t i = 0; i < raw.size(); ++i) {
    REQUIRE(raw[i].size() == lengths[i].get<size_t>());
    bool equal = true;
    for (size_t k = 0; k < raw[i].size(); ++k) equal &= uint8_t(raw[i][k]) == 7 * k % 251;
    CHECK(equal);
    framed += io::frame_record(raw[i]);
  }
  CHECK(framed == *io::read_file(*folder + "/raw_records.tfrecord"));
}

TEST_CASE("compressed records that are read as plain ones are told from damage", "[io][tfrecord]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "a.tfrecord";
  auto writer = io::RecordWriter::create(path, io::Compression::Gzip).value();
  REQUIRE(writer.write("one").ok());
  REQUIRE(writer.close().ok());
  auto reader = io::RecordReader::open(path).value();
  std::string record;
  CHECK_THAT(std::string(reader.next(record).status().message()),
             Contains("begins as a gzip file does: compression_type = Gzip or Auto"));
}

TEST_CASE("the first bytes of a file of records tell its compression", "[io][tfrecord]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "a.tfrecord";
  for (auto compression : {io::Compression::None, io::Compression::Zlib, io::Compression::Gzip}) {
    // A record of 0x9c78 bytes begins as zlib's data does.
    for (const size_t size : {size_t{0}, size_t{3}, size_t{0x9c78}, size_t{0x8b1f}}) {
      const std::string record(size, 'r');
      auto writer = io::RecordWriter::create(path, compression).value();
      for (int i = 0; i < 3; ++i) REQUIRE(writer.write(record).ok());
      REQUIRE(writer.close().ok());
      CHECK(io::detect_compression(*io::read_file(path)) == compression);
      CHECK(read_all(path, io::Compression::Auto) == std::vector<std::string>(3, record));
      auto reader = io::RecordReader::open(path, io::Compression::Auto).value();
      CHECK(*reader.skip(2) == 2);
      const auto position = reader.position();
      auto second = io::RecordReader::open(path, io::Compression::Auto).value();
      REQUIRE(second.seek(position).ok());
      std::string read;
      CHECK(*second.next(read));
      CHECK(read == record);
      CHECK_FALSE(*second.next(read));
    }
  }
  CHECK(io::detect_compression("") == io::Compression::None);
  CHECK_FALSE(io::RecordWriter::create(path, io::Compression::Auto).ok());
}

TEST_CASE("compression types have TensorFlow's names", "[io][gzip]") {
  CHECK(*io::compression_from_name("") == io::Compression::None);
  CHECK(*io::compression_from_name("GZIP") == io::Compression::Gzip);
  CHECK(*io::compression_from_name("ZLIB") == io::Compression::Zlib);
  CHECK_THAT(std::string(io::compression_from_name("gzip").status().message()),
             Contains("\"gzip\", expected \"\" (none)"));
}

TEST_CASE("records are skipped, and positions found again, under every compression",
          "[io][tfrecord]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "records";
  for (auto compression : {io::Compression::None, io::Compression::Zlib, io::Compression::Gzip}) {
    auto writer = value_or_throw(io::RecordWriter::create(path, compression));
    for (size_t i = 0; i < 9; ++i) REQUIRE(writer.write(std::string(i * 40, char('0' + i))).ok());
    REQUIRE(writer.close().ok());
    const auto open = [&] {
      return value_or_throw(io::RecordReader::open(path, compression, 100));
    };
    auto reader = open();
    CHECK(*reader.skip(3) == 3);
    std::string record;
    REQUIRE(*reader.next(record));
    CHECK(record == std::string(120, '3'));
    const auto position = reader.position();
    CHECK(position.record == 4);
    CHECK(position.offset == 4 * 16 + (0 + 1 + 2 + 3) * 40);
    CHECK(*reader.skip(100) == 5);
    CHECK(!*reader.next(record));
    auto other = open();
    REQUIRE(other.seek(position).ok());
    REQUIRE(*other.next(record));
    CHECK(record == std::string(160, '4'));
    auto third = open();
    CHECK(third.seek({1 << 20, 5}).code() == absl::StatusCode::kDataLoss);
  }
}

TEST_CASE("skipping finds records that are cut off", "[io][tfrecord]") {
  const std::string first = io::frame_record("first"), both = first + io::frame_record("second");
  for (size_t size = 0; size <= both.size(); ++size) {
    io::RecordReader reader(
        io::memory_input_stream(std::string_view(both).substr(0, size), "memory"));
    const bool at_a_boundary = size == 0 || size == first.size() || size == both.size();
    CHECK(reader.skip(9).ok() == at_a_boundary);
    CHECK(reader.is_cut_off() == !at_a_boundary);
    CHECK(reader.position().record == (size == both.size() ? 2 : size >= first.size() ? 1 : 0));
  }
}

TEST_CASE("a cut-off record is DataLoss after the good ones", "[io][tfrecord]") {
  const std::string first = io::frame_record("first"), both = first + io::frame_record("second");
  for (size_t size = 0; size <= both.size(); ++size) {
    absl::Status status;
    const int good = count_good_records(std::string_view(both).substr(0, size), status);
    CHECK(good == (size == both.size() ? 2 : size >= first.size() ? 1 : 0));
    const bool at_a_boundary = size == 0 || size == first.size() || size == both.size();
    CHECK((status.ok() ? at_a_boundary : status.code() == absl::StatusCode::kDataLoss));
  }
}

TEST_CASE("any changed bit of a record is found", "[io][tfrecord]") {
  const std::string bytes = io::frame_record("some bytes");
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = char(damaged[bit / 8] ^ (1 << bit % 8));
    absl::Status status;
    CHECK(count_good_records(damaged, status) == 0);
    CHECK(status.code() == absl::StatusCode::kDataLoss);
  }
}

TEST_CASE("a length that lies costs no memory and is an error", "[io][tfrecord]") {
  for (uint64_t size : {uint64_t{1} << 40, ~uint64_t{0}, ~uint64_t{0} - 3}) {
    std::string bytes;
    io::append_fixed64(bytes, size);
    io::append_fixed32(bytes, io::mask_crc(io::crc32c(bytes)));
    absl::Status status;
    CHECK(count_good_records(bytes + "abc", status) == 0);
    CHECK(status.code() == absl::StatusCode::kDataLoss);
  }
}

TEST_CASE("gzip data is read whole, with all members", "[io][gzip]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "x.gz", text(200'000, 'q');
  {
    auto file = value_or_throw(io::create_file(path, io::Compression::Gzip));
    REQUIRE(file->append(text).ok());
    REQUIRE(file->append("end").ok());
    REQUIRE(file->close().ok());
  }
  const std::string bytes = *io::read_file(path);
  CHECK(io::is_gzip(bytes));
  CHECK(*io::decompress_gzip(bytes, path) == text + "end");
  CHECK(*io::decompress_gzip(bytes + bytes, "twice") == text + "end" + text + "end");
  const std::string zeros(70'000, '\0');  // padding, which gzip passes over
  CHECK(*io::decompress_gzip(bytes + zeros, "padded") == text + "end");
  CHECK(*io::decompress_gzip(bytes + zeros + bytes, "padded") == text + "end" + text + "end");
  CHECK_FALSE(io::decompress_gzip(bytes + zeros + "x", "garbage").ok());
  for (size_t size = 0; size < bytes.size(); ++size) {
    const auto cut = io::decompress_gzip(bytes.substr(0, size), "cut.gz");
    REQUIRE(cut.status().code() == absl::StatusCode::kDataLoss);
  }
  const auto foreign = io::decompress_gzip("not gzip at all", "foreign.gz").status();
  CHECK(foreign.code() == absl::StatusCode::kDataLoss);
  CHECK(foreign.ToString().find("foreign.gz") != std::string::npos);
}

TEST_CASE("records on a store appear when the file is closed, and not before", "[io][tfrecord]") {
  MemoryStore& store = MemoryStore::fresh();
  const auto compression = GENERATE(io::Compression::None, io::Compression::Gzip);
  const std::string path = "mem://bucket/train.tfrecord";
  {
    auto dropped = value_or_throw(io::RecordWriter::create(path, compression));
    REQUIRE(dropped.write("never finished").ok());
  }
  CHECK(store.names().empty());
  auto writer = value_or_throw(io::RecordWriter::create(path, compression));
  for (int i = 0; i < 3; ++i) REQUIRE(writer.write(std::string(size_t(i) * 1000, 'x')).ok());
  CHECK(store.names().empty());
  REQUIRE(writer.close().ok());
  auto reader = value_or_throw(io::RecordReader::open(path, compression));
  std::string record;
  for (int i = 0; i < 3; ++i) {
    REQUIRE(value_or_throw(reader.next(record)));
    CHECK(record.size() == size_t(i) * 1000);
  }
  CHECK_FALSE(value_or_throw(reader.next(record)));
}
