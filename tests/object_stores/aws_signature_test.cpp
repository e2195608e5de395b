#include <distribute/http/credentials.hpp>
#include <distribute/object_stores/detail/aws_signature.hpp>

#include <tests/support/catch.hpp>

using namespace distribute;

namespace {

/// The signature that sign_aws_request gives.
std::string signature(io::HttpRequest request, const io::AwsCredentials& credentials,
                      const io::AwsSignatureScope& scope) {
  REQUIRE(io::sign_aws_request(request, credentials, scope).ok());
  const std::string text = *io::find_header(request.headers, "authorization");
  return text.substr(text.find("Signature=") + 10);
}

constexpr char kEmpty[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const io::AwsCredentials kExample{.access_key_id = "AKIAIOSFODNN7EXAMPLE",
                                  .secret_access_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"};
constexpr int64_t kMay2013 = 1369353600;  // 2013-05-24 00:00:00

}  // namespace

// "Signature Calculations: Examples" of the Amazon S3 API reference.
TEST_CASE("signatures are those of Amazon's S3 examples", "[io][aws_signature]") {
  if (!io::has_digests()) SKIP("no OpenSSL");
  const std::string host = "https://examplebucket.s3.amazonaws.com";
  const io::AwsSignatureScope scope{
      .region = "us-east-1", .time = kMay2013, .payload_hash = kEmpty};
  CHECK(signature({.url = host + "/test.txt", .headers = {{"Range", "bytes=0-9"}}}, kExample,
                  scope) == "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
  CHECK(signature({.url = host + "/?lifecycle"}, kExample, scope) ==
        "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
  CHECK(signature({.url = host + "/?prefix=J&max-keys=2"}, kExample, scope) ==
        "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");

  io::AwsSignatureScope put = scope;
  put.payload_hash = io::aws_payload_hash("Welcome to Amazon S3.");
  CHECK(put.payload_hash == "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072");
  CHECK(signature({.method = "PUT",
                   .url = host + "/test%24file.text",
                   .headers = {{"Date", "Fri, 24 May 2013 00:00:00 GMT"},
                               {"x-amz-storage-class", "REDUCED_REDUNDANCY"}}},
                  kExample,
                  put) == "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
}

// The cases get-vanilla and get-vanilla-query-order-key-case of Amazon's aws-sig-v4-test-suite.
TEST_CASE("signatures are those of Amazon's test suite", "[io][aws_signature]") {
  if (!io::has_digests()) SKIP("no OpenSSL");
  const io::AwsCredentials credentials{
      .access_key_id = "AKIDEXAMPLE",
      .secret_access_key = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"};
  const io::AwsSignatureScope scope{.region = "us-east-1",
                                    .service = "service",
                                    .time = 1440938160,  // 2015-08-30 12:36:00
                                    .payload_hash = kEmpty};
  CHECK(signature({.url = "https://example.amazonaws.com/"}, credentials, scope) ==
        "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
  CHECK(signature({.url = "https://example.amazonaws.com/?Param2=value2&Param1=value1"},
                  credentials,
                  scope) == "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500");
}

TEST_CASE("temporary credentials send their token, and it is signed", "[io][aws_signature]") {
  if (!io::has_digests()) SKIP("no OpenSSL");
  io::AwsCredentials temporary = kExample;
  temporary.session_token = "TOKEN";
  io::HttpRequest request{.url = "http://host:9000/b/k"};
  REQUIRE(io::sign_aws_request(request, temporary,
                               {.region = "r", .time = kMay2013, .payload_hash = kEmpty})
              .ok());
  CHECK(*io::find_header(request.headers, "x-amz-security-token") == "TOKEN");
  CHECK(*io::find_header(request.headers, "host") == "host:9000");
  CHECK(io::find_header(request.headers, "authorization")
            ->find("SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,") !=
        std::string::npos);
}

TEST_CASE("every part of a request changes its signature", "[io][aws_signature]") {
  if (!io::has_digests()) SKIP("no OpenSSL");
  const io::AwsSignatureScope scope{
      .region = "us-east-1", .time = kMay2013, .payload_hash = kEmpty};
  const io::HttpRequest request{.url = "https://h/b/k?a=1", .headers = {{"Range", "bytes=0-9"}}};
  const std::string signed_once = signature(request, kExample, scope);
  CHECK(signature(request, kExample, scope) == signed_once);
  auto changed = [&](auto&& change) {
    auto other_request = request;
    auto other_scope = scope;
    auto other_key = kExample;
    change(other_request, other_scope, other_key);
    return signature(other_request, other_key, other_scope) != signed_once;
  };
  CHECK(changed([](auto& r, auto&, auto&) { r.method = "HEAD"; }));
  CHECK(changed([](auto& r, auto&, auto&) { r.url = "https://h/b/K?a=1"; }));
  CHECK(changed([](auto& r, auto&, auto&) { r.url = "https://h/b/k?a=2"; }));
  CHECK(changed([](auto& r, auto&, auto&) { r.url = "https://g/b/k?a=1"; }));
  CHECK(changed([](auto& r, auto&, auto&) { r.headers[0].second = "bytes=0-8"; }));
  CHECK(changed([](auto&, auto& s, auto&) { s.region = "eu-west-1"; }));
  CHECK(changed([](auto&, auto& s, auto&) { s.time += 1; }));
  CHECK(changed([](auto&, auto& s, auto&) { s.payload_hash = "UNSIGNED-PAYLOAD"; }));
  CHECK(changed([](auto&, auto&, auto& k) { k.secret_access_key += "x"; }));
}

TEST_CASE("default ports and blanks are signed as they are sent", "[io][aws_signature]") {
  if (!io::has_digests()) SKIP("no OpenSSL");
  const io::AwsSignatureScope scope{.region = "r", .time = kMay2013, .payload_hash = kEmpty};
  CHECK(signature({.url = "https://h:443/k"}, kExample, scope) ==
        signature({.url = "https://h/k"}, kExample, scope));
  CHECK(signature({.url = "https://h/k", .headers = {{"X-A", "  one   two "}}}, kExample, scope) ==
        signature({.url = "https://h/k", .headers = {{"x-a", "one two"}}}, kExample, scope));
}

TEST_CASE("anonymous requests are left alone", "[io][aws_signature]") {
  io::HttpRequest request{.url = "https://h/b/k"};
  REQUIRE(io::sign_aws_request(request, {}, {.region = "r", .payload_hash = kEmpty}).ok());
  CHECK(request.headers.empty());
}
