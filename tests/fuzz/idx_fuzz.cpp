// libFuzzer target over the IDX parser.
//   clang++ -std=c++20 -g -O1 -fopenmp -fsanitize=fuzzer,address,undefined -I. -Iinclude
//     tests/fuzz/idx_fuzz.cpp -labsl_status -labsl_statusor ... -lz

#include <distribute/data/mnist_and_cifar.hpp>

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const std::string bytes(reinterpret_cast<const char*>(data), size);
    distribute::data::parse_idx(bytes, "fuzz").to_vector();
  } catch (const distribute::DataLossError&) {
    // The one way to refuse.
  }
  return 0;
}
