#include <distribute/base/config.hpp>
#include <distribute/base/environment.hpp>
#include <distribute/base/status.hpp>
#include <distribute/net/frame.hpp>
#include <distribute/net/socket.hpp>

#include <tests/support/catch.hpp>

#include <cstring>
#include <string>

namespace net = distribute::net;
using distribute::value_or_throw;
using net::Deadline;

namespace {

/// Feeds `bytes` in pieces of at most `piece`; the frame, or the error.
absl::StatusOr<net::Frame> read_in_pieces(const std::string& bytes, size_t piece, uint64_t most) {
  net::FrameReader reader(most);
  size_t at = 0;
  while (!reader.complete() && at < bytes.size()) {
    const auto space = reader.space();
    const size_t count = std::min({piece, space.size(), bytes.size() - at});
    std::memcpy(space.data(), bytes.data() + at, count);
    at += count;
    if (const absl::Status status = reader.filled(count); !status.ok()) return status;
  }
  if (!reader.complete()) return absl::OutOfRangeError("not complete");
  CHECK(at <= bytes.size());
  return reader.take();
}

}  // namespace

TEST_CASE("frames arrive whole from pieces of any size", "[net][frame]") {
  for (const size_t size : {0, 1, 15, 16, 17, 1000}) {
    const std::string payload(size, 'p');
    const std::string bytes = net::encode_frame(7, payload);
    CHECK(bytes.size() == net::kFrameHeaderBytes + size);
    for (const size_t piece : {1, 3, 16, 4096}) {
      const auto frame = read_in_pieces(bytes + "next", piece, 1000);
      REQUIRE(frame.ok());
      CHECK(frame->type == 7);
      CHECK(frame->payload == payload);
    }
    for (size_t cut = 0; cut < bytes.size(); cut += 7)
      CHECK(read_in_pieces(bytes.substr(0, cut), 5, 1000).status().code() ==
            absl::StatusCode::kOutOfRange);
  }
}

TEST_CASE("the header on the wire is fixed for ever", "[net][frame]") {
  CHECK(net::encode_frame(0x0102, "ab", 3) ==
        std::string("DSTB\x03\x00\x02\x01\x02\0\0\0\0\0\0\0ab", 18));
}

TEST_CASE("bad headers are refused before memory is reserved", "[net][frame]") {
  const auto error = [](std::string header) {
    return std::string(net::parse_frame_header(header, 100).status().ToString());
  };
  const std::string good = net::encode_frame(1, std::string(100, 'x')).substr(0, 16);
  CHECK(net::parse_frame_header(good, 100)->length == 100);
  CHECK(error(good.substr(0, 15)).find("not a message") != std::string::npos);
  CHECK(error("X" + good.substr(1)).find("not a message") != std::string::npos);
  const std::string meets =
      "protocol version 1 meets version 2 of distribute " + std::string(distribute::kVersion);
  CHECK(error(net::encode_frame(1, "", 1)).find(meets) != std::string::npos);
  std::string huge = good;
  for (int i = 8; i < 16; ++i) huge[size_t(i)] = '\xff';
  CHECK(error(huge).find("18446744073709551615 bytes where at most 100") != std::string::npos);
}

TEST_CASE("frames travel over a socket", "[net][frame]") {
  auto listener = value_or_throw(net::Listener::bind({"127.0.0.1", 0}, Deadline::after_seconds(5)));
  auto client = value_or_throw(net::connect(listener.address(), Deadline::after_seconds(5)));
  auto server = value_or_throw(listener.accept(Deadline::after_seconds(5)));
  CHECK(net::write_frame(client, 3, "hello", Deadline::after_seconds(5)).ok());
  CHECK(net::write_frame(client, 4, "", Deadline::after_seconds(5)).ok());
  CHECK(net::read_frame(server, 5, Deadline::after_seconds(5))->payload == "hello");
  CHECK(net::read_frame(server, 5, Deadline::after_seconds(5))->type == 4);
  CHECK(net::write_frame(client, 3, "too long", Deadline::after_seconds(5)).ok());
  const auto refused = net::read_frame(server, 5, Deadline::after_seconds(5));
  CHECK(refused.status().code() == absl::StatusCode::kInvalidArgument);
  CHECK(std::string(refused.status().ToString()).find(server.peer()) != std::string::npos);
}

TEST_CASE("texts of strangers are printable", "[net][bytes]") {
  CHECK(distribute::untrusted::printable("a\nb\x7f\xc3\xa4", 20) == "a\\x0ab\\x7f\xc3\xa4");
  CHECK(distribute::untrusted::printable("0123456789", 4) == "0123...");
}
