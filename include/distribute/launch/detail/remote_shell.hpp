#pragma once
/// Starts a task on another host through ssh, with its secrets on ssh's stdin.

#include <distribute/base/config.hpp>

#include <map>
#include <string>
#include <vector>

namespace distribute::launch {

/// Returns the words of a command that runs a fixed script on `host`, which reads its instructions
/// from stdin. No command line on either side contains a variable, an argument or the token. `ssh`
/// is the program with its options, such as "ssh -p 2222", divided at blanks; empty: kDefaultSsh.
std::vector<std::string> ssh_command(const std::string& ssh, const std::string& host);

/// Options: a password prompt would hang the job, so it is an error; a host that disappears ends
/// the task.
inline constexpr const char* kDefaultSsh =
    "ssh -x -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=5 "
    "-o ServerAliveCountMax=3";

/// Returns the text that the script reads: it changes to `directory` if the host has it, sets the
/// variables, and executes the command. Every later line on stdin is the name of a signal for the
/// command and its group ("TERM"); the end of stdin kills the group, so that no process outlives
/// the connection.
std::string remote_script(const std::string& directory,
                          const std::map<std::string, std::string>& environment,
                          const std::vector<std::string>& command);

/// Returns the line that sends a signal, such as "TERM\n".
std::string signal_line(int number);

/// Returns variables of this process that tasks on other hosts get too: DISTRIBUTE_* and OMP_*,
/// except names that are invalid in a shell, such as DISTRIBUTE_X.Y, for which export would end the
/// script.
std::map<std::string, std::string> forwarded_variables();

}  // namespace distribute::launch
