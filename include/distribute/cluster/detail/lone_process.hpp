#pragma once
/// Tells a process that trains by itself although its environment makes it one task of several.

#include <distribute/base/environment.hpp>

#include <string>

namespace distribute::cluster_internal {

/// Notes that this process has read its place in a job, so that it knows of the other tasks.
/// Thread-safe.
void note_place_read();

/// Describes the job of several tasks that the variables name: the variable, the number of tasks,
/// and what to do. Returns "" when they name none, or a job of one task.
std::string job_of_others(const Environment& variables);

/// Warns, once in a process, of the job that job_of_others() describes, unless the process has read
/// its place. Optimizers call it at each step. Thread-safe.
void warn_of_job_of_others();

}  // namespace distribute::cluster_internal
