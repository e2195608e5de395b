#include <distribute/http/http_client.hpp>

#include <tests/support/catch.hpp>

using namespace distribute;

TEST_CASE("everything outside the strict set is encoded in capitals", "[io][url]") {
  CHECK(io::url_encode("AZaz09-_.~") == "AZaz09-_.~");
  CHECK(io::url_encode("a b/c=@:,!*'()+%") == "a%20b%2Fc%3D%40%3A%2C%21%2A%27%28%29%2B%25");
  CHECK(io::url_encode("dir/f\xC3\xBC.txt", "/") == "dir/f%C3%BC.txt");
}

TEST_CASE("decoding undoes encoding and leaves broken escapes alone", "[io][url]") {
  std::string all;
  for (int c = 0; c < 256; ++c) all += char(c);
  CHECK(io::url_decode(io::url_encode(all)) == all);
  CHECK(io::url_decode("100%") == "100%");
  CHECK(io::url_decode("%zz%4") == "%zz%4");
}

TEST_CASE("a query is encoded and sorted by bytes", "[io][url]") {
  CHECK(io::query_string({{"uploads", ""}}) == "uploads=");
  CHECK(io::query_string({{"prefix", "a/b c"}, {"list-type", "2"}, {"Zeta", "1"}}) ==
        "Zeta=1&list-type=2&prefix=a%2Fb%20c");
  CHECK(io::query_string({}).empty());
}

TEST_CASE("URLs are taken apart and put together again", "[io][url]") {
  const auto url = io::parse_url("http://user:pw@127.0.0.1:9000/bucket/a%20b?x=1&y=2#part");
  REQUIRE(url.ok());
  CHECK(url->scheme == "http");
  CHECK(url->host == "127.0.0.1");
  CHECK(url->port == 9000);
  CHECK(url->path == "/bucket/a%20b");
  CHECK(url->query == "x=1&y=2");
  CHECK(url->authority() == "127.0.0.1:9000");
  CHECK(url->str() == "http://127.0.0.1:9000/bucket/a%20b?x=1&y=2");

  const auto six = io::parse_url("https://[::1]:8443");
  REQUIRE(six.ok());
  CHECK(six->host == "::1");
  CHECK(six->str() == "https://[::1]:8443");
  CHECK(io::parse_url("https://host")->port == 0);
  CHECK(io::parse_url("https://host?q=1")->query == "q=1");
}

TEST_CASE("what is no URL is refused", "[io][url]") {
  for (const char* text : {"", "host", "://host", "http://", "http://host:", "http://host:port",
                           "http://host:99999", "http://[::1", "http://:80"}) {
    INFO(text);
    CHECK(io::parse_url(text).status().code() == absl::StatusCode::kInvalidArgument);
  }
}

TEST_CASE("messages do not show secrets of a URL", "[io][url]") {
  CHECK(io::printable_url("https://me:secret@host/a@b?part=1") == "https://...@host/a@b?part=1");
  CHECK(io::printable_url("http://h/p?a=1&X-Amz-Signature=0123&b=2") ==
        "http://h/p?a=1&X-Amz-Signature=...&b=2");
  CHECK(io::printable_url("http://h/p?delegation=abc") == "http://h/p?delegation=...");
  CHECK(io::printable_url("http://h/p?prefix=") == "http://h/p?prefix=");
}

TEST_CASE("messages show the beginning of a long URL, and no control characters", "[io][url]") {
  CHECK(io::printable_url("http://\x1b[31m\r\n/a") == "http://\\x1b[31m\\x0d\\x0a/a");
  const std::string shown = io::printable_url("http://" + std::string(20'000, 'x'));
  CHECK(shown == "http://" + std::string(505, 'x') + "...");
}
