#include <distribute/http/credentials.hpp>

#include <tests/support/catch.hpp>

using namespace distribute;

namespace {

std::string hex(const std::string& bytes) {
  std::string text;
  for (const unsigned char c : bytes) {
    text += "0123456789abcdef"[c >> 4];
    text += "0123456789abcdef"[c & 15];
  }
  return text;
}

}  // namespace

// FIPS 180-2, RFC 1321, RFC 4231 (case 2).
TEST_CASE("digests are those of the standards", "[io][digest]") {
  if (!io::has_digests()) SKIP("no OpenSSL");
  CHECK(hex(io::sha256("abc")) ==
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(hex(io::md5("message digest")) == "f96b697d7cb7938d525a2f31aaf161d0");
  CHECK(hex(io::hmac_sha256("Jefe", "what do ya want for nothing?")) ==
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  CHECK(hex(io::sha256("")) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}
