#include <tests/support/catch.hpp>

#include <random>
#include <string>
#include <vector>

#if DISTRIBUTE_HAS_OPENSSL
#include <distribute/base/status.hpp>
#include <distribute/net/detail/tls_records.hpp>

using namespace distribute::net_internal;
using distribute::throw_if_error;
using distribute::value_or_throw;
using Bytes = std::vector<std::byte>;
using Direction = TlsRecords::Direction;

namespace {

Secret secret() { return Secret(std::string(32, 's')); }

Bytes random_bytes(size_t count) {
  std::mt19937 random{uint32_t(count)};
  Bytes bytes(count);
  for (std::byte& byte : bytes) byte = std::byte(random() & 255);
  return bytes;
}

Bytes seal(TlsRecords& records, const Bytes& content, RecordType type = RecordType::Data) {
  Bytes out(content.size() + kRecordExtra);
  throw_if_error(records.seal(type, content, out.data()));
  return out;
}

}  // namespace

TEST_CASE("OpenSSL's cipher and the fast one make the same records and read each other's",
          "[net][tls_records]") {
  const auto fast = FastGcm::make();
  if (!fast) WARN("no fast cipher here: OpenSSL's is compared with itself");
  TlsRecords slow_seal(Direction::Seal, secret(), nullptr),
      fast_seal(Direction::Seal, secret(), fast);
  TlsRecords slow_open(Direction::Open, secret(), nullptr),
      fast_open(Direction::Open, secret(), fast);
  for (const size_t size : {0, 1, 15, 16, 17, 31, 255, 256, 257, 1000, 5000, 16383, 16384}) {
    CAPTURE(size);
    const Bytes content = random_bytes(size);
    const Bytes record = seal(slow_seal, content);
    CHECK(record == seal(fast_seal, content));
    for (TlsRecords* records : {&slow_open, &fast_open}) {
      Bytes out(size);
      const auto opened = value_or_throw(records->open(record, out.data()));
      CHECK(opened.type == RecordType::Data);
      CHECK(opened.size == size);
      CHECK(out == content);
    }
  }
  for (TlsRecords* records : {&slow_seal, &fast_seal, &slow_open, &fast_open})
    throw_if_error(records->next_key());
  const Bytes content = random_bytes(100);
  Bytes out(100);
  CHECK(value_or_throw(slow_open.open(seal(fast_seal, content), out.data())).size == 100);
  CHECK(value_or_throw(fast_open.open(seal(slow_seal, content), out.data())).size == 100);
}

TEST_CASE("a record that was changed, repeated, left out or is of an old key is refused",
          "[net][tls_records]") {
  const auto fast = GENERATE(false, true) ? FastGcm::make() : nullptr;
  CAPTURE(fast != nullptr);
  TlsRecords sealing(Direction::Seal, secret(), fast);
  const Bytes content = random_bytes(300);
  const Bytes first = seal(sealing, content), second = seal(sealing, content);
  CHECK(first != second);
  Bytes out(300);
  for (size_t i = 0; i < first.size(); i += 7) {
    TlsRecords opening(Direction::Open, secret(), fast);
    Bytes changed = first;
    changed[i] ^= std::byte{0x40};
    CHECK(opening.open(changed, out.data()).status().code() == absl::StatusCode::kDataLoss);
  }
  TlsRecords opening(Direction::Open, secret(), fast);
  CHECK(opening.open(first, out.data()).ok());
  CHECK_FALSE(opening.open(first, out.data()).ok());
  TlsRecords skipping(Direction::Open, secret(), fast);
  CHECK_FALSE(skipping.open(second, out.data()).ok());
  TlsRecords late(Direction::Open, secret(), fast);
  throw_if_error(late.next_key());
  CHECK_FALSE(late.open(first, out.data()).ok());
}

TEST_CASE("types and padding of records are kept apart from their content", "[net][tls_records]") {
  TlsRecords sealing(Direction::Seal, secret(), nullptr),
      opening(Direction::Open, secret(), nullptr);
  Bytes out(100);
  const Bytes alert = seal(sealing, Bytes(2, std::byte{2}), RecordType::Alert);
  CHECK(value_or_throw(opening.open(alert, out.data())).type == RecordType::Alert);
  Bytes padded(10, std::byte{5});
  padded.push_back(std::byte(RecordType::Data));
  padded.resize(20);
  const auto opened =
      value_or_throw(opening.open(seal(sealing, padded, RecordType(0)), out.data()));
  CHECK(opened.type == RecordType::Data);
  CHECK(opened.size == 10);
}

#else

TEST_CASE("builds without OpenSSL cannot encrypt", "[net][tls_records]") {
  WARN("not tested here");
}

#endif
