#include <distribute/net/address.hpp>

#include <tests/support/catch.hpp>

#include <string>

namespace net = distribute::net;

TEST_CASE("addresses are read and written", "[net][address]") {
  const auto read = [](const std::string& text) {
    const auto address = net::parse_address(text);
    return address.ok() ? address->host + "|" + std::to_string(address->port) : "error";
  };
  CHECK(read("10.0.0.1:2222") == "10.0.0.1|2222");
  CHECK(read("host.example:0") == "host.example|0");
  CHECK(read("[::1]:65535") == "::1|65535");
  CHECK(read("\xc3\xa4.example:1") == "\xc3\xa4.example|1");
  CHECK(net::parse_address("[fe80::1]:5")->text() == "[fe80::1]:5");
  CHECK(net::parse_address("a:5")->text() == "a:5");
}

TEST_CASE("bad addresses are errors that say what is wrong", "[net][address]") {
  const auto error = [](const std::string& text) {
    return std::string(net::parse_address(text).status().ToString());
  };
  const auto says = [&](const std::string& text, const std::string& part) {
    INFO(error(text));
    CHECK(error(text).find(part) != std::string::npos);
    CHECK(error(text).find("wanted host:port") != std::string::npos);
  };
  says("", "has no port");
  says("host", "has no port");
  says(":22", "has no host");
  says("[]:22", "has no host");
  says("::1:22", "an IPv6 address needs brackets");
  says("[::1:22", "the bracket is not closed");
  says("grpc://host:22", "a scheme does not belong here");
  says("host/path:22", "the host is not a name");
  says("ho st:22", "the host is not a name");
  says("host\n:22", "the host is not a name");
  says(std::string(300, 'x') + ":22", "the host is not a name");
  for (const char* port : {"a:", "a:x", "a:-1", "a:65536", "a:22x", "a: 22", "a:99999999999"})
    says(port, "the port is not a number from 0 to 65535");
}

TEST_CASE("loopback addresses are recognised", "[net][address]") {
  for (const char* host : {"127.0.0.1", "127.9.9.9", "::1", "localhost", "::ffff:127.0.0.1"})
    CHECK(net::Address{host, 1}.is_loopback());
  for (const char* host : {"0.0.0.0", "::", "10.0.0.1", "128.0.0.1", "localhost.example",
                           "127.0.0.1.example", "::ffff:10.0.0.1", ""})
    CHECK_FALSE(net::Address{host, 1}.is_loopback());
}
