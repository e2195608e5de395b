#pragma once
/// Which hosts a job runs on, and how many tasks each takes.

#include <distribute/base/config.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace distribute::launch {

struct Host {        // a host and its slots
  std::string name;  // as ssh takes it: "node1", "user@node1", "10.0.0.1", "fd00::1"
  int slots = 1;     // tasks that it takes

  /// The name without "user@": what other hosts connect to.
  std::string address() const;
  /// Whether it is this machine: localhost, its name, or the address of one of its interfaces.
  bool is_local() const;
  bool is_loopback() const;
};

/// "node1:4,node2:4,[fd00::1]:2"; without a number a host has one slot. A host that is named twice
/// has the slots of both.
/// Throws  InvalidArgumentError with the part that does not parse.
std::vector<Host> parse_host_list(std::string_view text);

/// One host a line, as MPI and PBS write them: "node1 slots=4", "node1:4" or "node1", which may
/// come several times. `#` begins a comment. `source` names the file in errors.
/// Throws  InvalidArgumentError with file and line.
std::vector<Host> parse_host_file(std::string_view text, const std::string& source);

/// Throws  NotFoundError when there is no such file.
std::vector<Host> read_host_file(const std::string& path);

int count_slots(const std::vector<Host>& hosts);  // of all hosts together

}  // namespace distribute::launch
