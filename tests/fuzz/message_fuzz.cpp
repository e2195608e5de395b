// libFuzzer target over every message between tasks; the first byte of the input selects one.
//   clang++ -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -I. -Iinclude
//     tests/fuzz/message_fuzz.cpp -labsl_status -labsl_statusor ...

#include <tests/fuzz/all_messages.hpp>

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::any_message({reinterpret_cast<const char*>(data), size});
  return 0;
}
