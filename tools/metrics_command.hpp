#pragma once
/// `distribute metrics`: the token for reading a task's metrics, and the metrics themselves.

#include <string>
#include <vector>

namespace distribute_tools {

/// `words`: "token", or "get" and "host:port". Returns the exit status: 0; 1 with a line on stderr
/// when the task cannot be read; 2 for wrong words.
int metrics_command(const std::vector<std::string>& words);

}  // namespace distribute_tools
