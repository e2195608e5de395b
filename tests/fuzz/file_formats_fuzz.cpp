// libFuzzer target over the file parsers; the first byte of the input selects one.
//   clang++ -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -I. -Iinclude
//     tests/fuzz/file_formats_fuzz.cpp -labsl_status -labsl_statusor ... -lz

#include <tests/fuzz/parsers.hpp>

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 15) {
    case 0: fuzz::bundle_index(bytes); break;
    case 1: fuzz::bundle_rows(bytes); break;
    case 2: fuzz::table_block(bytes); break;
    case 3: fuzz::tfrecord(bytes); break;
    case 4: fuzz::gzip(bytes); break;
    case 5: fuzz::object_graph(bytes); break;
    case 6: fuzz::checkpoint_state(bytes); break;
    case 7: fuzz::event(bytes); break;
    case 8: fuzz::example(bytes); break;
    case 9: fuzz::jpeg(bytes); break;
    case 10: fuzz::png(bytes); break;
    case 11: fuzz::safetensors(bytes); break;
    case 12: fuzz::safetensors_header(bytes); break;
    case 13: fuzz::sequence_example(bytes); break;
    case 14: fuzz::csv(bytes); break;
  }
  return 0;
}
