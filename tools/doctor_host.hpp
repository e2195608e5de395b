#pragma once
/// What `distribute doctor` finds out without any other task.

#include "doctor_report.hpp"

namespace distribute_tools {

/// Cores and what the control group leaves of them, memory, pages, clock rate, files.
/// `tasks_here` share this host; `tasks` is the job's number.
void examine_host(DoctorReport& report, int tasks, int tasks_here);
/// The libraries that this program was built with.
void examine_libraries(DoctorReport& report);
/// CUDA's driver and the libraries that are opened at run time, each with version and file. One
/// that is missing is a failure with `require_gpu`, else a note.
void examine_cuda(DoctorReport& report, bool require_gpu);
/// GPUs, or why there are none.
void examine_gpus(DoctorReport& report, bool require_gpu);

}  // namespace distribute_tools
