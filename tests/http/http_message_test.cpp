#include <distribute/http/http_client.hpp>

#include <tests/support/catch.hpp>

using namespace distribute;

TEST_CASE("headers are found in any capitals, the first one of a name", "[io][http]") {
  const io::HttpResponse response{.status = 200,
                                  .headers = {{"ETag", "\"a\""}, {"etag", "b"}, {"Empty", ""}}};
  CHECK(response.header("etag") == "\"a\"");
  CHECK(response.header("ETAGS").empty());
  REQUIRE(io::find_header(response.headers, "empty"));
  CHECK(io::find_header(response.headers, "eta") == nullptr);
}

TEST_CASE("an answer is fine from 200 to 299", "[io][http]") {
  CHECK(io::HttpResponse{.status = 204}.ok());
  for (const int status : {0, 100, 199, 301, 308, 404, 500}) {
    CHECK_FALSE(io::HttpResponse{.status = status}.ok());
  }
}

TEST_CASE("the beginning of a page is told in one line", "[io][http]") {
  const io::HttpResponse page{.body = "<html>\n  <p>No\tsuch\r\npage</p>\n"};
  CHECK(page.excerpt() == "<html> <p>No such page</p>");
  CHECK(io::HttpResponse{.body = std::string(1000, 'x')}.excerpt() == std::string(200, 'x'));
}
