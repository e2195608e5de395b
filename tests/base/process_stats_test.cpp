#include <distribute/base/limits.hpp>

#include <tests/support/catch.hpp>

using namespace distribute;

TEST_CASE("a process knows how long it has run and what it used", "[base][process_stats]") {
  const double seconds = seconds_since_process_start();
  CHECK(seconds >= 0);
  CHECK(seconds < 24 * 3600);  // since the start of the process, not of the machine
  CHECK(seconds_since_process_start() >= seconds);
  const int64_t before = peak_rss_bytes();
  CHECK(before > 1 << 20);
  std::vector<char> block;
  block.resize(size_t(before));
  std::memset(block.data(), 1, block.size());
  CHECK(peak_rss_bytes() > before);
}
