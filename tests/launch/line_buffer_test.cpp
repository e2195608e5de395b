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

TEST_CASE("progress that overwrites itself comes out as it is written", "[launch][line_buffer]") {
  LineBuffer behind("[a] ");  // '\r' at the end of each update
  CHECK(behind.add("step 1\r") == "[a] step 1\r");
  CHECK(behind.add("step 2\rst") == "[a] step 2\r[a] st\r");
  CHECK(behind.add("ep 3\r") == "[a] step 3\r");
  CHECK(behind.add("\n") == "[a] step 3\n");
  CHECK(behind.add("li") == "");
  CHECK(behind.add("ne\n") == "[a] line\n");
  CHECK(behind.finish() == "");

  LineBuffer before("[a] ");  // at its beginning, as tqdm writes
  CHECK(before.add("\r 10%") == "[a]  10%\r");
  CHECK(before.add("\r 20%") == "[a]  20%\r");
  CHECK(before.add("\r100%\n") == "[a] 100%\n");
  CHECK(before.add("\r 50%") == "[a]  50%\r");
  CHECK(before.finish() == "[a]  50%\n");
  CHECK(before.finish() == "");
}

TEST_CASE("lines that end in \\r\\n stay lines", "[launch][line_buffer]") {
  LineBuffer lines("[a] ");
  CHECK(lines.add("one\r\ntwo\r\n\r\nth") == "[a] one\r\n[a] two\r\n[a] \r\n");
  CHECK(lines.add("ree\r\n") == "[a] three\r\n");
  CHECK(lines.add("four\r") == "[a] four\r");  // the '\n' comes later
  CHECK(lines.add("\nfive\n") == "[a] four\n[a] five\n");
}

TEST_CASE("an update that grows for ever is not drawn anew for ever", "[launch][line_buffer]") {
  LineBuffer lines("");
  size_t bytes = lines.add("\r").size();
  for (int i = 0; i < 100'000; ++i) bytes += lines.add("x").size();
  CHECK(bytes < LineBuffer::kLongestUpdate * LineBuffer::kLongestUpdate);
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
