#include <distribute/launch/detail/line_buffer.hpp>

#include <tests/support/catch.hpp>

using namespace distribute::launch;

TEST_CASE("only whole lines come out, each with the prefix", "[launch][line_buffer]") {
  LineBuffer lines("[a] ");
  CHECK(lines.add("one\ntw") == "[a] one\n");
  CHECK(lines.add("o") == "");
  CHECK(lines.add("\n\nthree\n") == "[a] two\n[a] \n[a] three\n");
  CHECK(lines.add("end") == "");
  CHECK(lines.finish() == "[a] end\n");
  CHECK(lines.finish() == "");
}

TEST_CASE("a line without end does not fill the memory", "[launch][line_buffer]") {
  LineBuffer lines("");
  size_t bytes = 0;
  for (int i = 0; i < 50; ++i) bytes += lines.add(std::string(100'000, 'x')).size();
  CHECK(bytes >= 50 * 100'000 - LineBuffer::kLongestLine);
}

TEST_CASE("prefixes are in colour only where asked for", "[launch][line_buffer]") {
  CHECK(task_prefix("worker 0", 0, false) == "[worker 0] ");
  CHECK(task_prefix("worker 0", 0, true) == "\x1b[32m[worker 0]\x1b[0m ");
  CHECK(task_prefix("worker 1", 1, true) != task_prefix("worker 1", 2, true));
}
