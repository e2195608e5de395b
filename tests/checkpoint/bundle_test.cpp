#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/checkpoint/bundle.hpp>
#include <distribute/checkpoint/detail/bundle_table.hpp>
#include <distribute/io/compression.hpp>
#include <distribute/io/detail/wire.hpp>
#include <distribute/io/file_system.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/file_size_limit.hpp>
#include <tests/support/temporary_directory.hpp>

#include <functional>
#include <limits>
#include <numeric>

using namespace distribute;
using namespace distribute::train;

namespace {

std::string from_hex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i < hex.size(); i += 2)
    bytes += char(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

// Three float[2,3] tensors 0..5 named a, b, c: TensorFlow's own output.
const std::string kGoldenIndex =
    from_hex(
        "00000608011a02080100011361080112081202080212020803281835c0db3d1700011562080112081202080212"
        "0208032018281835c0db3d17000115630801120812020802120208032030281835c0db3d170000000001000000"
        "009fb67a3a000000000100000000c0f2a1b000010264005a000000000100000000363cc6d15f086c0e") +
    std::string(36, '\0') + from_hex("57fb808b247547db");

template <typename T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

std::vector<float> counting(int count) {
  std::vector<float> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}

void write_golden(const std::string& prefix) {
  BundleWriter writer(prefix);
  for (const char* key : {"a", "b", "c"}) {
    writer.add(key, DType::Float32, {2, 3}, bytes_of(counting(6)));
  }
  writer.finish();
}

/// A small checkpoint with a matrix, strings and a partitioned tensor.
void write_small(const std::string& prefix) {
  BundleWriter writer(prefix);
  writer.add("kernel", DType::Float32, {2, 3}, bytes_of(counting(6)));
  writer.add_strings("names", {2}, std::vector<std::string>{"one", "two"});
  const auto rows = counting(6);
  writer.add_slice("table", io::DataType::Float, {4, 3}, {{0, 2}, {0, -1}}, bytes_of(rows));
  writer.add_slice("table", io::DataType::Float, {4, 3}, {{2, 2}, {0, -1}}, bytes_of(rows));
  writer.finish();
}

std::vector<std::string> names_in(const std::string& directory) {
  return value_or_throw(value_or_throw(io::file_system_for(directory))->list_directory(directory));
}

std::string read(const std::string& path) { return value_or_throw(io::read_file(path)); }

void write(const std::string& path, std::string_view bytes) {
  throw_if_error(io::write_file_atomically(path, bytes));
}

/// Opens and reads everything; true when no error was found. Anything but Error fails the test.
bool reads_well(const std::string& prefix) {
  try {
    BundleReader(prefix).verify();
    return true;
  } catch (const Error& error) {
    CHECK(std::string(error.what()).find(prefix) != std::string::npos);
    return false;
  }
}

std::string error_of(const std::function<void()>& fn) {
  try {
    fn();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("a checkpoint is byte-equal to TensorFlow's", "[checkpoint][bundle]") {
  const TemporaryDirectory directory;
  write_golden(directory / "ckpt");
  CHECK(read(directory / "ckpt.index") == kGoldenIndex);
  CHECK(read(directory / "ckpt.data-00000-of-00001").size() == 72);
  CHECK(names_in(directory.path()).size() == 2);
}

TEST_CASE("the key of a slice is TensorFlow's", "[checkpoint][bundle]") {
  CHECK(slice_key("emb", {{0, 2}, {0, -1}}) == from_hex("00656d6200010102808280"
                                                        "7f"));
  CHECK(slice_key("x", {{100, 200}}) == from_hex("0078000101"
                                                 "01c064c0c8"));
  CHECK(slice_key({"a\0b\xff", 4}, {}) == from_hex("006100ff62ff00000100"));
  CHECK(slice_key("x", {{-64, 63}}) == from_hex("007800010101"
                                                "40bf"));
  CHECK(slice_key("x", {{8192, int64_t{1} << 62}}) == from_hex("007800010101"
                                                               "e02000"
                                                               "ffc04000000000000000"));
}

TEST_CASE("tensors of every type survive a round trip", "[checkpoint][bundle]") {
  const TemporaryDirectory directory;
  const std::string prefix = directory / "sub/ckpt";
  const std::vector<std::string> strings = {"", std::string(300, 'x'), std::string("\0\xff", 2)};
  {
    BundleWriter writer(prefix);
    for (int type = 1; type <= 32; ++type) {
      const int64_t item = io::size_of(io::DataType(type));
      const std::string bytes(size_t(6 * item), char('a' + type));
      if (item == 0) continue;
      writer.add(io::name_of(io::DataType(type)), io::DataType(type), {2, 3},
                 std::as_bytes(std::span(bytes)));
    }
    writer.add("empty", DType::Int64, {3, 0, 2}, {});
    writer.add("scalar", DType::Int64, {}, bytes_of(std::vector<int64_t>{-7}));
    writer.add_strings("strings", {3, 1}, strings);
    writer.add_strings("no strings", {0}, {});
    writer.add_string("graph", "text");
    writer.finish();
  }
  BundleReader reader(prefix);
  CHECK(reader.num_shards() == 1);
  for (int type = 1; type <= 32; ++type) {
    const int64_t item = io::size_of(io::DataType(type));
    if (item == 0) continue;
    const std::string key = io::name_of(io::DataType(type));
    CHECK(reader.entry(key).dtype == io::DataType(type));
    CHECK(reader.entry(key).dims == std::vector<int64_t>{2, 3});
    CHECK(reader.read(key) == std::vector<std::byte>(size_t(6 * item), std::byte('a' + type)));
  }
  CHECK(reader.read("empty").empty());
  CHECK(reader.read_values<int64_t>("scalar") == std::vector<int64_t>{-7});
  CHECK(reader.read_strings("strings") == strings);
  CHECK(reader.read_strings("no strings").empty());
  CHECK(reader.read_string("graph") == "text");
  CHECK(reader.contains("graph"));
  CHECK_FALSE(reader.contains("no such"));
  reader.verify();
}

TEST_CASE("an index with many blocks is read back whole", "[checkpoint][bundle]") {
  TableBuilder builder(300);
  std::vector<TableRow> rows = {{"", "header"}};
  for (int i = 0; i < 2000; ++i) {
    char key[32];
    std::snprintf(key, sizeof(key), "layer_%05d/kernel", i);
    rows.emplace_back(key, std::string(size_t(i % 50), 'v'));
  }
  rows.emplace_back("\xff\xff", "last");
  for (const auto& [key, value] : rows) builder.add(key, value);
  CHECK(parse_table(builder.finish(), "table") == rows);
  CHECK(parse_table(TableBuilder().finish(), "empty").empty());
}

TEST_CASE("slices are put together into one tensor", "[checkpoint][bundle]") {
  const TemporaryDirectory directory;
  const std::string prefix = directory / "ckpt";
  const std::vector<int64_t> dims = {4, 5, 3};
  const auto whole = counting(60);
  const std::vector<TensorSlice> slices = {{{0, 4}, {0, 2}, {0, -1}},
                                           {{0, 1}, {2, 3}, {0, 3}},
                                           {{1, 3}, {2, 3}, {0, 1}},
                                           {{1, 3}, {2, 3}, {1, 2}}};
  BundleWriter writer(prefix);
  for (const TensorSlice& slice : slices) {
    std::vector<float> part;
    for (const SliceRun& run : slice_runs(slice, dims)) {
      part.insert(part.end(), whole.begin() + run.tensor_offset,
                  whole.begin() + run.tensor_offset + run.count);
    }
    writer.add_slice("t", io::DataType::Float, dims, slice, bytes_of(part));
  }
  writer.finish();
  BundleReader reader(prefix);
  CHECK(reader.keys() == std::vector<std::string>{"t"});
  CHECK(reader.entry("t").dims == dims);
  CHECK(reader.read_values<float>("t") == whole);
}

TEST_CASE("a partitioned tensor with a gap or an overlap is refused", "[checkpoint][bundle]") {
  const TemporaryDirectory directory;
  const auto add = [](BundleWriter& writer, int64_t start, int64_t length) {
    writer.add_slice("t", io::DataType::Float, {4}, {{start, length}},
                     bytes_of(counting(int(length))));
  };
  BundleWriter gap(directory / "gap"), overlap(directory / "overlap");
  add(gap, 0, 2), add(gap, 3, 1);
  add(overlap, 0, 3), add(overlap, 2, 1);
  gap.finish(), overlap.finish();
  CHECK_THROWS_AS(BundleReader(directory / "gap").read("t"), DataLossError);
  CHECK_THROWS_AS(BundleReader(directory / "overlap").read("t"), DataLossError);
}

TEST_CASE("rows are read alone, whole tensors and any slices", "[checkpoint][bundle]") {
  const TemporaryDirectory directory;
  const std::string prefix = directory / "ckpt";
  const auto values = counting(30);  // 6 rows of 5
  const auto part = [&](const TensorSlice& slice) {
    std::vector<float> some;
    for (int64_t row = slice[0].start; row < slice[0].start + slice[0].length; ++row)
      for (int64_t column = slice[1].start; column < slice[1].start + slice[1].length; ++column)
        some.push_back(values[size_t(row * 5 + column)]);
    return some;
  };
  BundleWriter writer(prefix);
  writer.add("a_whole", DType::Float32, {6, 5}, bytes_of(values));
  for (const TensorSlice& slice : {TensorSlice{{0, 4}, {0, 5}}, TensorSlice{{4, 2}, {0, 5}}})
    writer.add_slice("b_rows", io::DataType::Float, {6, 5}, slice, bytes_of(part(slice)));
  for (const TensorSlice& slice :
       {TensorSlice{{0, 3}, {0, 2}}, TensorSlice{{0, 3}, {2, 3}}, TensorSlice{{3, 3}, {0, 5}}})
    writer.add_slice("c_tiles", io::DataType::Float, {6, 5}, slice, bytes_of(part(slice)));
  writer.add("scalar", DType::Float32, {}, bytes_of(counting(1)));
  writer.finish();
  BundleReader reader(prefix);
  for (const char* key : {"a_whole", "b_rows", "c_tiles"})
    for (int64_t begin = 0; begin <= 6; ++begin)
      for (int64_t end = begin; end <= 6; ++end) {
        std::vector<float> rows(size_t(end - begin) * 5);
        reader.read_rows(key, begin, end, std::as_writable_bytes(std::span(rows)));
        CHECK(rows == std::vector<float>(values.begin() + begin * 5, values.begin() + end * 5));
      }
  std::vector<float> rows(5);
  const auto read_rows = [&](const char* key, int64_t begin, int64_t end) {
    return error_of(
        [&] { reader.read_rows(key, begin, end, std::as_writable_bytes(std::span(rows))); });
  };
  CHECK_THAT(read_rows("a_whole", 6, 7), Catch::Contains("wanted rows 6 to 7, there are 6"));
  CHECK_THAT(read_rows("a_whole", -1, 0), Catch::Contains("wanted rows -1 to 0"));
  CHECK_THAT(read_rows("a_whole", 0, 2), Catch::Contains("40 bytes"));
  CHECK_THAT(read_rows("scalar", 0, 1), Catch::Contains("there are 0"));
}

TEST_CASE("of a tensor in slices only those that are asked for are read", "[checkpoint][bundle]") {
  const TemporaryDirectory directory;
  const std::string prefix = directory / "ckpt", data = prefix + ".data-00000-of-00001";
  write_small(prefix);
  std::string bytes = read(data);
  const BundleEntry last = BundleReader(prefix).entry(slice_key("table", {{2, 2}, {0, -1}}));
  bytes[size_t(last.offset) + 3] ^= 1;
  write(data, bytes);
  BundleReader reader(prefix);
  std::vector<float> rows(6);
  reader.read_rows("table", 0, 2, std::as_writable_bytes(std::span(rows)));
  CHECK(rows == counting(6));
  const auto both = std::as_writable_bytes(std::span(rows));
  CHECK_THROWS_AS(reader.read_rows("table", 1, 3, both), DataLossError);
  CHECK_THROWS_AS(reader.verify("table"), DataLossError);
  CHECK_NOTHROW(reader.verify("kernel"));
}

TEST_CASE("slices overlap when they share an element", "[checkpoint][bundle]") {
  const std::vector<int64_t> dims{4, 4};
  CHECK_FALSE(slices_overlap({{{0, 2}, {0, -1}}, {{2, 2}, {0, 4}}}, dims));
  CHECK_FALSE(slices_overlap({{{0, -1}, {0, 2}}, {{0, -1}, {2, 2}}}, dims));
  CHECK_FALSE(slices_overlap({{{0, -1}, {0, -1}}, {{1, 0}, {0, -1}}}, dims));
  CHECK(slices_overlap({{{0, 3}, {0, -1}}, {{2, 2}, {3, 1}}}, dims));
  CHECK(slices_overlap({{{1, 1}, {0, 4}}, {{3, 1}, {0, 4}}, {{0, 2}, {1, 1}}}, dims));
  CHECK(slices_overlap({{}, {}}, {}));
  CHECK_FALSE(slices_overlap({{}}, {}));
}

TEST_CASE("parts of several processes become one checkpoint", "[checkpoint][bundle]") {
  const TemporaryDirectory directory;
  std::vector<std::string> parts;
  for (int part = 0; part < 3; ++part) {
    parts.push_back(directory / ("ckpt_temp/part-" + std::to_string(part)));
    BundleWriter writer(parts.back());
    writer.add("v" + std::to_string(part), DType::Float32, {2}, bytes_of(counting(2)));
    writer.add_slice("t", io::DataType::Float, {3, 2}, {{part, 1}, {0, -1}},
                     bytes_of(std::vector<float>{float(part), 1}));
    writer.finish();
  }
  merge_bundles(parts, directory / "ckpt");
  BundleReader reader(directory / "ckpt");
  CHECK(reader.num_shards() == 3);
  CHECK(reader.keys() == std::vector<std::string>{"t", "v0", "v1", "v2"});
  CHECK(reader.entry("v2").shard_id == 2);
  CHECK(reader.read_values<float>("t") == std::vector<float>{0, 1, 1, 1, 2, 1});
  reader.verify();
  CHECK(names_in(directory.path()).size() == 4);
}

TEST_CASE("parts that hold the same tensor are refused and left alone", "[checkpoint][bundle]") {
  const TemporaryDirectory directory;
  write_golden(directory / "one");
  write_golden(directory / "two");
  const auto merge = [&] {
    merge_bundles({directory / "one", directory / "two"}, directory / "m");
  };
  CHECK_THROWS_AS(merge(), InvalidArgumentError);
  CHECK(names_in(directory.path()).size() == 4);
  CHECK(reads_well(directory / "one"));
}

TEST_CASE("mistakes while writing are named and spoil nothing", "[checkpoint][bundle]") {
  const TemporaryDirectory directory;
  BundleWriter writer(directory / "ckpt");
  const auto values = counting(6);
  writer.add("a", DType::Float32, {6}, bytes_of(values));
  CHECK_THROWS_AS(writer.add("a", DType::Float32, {6}, bytes_of(values)), InvalidArgumentError);
  CHECK_THROWS_AS(writer.add("", DType::Float32, {6}, bytes_of(values)), InvalidArgumentError);
  CHECK_THROWS_AS(writer.add("b", DType::Float32, {7}, bytes_of(values)), InvalidArgumentError);
  CHECK_THROWS_AS(writer.add("b", DType::Float32, {-1}, {}), InvalidArgumentError);
  CHECK_THROWS_AS(writer.add("b", io::DataType::String, {1}, {}), InvalidArgumentError);
  CHECK_THROWS_AS(writer.add_strings("b", {2}, {}), InvalidArgumentError);
  CHECK_THROWS_AS(writer.add_slice("b", io::DataType::Float, {6}, {{3, 4}}, {}),
                  InvalidArgumentError);
  writer.finish();
  CHECK_THROWS_AS(writer.finish(), FailedPreconditionError);
  CHECK(BundleReader(directory / "ckpt").keys() == std::vector<std::string>{"a"});
}

TEST_CASE("a writer that is not finished leaves nothing behind", "[checkpoint][bundle]") {
  const TemporaryDirectory directory;
  {
    BundleWriter writer(directory / "ckpt");
    writer.add_string("a", "b");
  }
  CHECK(names_in(directory.path()).empty());
}

TEST_CASE("a full disk leaves the old checkpoint whole and no temporaries",
          "[checkpoint][bundle]") {
  const TemporaryDirectory directory;
  write_small(directory / "ckpt");
  const std::string index = read(directory / "ckpt.index");
  const auto save = [&](int elements, int tensors) {
    BundleWriter writer(directory / "ckpt");
    for (int i = 0; i < tensors; ++i) {
      writer.add("tensor" + std::to_string(i), DType::Float32, {elements},
                 bytes_of(counting(elements)));
    }
    writer.finish();
  };
  {
    const FileSizeLimit limit(20'000);
    CHECK_THROWS_AS(save(100'000, 1), ResourceExhaustedError);  // while the data is written
    CHECK_THROWS_AS(save(1, 3000), ResourceExhaustedError);     // while the index is written
  }
  CHECK(read(directory / "ckpt.index") == index);
  CHECK(reads_well(directory / "ckpt"));
  CHECK(names_in(directory.path()).size() == 2);
}

TEST_CASE("errors of reading name file, tensor and reason", "[checkpoint][bundle]") {
  const TemporaryDirectory directory;
  const std::string prefix = directory / "ckpt", data = prefix + ".data-00000-of-00001";
  write_small(prefix);
  BundleReader reader(prefix);
  CHECK(error_of([&] { reader.read("none"); }) ==
        "checkpoint " + prefix + ": holds no tensor 'none'");
  CHECK_THROWS_AS(reader.read_values<int32_t>("kernel"), InvalidArgumentError);
  CHECK_THROWS_AS(reader.read("names"), InvalidArgumentError);
  CHECK_THROWS_AS(reader.read_strings("kernel"), InvalidArgumentError);
  CHECK_THROWS_AS(reader.read_string("names"), InvalidArgumentError);
  CHECK_THROWS_AS(BundleReader(directory / "missing"), NotFoundError);
  CHECK(error_of([&] { BundleReader reader(directory.path()); }).find("a directory") !=
        std::string::npos);

  std::string bytes = read(data);
  bytes[3] = char(bytes[3] ^ 1);
  write(data, bytes);
  const std::string damaged = error_of([&] { BundleReader(prefix).read("kernel"); });
  CHECK(damaged.find(data + ": tensor 'kernel'") != std::string::npos);
  CHECK(damaged.find("checksum") != std::string::npos);
  write(data, bytes.substr(0, 10));
  CHECK(error_of([&] { BundleReader(prefix).read("kernel"); }).find("only 10") !=
        std::string::npos);
  throw_if_error(io::remove_recursively(data));
  CHECK_THROWS_AS(BundleReader(prefix).read("kernel"), NotFoundError);
}

TEST_CASE("a compressed block is named as such", "[checkpoint][bundle]") {
  const TemporaryDirectory directory;
  std::string block("\x01\x00\x00", 3);  // stored bytes do not matter, the type byte does
  std::string table = block + '\x01';
  io::append_fixed32(table, io::mask_crc(io::crc32c(table)));
  std::string footer("\x00\x03\x00\x03", 4);  // both handles: offset 0, size 3
  footer.resize(40);
  table += footer + from_hex("57fb808b247547db");
  write(directory / "ckpt.index", table);
  const std::string message = error_of([&] { BundleReader reader(directory / "ckpt"); });
  CHECK(message.find("snappy") != std::string::npos);
}

TEST_CASE("no changed byte goes unseen or crashes the reader", "[checkpoint][bundle]") {
  const TemporaryDirectory directory;
  write_small(directory / "ckpt");
  for (const char* suffix : {".index", ".data-00000-of-00001"}) {
    const std::string bytes = read((directory / "ckpt") + suffix);
    for (size_t i = 0; i < bytes.size(); ++i) {
      for (const int flip : {0x01, 0x80, 0xff}) {
        std::string damaged = bytes;
        damaged[i] = char(damaged[i] ^ flip);
        write((directory / "ckpt") + suffix, damaged);
        // Only the padding of the footer carries nothing.
        const size_t from_end = bytes.size() - i;
        const bool padding = suffix[1] == 'i' && from_end > 8 && from_end < 48;
        if (reads_well(directory / "ckpt")) CHECK(padding);
      }
    }
    write((directory / "ckpt") + suffix, bytes);
  }
}

TEST_CASE("files cut off at any length are errors", "[checkpoint][bundle]") {
  const TemporaryDirectory directory;
  write_small(directory / "ckpt");
  for (const char* suffix : {".index", ".data-00000-of-00001"}) {
    const std::string bytes = read((directory / "ckpt") + suffix);
    for (size_t size = 0; size < bytes.size(); ++size) {
      write((directory / "ckpt") + suffix, bytes.substr(0, size));
      CHECK_FALSE(reads_well(directory / "ckpt"));
    }
    write((directory / "ckpt") + suffix, bytes);
  }
  CHECK(reads_well(directory / "ckpt"));
}

TEST_CASE("an index that lies about sizes costs no memory", "[checkpoint][bundle]") {
  const TemporaryDirectory directory;
  const int64_t huge = int64_t{1} << 40;
  const auto refuse = [&](const BundleEntry& entry, const BundleEntries& more = {}) {
    BundleEntries entries = more;
    entries["t"] = entry;
    write(directory / "ckpt.index", encode_bundle_index({.num_shards = 1}, entries));
    write(directory / "ckpt.data-00000-of-00001", "abcd");
    CHECK_FALSE(reads_well(directory / "ckpt"));
  };
  BundleEntry entry;
  entry.dtype = io::DataType::Float;
  entry.dims = {huge};
  entry.size = 4 * huge;
  refuse(entry);
  entry.dims = {huge, huge};
  refuse(entry);
  entry.dims = {1};
  entry.size = 4;
  entry.offset = std::numeric_limits<int64_t>::max() - 1;
  refuse(entry);
  entry.offset = 0;
  entry.shard_id = 1;
  refuse(entry);
  BundleEntry strings;
  strings.dtype = io::DataType::String;
  strings.dims = {huge};
  strings.size = 4;
  refuse(strings);
  BundleEntry whole, part;
  whole.dtype = part.dtype = io::DataType::Float;
  whole.dims = part.dims = {0, huge};
  whole.dims[0] = huge / 4;
  whole.slices = {{{0, 0}, {0, -1}}};
  refuse(whole, {{slice_key("t", whole.slices[0]), part}});
}
