// libFuzzer target over TF_CONFIG and the other texts that name a cluster; the first byte of the
// input selects one.
//   cmake --preset fuzz && cmake --build --preset fuzz --target tf_config_fuzz

#include <tests/fuzz/cluster_parsers.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  fuzz::kClusterParsers[data[0] % std::size(fuzz::kClusterParsers)](text);
  return 0;
}
