#include <distribute/io/protobuf.hpp>

#include <tests/support/catch.hpp>

using namespace distribute;
using Bytes = std::string;

TEST_CASE("varints survive a round trip at every length", "[io][wire]") {
  for (int bit = 0; bit < 64; ++bit) {
    for (uint64_t value : {(uint64_t{1} << bit) - 1, uint64_t{1} << bit, ~uint64_t{0} >> bit}) {
      Bytes bytes;
      io::append_varint(bytes, value);
      std::string_view rest = bytes;
      uint64_t back = 0;
      REQUIRE(io::take_varint(rest, back));
      CHECK(back == value);
      CHECK(rest.empty());
    }
  }
}

TEST_CASE("a varint that is cut off or too long is refused and leaves the input", "[io][wire]") {
  for (const Bytes& bytes :
       {Bytes(), Bytes("\x80"), Bytes(9, '\xff'), Bytes(11, '\xff'), Bytes(9, '\xff') + "\x02"}) {
    std::string_view rest = bytes;
    uint64_t value = 7;
    CHECK_FALSE(io::take_varint(rest, value));
    CHECK(rest.size() == bytes.size());
    CHECK(value == 7);
  }
}

TEST_CASE("the protobuf writer gives the bytes of the protobuf documentation", "[io][protobuf]") {
  io::ProtoWriter writer;
  writer.integer(1, 150);
  CHECK(writer.str() == "\x08\x96\x01");

  io::ProtoWriter text;
  text.bytes(2, "testing");
  CHECK(text.str() == Bytes("\x12\x07testing"));

  io::ProtoWriter packed;
  packed.packed_integers(6, std::vector<int64_t>{3, 270, 86942});
  CHECK(packed.str() == Bytes("\x32\x06\x03\x8e\x02\x9e\xa7\x05"));

  io::ProtoWriter negative;
  negative.integer(1, -1);
  CHECK(negative.str() == Bytes("\x08") + Bytes(9, '\xff') + "\x01");
}

TEST_CASE("default values are left out unless presence is asked for", "[io][protobuf]") {
  io::ProtoWriter writer;
  writer.integer(1, 0);
  writer.float32(2, 0.0f);
  writer.bytes(3, "");
  writer.packed_floats(4, {});
  CHECK(writer.str().empty());
  writer.integer(1, 0, io::Presence::Always);
  writer.float32(2, -0.0f);
  writer.message(3, io::ProtoWriter());
  CHECK(writer.str() == Bytes("\x08\x00\x15\x00\x00\x00\x80\x1a\x00", 9));
}

TEST_CASE("every field type survives a round trip", "[io][protobuf]") {
  io::ProtoWriter writer;
  writer.integer(1, std::numeric_limits<int64_t>::min());
  writer.float32(2, 1.5f);
  writer.float64(3, -2.25);
  writer.bytes(4, "abc");
  writer.packed_floats(5, std::vector<float>{1, 2});
  io::ProtoReader reader(writer.str());
  io::ProtoField field;
  REQUIRE(reader.next(field));
  CHECK(field.is(1, io::WireType::Varint));
  CHECK(field.as_int64() == std::numeric_limits<int64_t>::min());
  REQUIRE(reader.next(field));
  CHECK(field.as_float() == 1.5f);
  REQUIRE(reader.next(field));
  CHECK(field.as_double() == -2.25);
  REQUIRE(reader.next(field));
  CHECK(field.bytes == "abc");
  REQUIRE(reader.next(field));
  std::vector<float> values;
  REQUIRE(io::append_floats(field, values));
  CHECK(values == std::vector<float>{1, 2});
  CHECK_FALSE(reader.next(field));
  CHECK(reader.ok());
}

TEST_CASE("repeated numbers are read packed and one by one", "[io][protobuf]") {
  const Bytes bytes("\x08\x05\x0a\x02\x06\x07\x08\x08", 8);
  io::ProtoReader reader(bytes);
  std::vector<int64_t> values;
  for (io::ProtoField field; reader.next(field);) REQUIRE(io::append_integers(field, values));
  CHECK(values == std::vector<int64_t>{5, 6, 7, 8});
}

TEST_CASE("malformed messages end the walk without a crash", "[io][protobuf]") {
  for (const Bytes& bytes : {Bytes("\x08"),
                             Bytes("\x0a\x05"
                                   "abc"),
                             Bytes("\x0d\x01\x02"), Bytes("\x09\x01"), Bytes("\x0b"),
                             Bytes("\x00\x01", 2), Bytes("\x0e\x01"), Bytes(10, '\xff'),
                             Bytes("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")}) {
    io::ProtoReader reader(bytes);
    io::ProtoField field;
    while (reader.next(field)) {
    }
    CHECK_FALSE(reader.ok());
    CHECK_FALSE(reader.next(field));
  }
}
