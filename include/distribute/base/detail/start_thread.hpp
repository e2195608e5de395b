#pragma once
/// How the library starts its threads.

#include <distribute/base/config.hpp>

#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace distribute::base_internal {

/// A thread that runs `body`; `purpose` says in messages what it is for: "reading ahead". An
/// exception that leaves `body` ends the process with an error that names the purpose and with
/// exit_status(error): those that wait for the thread would wait for ever.
/// Throws  ResourceExhaustedError that names the purpose and the limits when there is no thread to
///         be had.
std::thread start_thread(std::string purpose, std::function<void()> body);

/// Up to `count` threads with the same body, for work that fewer can do as well: ends at the first
/// refusal.
void start_helpers(std::vector<std::thread>& threads, int count, const std::string& purpose,
                   const std::function<void()>& body);

}  // namespace distribute::base_internal
