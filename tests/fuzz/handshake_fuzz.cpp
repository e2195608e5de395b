// libFuzzer target over both sides of the handshake; the first byte of the input selects one.
//   clang++ -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -I. -Iinclude
//     tests/fuzz/handshake_fuzz.cpp -labsl_status -labsl_statusor ...

#include <tests/fuzz/messages.hpp>

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  data[0] % 2 == 0 ? fuzz::to_server(bytes) : fuzz::to_client(bytes);
  return 0;
}
