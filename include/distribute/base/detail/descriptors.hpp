#pragma once
/// Open files: how many a process may have (ulimit -n), and what to say when there is none left.

#include <distribute/base/config.hpp>

#include <string>

namespace distribute::base_internal {

/// std::strerror; where a limit of open files is reached also the limit and the cure.
std::string system_error_text(int error);

/// Raises the limit of this process as far as it may itself, where `wanted` more files would pass
/// it. `who` needs `least` more, whatever happens.
/// Throws  ResourceExhaustedError with limit, need and cure where even those cannot be opened.
void prepare_descriptors(const std::string& who, int least, int wanted);

}  // namespace distribute::base_internal
