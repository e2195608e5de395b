#include <distribute/io/compression.hpp>

#include <tests/support/catch.hpp>

namespace io = distribute::io;

namespace distribute::io_internal {
uint32_t crc32c_by_table(uint32_t crc, const char* data, size_t size);
}

TEST_CASE("crc32c gives the check values of RFC 3720", "[io][crc32c]") {
  CHECK(io::crc32c("") == 0u);
  CHECK(io::crc32c("123456789") == 0xe3069283u);
  CHECK(io::crc32c(std::string(32, '\0')) == 0x8a9136aau);
  CHECK(io::crc32c(std::string(32, '\xff')) == 0x62a8ab43u);
  std::string rising, falling;
  for (int i = 0; i < 32; ++i) rising += char(i), falling += char(31 - i);
  CHECK(io::crc32c(rising) == 0x46dd794eu);
  CHECK(io::crc32c(falling) == 0x113fdb5cu);
}

TEST_CASE("crc32c can be continued at any cut", "[io][crc32c]") {
  const std::string text = "the quick brown fox jumps over the lazy dog";
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    CHECK(io::crc32c_extend(io::crc32c(text.substr(0, cut)), text.substr(cut)) == io::crc32c(text));
  }
}

TEST_CASE("crc32c by table and by instruction agree at every length", "[io][crc32c]") {
  std::string bytes;
  for (int i = 0; i < 70; ++i) {
    CHECK(distribute::io_internal::crc32c_by_table(~0u, bytes.data(), bytes.size()) ==
          ~io::crc32c(bytes));
    bytes += char(i * 37 + 11);
  }
}

TEST_CASE("masked checksums are those of leveldb", "[io][crc32c]") {
  CHECK(io::mask_crc(0) == 0xa282ead8u);
  CHECK(io::mask_crc(0xe3069283u) == 0xc78ab0e5u);
}
