#pragma once
/// What `distribute doctor` finds out without any other task.

#include "doctor_report.hpp"

namespace distribute_tools {

/// Cores and what the control group leaves of them, memory, pages, clock rate, files.
/// `tasks_here` share this host; `tasks` is the job's number.
void examine_host(DoctorReport& report, int tasks, int tasks_here);
/// The libraries that this program was built with, and those it opens at run time.
void examine_libraries(DoctorReport& report);
/// GPUs, or why there are none.
void examine_gpus(DoctorReport& report);

}  // namespace distribute_tools
