#pragma once
/// `distribute run`: starts the tasks of a job on this machine and others.

namespace distribute_tools {

/// What `distribute run --help` prints.
extern const char kRunUsage[];

/// The command: `argv` begins with "run". Returns the exit status: the first failed task's, 2 for
/// wrong usage, 127 or 126 when the program is not there or may not be executed, 1 otherwise.
int run_command(int argc, char** argv);

}  // namespace distribute_tools
