// libFuzzer target over the messages of a control connection and what they hold; the first byte of
// the input selects one.
//   clang++ -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -I. -Iinclude
//     tests/fuzz/frame_fuzz.cpp -labsl_status -labsl_statusor ...

#include <tests/fuzz/messages.hpp>

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 3) {
    case 0: fuzz::control_stream(bytes); break;
    case 1: fuzz::descriptions(bytes); break;
    case 2: fuzz::address(bytes); break;
  }
  return 0;
}
