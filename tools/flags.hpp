#pragma once
/// Abseil flags with this project's exit status: 2 and one line for a flag that does not parse.

#include <string>
#include <vector>

namespace distribute_tools {

/// Parses the flags of `argv` and returns the positional arguments after the program name.
/// A flag that is unknown or has a bad value prints one line on stderr and exits with status 2.
std::vector<std::string> parse_flags(int argc, char** argv);

/// The names of the flags that the last parse_flags met.
const std::vector<std::string>& given_flags();

/// Says on stderr what is wrong with the words behind a program or, with its name, a command:
/// "distribute data". Returns the exit status, 2.
int usage_error(const std::string& command, const std::string& message);

}  // namespace distribute_tools
