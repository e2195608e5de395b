#pragma once
/// Runs code that damaged input can crash in a separate process.

#include <distribute/base/config.hpp>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace distribute::saving_internal {

/// Calls `work` in a copy of this process, in which this thread is the only one, and returns what
/// it has written. Returns nullopt when it returned false or threw, when it crashed, and when
/// nothing came for `patience`. No signal handler of this process runs in the copy, and its stderr
/// is closed.
/// Throws  ResourceExhaustedError when no process can be made.
std::optional<std::string> run_in_separate_process(
    const std::function<bool(const std::function<void(std::string_view)>& write)>& work,
    std::chrono::seconds patience = std::chrono::seconds(60));

}  // namespace distribute::saving_internal
