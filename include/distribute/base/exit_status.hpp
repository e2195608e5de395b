#pragma once
/// What a task's program ends with, so that launchers and operators know whether to start it again.

#include <distribute/base/config.hpp>

#include <concepts>
#include <exception>
#include <type_traits>

namespace distribute {

/// Kubeflow's restart policy `ExitCode` takes 1 to 127 for errors that would come again and 128 to
/// 255 for those worth another start; so do the launcher's documentation and the manifests.
inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;  // data, disk, numbers: the same command fails again
inline constexpr int kExitUsage = 2;   // flags, or an environment that cannot be read
/// A peer or a service was lost, or did not come in time: another start may find it. 128 + SIGUSR1,
/// which the operators leave to the programs.
inline constexpr int kExitRetry = 138;
/// 128 + SIGTERM: told to go; what had to be saved is saved. TensorFlow has 42, and 143 on Google's
/// machines.
inline constexpr int kExitPreempted = 143;

/// kExitRetry for UnavailableError, AbortedError and DeadlineExceededError, kExitFailed for other
/// exceptions.
/// Source  Kubeflow training operator, RestartPolicyExitCode
int exit_status(const std::exception& error);

/// Prints "error: ..." on stderr and gives the exit_status.
int report_failure(const std::exception& error);

/// `status`; but an error on stderr and kExitFailed instead of kExitDone, when not all that was
/// printed on stdout could be written, as on a full disk.
int check_stdout(int status);

/// What main() returns: what `body` does, kExitDone where it returns none, after check_stdout(). An
/// exception of it is reported as by report_failure().
template <std::invocable Body>
int run_main(Body&& body) {
  try {
    if constexpr (!std::is_void_v<std::invoke_result_t<Body>>) return check_stdout(body());
    body();
    return check_stdout(kExitDone);
  } catch (const std::exception& error) {
    return report_failure(error);
  }
}

}  // namespace distribute
