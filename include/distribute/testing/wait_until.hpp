#pragma once
/// Waiting in tests for a condition without notification, with a deadline instead of a sleep.

#include <distribute/base/config.hpp>

#include <functional>
#include <string>

namespace distribute::testing {

/// Asks `predicate` again and again, every millisecond.
/// Blocks  until it says true.
/// Throws  DeadlineExceededError that says `what` was waited for.
void wait_until(const std::function<bool()>& predicate, const std::string& what,
                double seconds = 60);

}  // namespace distribute::testing
