#pragma once
/// What `distribute COMMAND --help` prints: the usage of that command and its own flags.

#include <string>
#include <vector>

namespace distribute_tools {

/// The usage of every command that begins with `words`, or that `words` go on from: of {"ckpt"}
/// four, of {"ckpt", "ls", "PREFIX"} one; of {} all. Empty for a command that does not exist.
std::string usage_of(const std::vector<std::string>& words);

/// Prints usage and flags, with their defaults, where `argv` asks a known command for help. Returns
/// whether it did.
bool print_command_help(int argc, char** argv);

/// The first of `flags` that the command of `words` does not read; "" when there is none.
std::string foreign_flag(const std::vector<std::string>& words,
                         const std::vector<std::string>& flags);

}  // namespace distribute_tools
