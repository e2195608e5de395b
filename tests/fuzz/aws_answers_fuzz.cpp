// libFuzzer target over what comes from S3 servers and from the files in ~/.aws; the first byte of
// the input selects the parser.
//   clang++ -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -I. -Iinclude
//     tests/fuzz/aws_answers_fuzz.cpp -lcurl -lpugixml -labsl_status -labsl_statusor ... -lz

#include <distribute/http/credentials.hpp>
#include <distribute/http/http_client.hpp>
#include <distribute/object_stores/detail/xml.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace io = distribute::io;
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0: io::parse_xml(text).IgnoreError(); break;
    case 1: io::parse_aws_profiles(text, "file").IgnoreError(); break;
    case 2: io::parse_url(text).IgnoreError(); break;
    case 3:
      if (io::url_decode(io::url_encode(text)) != text) std::abort();
      if (io::printable_url(text).empty() && !text.empty()) std::abort();
      break;
  }
  return 0;
}
