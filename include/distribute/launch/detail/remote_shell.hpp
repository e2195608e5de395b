#pragma once
/// How a task is started on another host: through ssh, with its secrets on ssh's stdin.

#include <distribute/base/config.hpp>

#include <map>
#include <string>
#include <vector>

namespace distribute::launch {

/// The words that run a fixed script on `host`, which reads what to do from stdin. No command line
/// on either side holds a variable, an argument or the token. `ssh` is the program with its
/// options, such as "ssh -p 2222", divided at blanks; empty: kDefaultSsh.
std::vector<std::string> ssh_command(const std::string& ssh, const std::string& host);

/// A password prompt would hang the job, so it is an error; a host that vanishes ends the task.
inline constexpr const char* kDefaultSsh =
    "ssh -x -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=5 "
    "-o ServerAliveCountMax=3";

/// What the script reads: changes to `directory` where the host has it, sets the variables, and
/// becomes the command. Every later line on stdin is the name of a signal for the command and its
/// group ("TERM"); the end of stdin kills the group, so that nothing outlives the connection.
std::string remote_script(const std::string& directory,
                          const std::map<std::string, std::string>& environment,
                          const std::vector<std::string>& command);

/// The line that sends a signal, such as "TERM\n".
std::string signal_line(int number);

/// Variables of this process that tasks on other hosts get too: DISTRIBUTE_* and OMP_*,
/// but for names that no shell takes, such as DISTRIBUTE_X.Y: export would end the other side.
std::map<std::string, std::string> forwarded_variables();

}  // namespace distribute::launch
