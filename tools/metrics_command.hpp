#pragma once
/// `distribute metrics`: the token for reading a task's metrics, and the metrics themselves.

#include <distribute/net/address.hpp>

#include <string>
#include <vector>

namespace distribute_tools {

/// The metrics of the task at `address` in Prometheus's text format, with this environment's token.
/// Throws  distribute::UnavailableError when nothing answers in time; UnauthenticatedError when the
///         token is not the job's.
std::string read_metrics(const distribute::net::Address& address, double seconds);

/// `words`: "token", or "get" and "host:port". Returns the exit status: 0; 1 with a line on stderr
/// when the task cannot be read; 2 for wrong words.
int metrics_command(const std::vector<std::string>& words);

}  // namespace distribute_tools
