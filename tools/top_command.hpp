#pragma once
/// `distribute top`: a table of a running job's tasks that is drawn anew every few seconds.

#include <string>
#include <vector>

namespace distribute_tools {

struct TopOptions {
  double interval = 2;  // seconds between readings
  int64_t count = 0;    // tables; 0: until no task answers any more, with json 1
  bool json = false;    // an object on each line instead of a table
};

/// `words`: HOST:PORT or HOST:FIRST-LAST of tasks that serve their metrics. On a terminal the table
/// stays in its place; elsewhere each one is printed below the last, without control characters.
/// Returns the exit status: 0; 1 with a line on stderr when no task can be read; 2 for wrong words.
int top_command(const std::vector<std::string>& words, const TopOptions& options);

}  // namespace distribute_tools
