#pragma once
/// Reads the metrics of a task, for `distribute metrics get` and `distribute top`.

#include <distribute/net/address.hpp>

#include <string>

namespace distribute_tools {

/// The metrics of the task at `address` in Prometheus's text format, with this environment's token.
/// Throws  distribute::UnavailableError when nothing answers in time; UnauthenticatedError when the
///         token is not the job's.
std::string read_metrics(const distribute::net::Address& address, double seconds);

}  // namespace distribute_tools
