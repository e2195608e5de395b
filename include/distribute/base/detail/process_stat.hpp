#pragma once
/// What proc(5) tells of this process in /proc/self/stat.

#include <distribute/base/config.hpp>

#include <vector>

namespace distribute::base_internal {

/// The fields from the fourth on, without what is no number: field n of proc(5) is at n - 4. Empty
/// where the system has no such file.
std::vector<double> process_stat();

}  // namespace distribute::base_internal
