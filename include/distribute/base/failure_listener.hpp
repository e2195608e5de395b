#pragma once
/// What a program does with the reason of a failure besides the line on stderr.

#include <distribute/base/config.hpp>
#include <distribute/base/process_state.hpp>

#include <functional>
#include <string>
#include <utility>

namespace distribute {

namespace base_internal {
struct FailureListener {  // of the process
  std::function<void(const std::string& reason)> call;
};
}  // namespace base_internal

/// Makes report_failure(), and so run_main(), call the function with the text of the error once it
/// is printed. It replaces the function of an earlier call; {} removes it. The annex `platforms`
/// sets one that writes SageMaker's file (write_job_failure). Call it before threads start.
inline void set_failure_listener(std::function<void(const std::string& reason)> listener) {
  in_process<base_internal::FailureListener>().call = std::move(listener);
}

}  // namespace distribute
