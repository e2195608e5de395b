#pragma once
/// What a program does with the reason of a failure besides the line on stderr.

#include <distribute/base/config.hpp>

#include <functional>
#include <string>

namespace distribute {

/// Makes report_failure(), and so run_main(), call the function with the text of the error once it
/// is printed. It replaces the function of an earlier call; {} removes it. The annex `platforms`
/// sets one that writes SageMaker's file (write_job_failure). Call it before threads start.
void set_failure_listener(std::function<void(const std::string& reason)> listener);

}  // namespace distribute
