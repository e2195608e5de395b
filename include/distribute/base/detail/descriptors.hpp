#pragma once
/// Limit of open files of a process (ulimit -n), and the message when it is reached.

#include <distribute/base/config.hpp>

#include <string>

namespace distribute::base_internal {

/// Returns std::strerror(); if a limit of open files is reached also the limit and the remedy.
std::string system_error_text(int error);

/// Raises the limit of this process as far as allowed, if `wanted` more files would exceed it.
/// `who` needs at least `least` more.
/// Throws  ResourceExhaustedError with limit, need and remedy if even those cannot be opened.
void prepare_descriptors(const std::string& who, int least, int wanted);

}  // namespace distribute::base_internal
