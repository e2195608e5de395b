#include <distribute/base/parallel.hpp>

#include "../support/catch.hpp"

TEST_CASE("every byte is copied, and none beside it", "[base][copy_memory]") {
  for (const size_t bytes : {0, 1, 63, 2047, 2048, 2049, 4096, 10'000}) {
    std::vector<unsigned char> from(bytes + 2), to(bytes + 2, 7);
    for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<unsigned char>(i * 31 + i / 256);
    distribute::copy_memory(to.data() + 1, from.data() + 1, bytes);
    CHECK(std::equal(to.begin() + 1, to.end() - 1, from.begin() + 1));
    CHECK((to.front() == 7 && to.back() == 7));
  }
}
