#pragma once
/// `distribute events ls`: what TensorBoard's event files hold.

#include <string>
#include <vector>

namespace distribute_tools {

/// The command: `words` are those behind "events". Returns the exit status (0, 1 or 2).
int events_command(const std::vector<std::string>& words, bool json);

}  // namespace distribute_tools
