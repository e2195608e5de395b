#include <distribute/http/credentials.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/rsa_key.hpp>

#include <absl/strings/escaping.h>

using namespace distribute;

namespace {

/// printf message | openssl dgst -sha256 -sign KEY | base64
constexpr const char* kSignature =
    "WLh1hl7aFtK/my1RqLyskCnXLCQpRsVR79FCTo2BLATrfYHx63LWmlbtytfCPW0l5KwicIvUv+hfJLUi"
    "IrMHBIaWg6OEpjwPY5Hyn+hclbsGkuvyAgx6LALqxHQ3SyBv4G7ObLVk3I9eFPbCv9/UEhZ6w7t24U4m"
    "w3rAyH8q8ommshBR+Oqgx38mUIr5OX/DP6T8WxgCR8xU2iYB+Gozq/I2S3DdT3c1cgM8gUfQSoirj2dn"
    "627gI0cFyomVcT8iF9zN9OnEbhZrgTeAuiuttv2GFvCy+tHs6KhZZJv9j7G4Z8xAQy4bjidCqNCvKwqn"
    "v7uq1GZSFpA/xevSitGc4w==";

constexpr const char* kEllipticKey =
    "-----BEGIN PRIVATE KEY-----\n"
    "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgFyPRs5qcpQ5MSVsn\n"
    "BQRM0GEwNB5VTuecCCCeZNCd6yuhRANCAATS2Ra4XsqHepYm5Bc95VKcjh4/Qs3y\n"
    "i7dx26J8Hzk+o1y0sygYz8XShy9GOKPt9xOKx3mp9j3b4Ab3r36p3tn/\n"
    "-----END PRIVATE KEY-----\n";

}  // namespace

TEST_CASE("a signature with an RSA key is the one that openssl makes", "[io][digest_rsa]") {
  const auto signature = io::rsa_sha256_sign(kTestRsaKey, "message");
  if (absl::IsUnimplemented(signature.status())) SKIP("no OpenSSL");
  REQUIRE(signature.ok());
  CHECK(absl::Base64Escape(*signature) == kSignature);
  CHECK(*io::rsa_sha256_sign(kTestRsaKey, "massage") != *signature);
}

TEST_CASE("what is no RSA key is refused", "[io][digest_rsa]") {
  if (absl::IsUnimplemented(io::rsa_sha256_sign("", "").status())) SKIP("no OpenSSL");
  const std::string cut = std::string(kTestRsaKey).substr(0, 400);
  for (const std::string& key : {std::string(), std::string("key"), cut, std::string(kEllipticKey)})
    CHECK(io::rsa_sha256_sign(key, "message").status().code() ==
          absl::StatusCode::kInvalidArgument);
}
