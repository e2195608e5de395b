#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/io/protobuf.hpp>
#include <distribute/io/tfrecord.hpp>
#include <distribute/summary/detail/png.hpp>
#include <distribute/summary/event.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/shared_data.hpp>

#include <zlib.h>

using namespace distribute;

namespace {

std::string from_hex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i < hex.size(); i += 2)
    bytes += char(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

std::vector<std::string> records_of(const std::string& path) {
  auto reader = value_or_throw(io::RecordReader::open(path));
  std::vector<std::string> records;
  for (std::string record; value_or_throw(reader.next(record));) records.push_back(record);
  return records;
}

}  // namespace

TEST_CASE("a scalar has the bytes TensorFlow writes", "[summary][event]") {
  // accuracy = 1/12 at step 1, with a description: a record of a TensorFlow 2.21 file.
  const std::string wanted = from_hex(
      "09d6aac0f74dc0da4110012a320a300a086163637572616379420a080112002204abaaaa3d4a180a090a07736361"
      "6c6172731a0b7368617265207269676874");
  const summary::Event event = summary::decode_event(wanted, "file");
  CHECK(event.step == 1);
  REQUIRE(event.entries.size() == 1);
  CHECK(event.entries[0].tag == "accuracy");
  CHECK(event.entries[0].plugin == "scalars");
  CHECK(event.entries[0].number == double(1.0f / 12));
  CHECK(summary::encode_event(
            event.wall_time, 1,
            {"accuracy", "scalars", summary::encode_tensor(1.0f / 12), "share right"}) == wanted);
}

TEST_CASE("the first record names the format", "[summary][event]") {
  const summary::Event event = summary::decode_event(summary::encode_file_version(12.5), "file");
  CHECK(event.file_version == "brain.Event:2");
  CHECK(event.wall_time == 12.5);
  CHECK(event.entries.empty());
}

TEST_CASE("scalars of TensorFlow's files are read and written alike", "[summary][event]") {
  const auto files = shared_data("tf_files/events");
  if (!files) SKIP("tf_files is absent");
  int scalars = 0;
  for (const std::string& record :
       records_of(*files + "/events.out.tfevents.1700000000.host.1.0.v2")) {
    const summary::Event event = summary::decode_event(record, "file");
    if (event.entries.empty() || event.entries[0].tag != "loss") continue;
    const auto& entry = event.entries[0];
    REQUIRE(entry.has_number);
    ++scalars;
    CHECK(summary::encode_event(
              event.wall_time, event.step,
              {entry.tag, entry.plugin, summary::encode_tensor(float(entry.number))}) == record);
  }
  CHECK(scalars == 12);
  const auto old = shared_data("tf_files/events_v1");
  int numbers = 0;
  for (const std::string& record : records_of(*old + "/events.out.tfevents.1700000001.host"))
    for (const auto& entry : summary::decode_event(record, "file").entries)
      numbers += entry.has_number;
  CHECK(numbers > 0);
}

TEST_CASE("damaged records are refused", "[summary][event]") {
  const std::string good =
      summary::encode_event(1, 2, {"tag", "scalars", summary::encode_tensor(1.0f)});
  for (size_t size = 1; size + 1 < good.size(); ++size) {
    try {
      summary::decode_event(good.substr(0, size), "file");
    } catch (const DataLossError& error) {
      CHECK(std::string(error.what()).find("file") == 0);
    }
  }
  CHECK_THROWS_AS(summary::decode_event(good.substr(0, good.size() - 1), "file"), DataLossError);
}

TEST_CASE("histograms have equal buckets, the last one closed", "[summary][event]") {
  using Rows = std::vector<double>;
  const std::vector<float> values = {0, 1, 2, 3, 4};
  CHECK(summary::histogram_buckets(values, 2) == Rows{0, 2, 2, 2, 4, 3});
  const std::vector<float> same = {5, 5};
  CHECK(summary::histogram_buckets(same, 2) == Rows{5, 5, 0, 5, 5, 2});
  CHECK(summary::histogram_buckets({}, 2) == Rows(6, 0.0));
  const std::vector<float> wild = {std::numeric_limits<float>::infinity(), 1,
                                   std::numeric_limits<float>::quiet_NaN()};
  CHECK(summary::histogram_buckets(wild, 1) == Rows{1, 1, 1});
  CHECK_THROWS_AS(summary::histogram_buckets(values, 0), InvalidArgumentError);
}

TEST_CASE("a PNG has its pixels back after decompression", "[summary][png]") {
  const std::vector<uint8_t> pixels = {1, 2, 3, 4, 5, 6};
  const std::string png = summary::encode_png(pixels, 2, 1, 3);
  CHECK(png.substr(0, 8) == "\x89PNG\r\n\x1a\n");
  CHECK(png.substr(8, 21) == from_hex("0000000d4948445200000001000000020802000000"));
  const auto* chunk = reinterpret_cast<const Bytef*>(png.data() + 12);
  const auto crc = uint32_t(crc32(0, chunk, 17));
  CHECK(png.substr(29, 4) ==
        std::string{char(crc >> 24), char(crc >> 16), char(crc >> 8), char(crc)});
  const size_t data = png.find("IDAT") + 4;
  std::vector<uint8_t> rows(100);
  uLongf size = rows.size();
  REQUIRE(uncompress(rows.data(), &size, reinterpret_cast<const Bytef*>(png.data() + data),
                     uLong(png.size() - data - 16)) == Z_OK);
  rows.resize(size);
  CHECK(rows == std::vector<uint8_t>{0, 1, 2, 3, 0, 4, 5, 6});
  CHECK_THROWS_AS(summary::encode_png(pixels, 2, 1, 5), InvalidArgumentError);
  CHECK_THROWS_AS(summary::encode_png(pixels, 2, 2, 3), InvalidArgumentError);
}
