#pragma once
/// Exit statuses of a task's program, which tell launchers and operators whether to start it again,
/// and what else is done with the reason of a failure.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/process_state.hpp>

#include <concepts>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace distribute {

/// Kubeflow's restart policy `ExitCode` takes 1 to 127 for errors that would occur again and 128 to
/// 255 for those after which another start may succeed; so do the launcher's documentation and the
/// manifests.
inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;  // data, disk, numbers: the same command fails again
inline constexpr int kExitUsage = 2;   // flags, or an environment that cannot be read
/// A peer or a service was lost, or did not come in time: another start may find it. The value is
/// 128 + SIGUSR1, which the operators leave to the programs.
inline constexpr int kExitRetry = 138;
/// The program was told to end and has saved its state: 128 + SIGTERM. TensorFlow uses 42, and 143
/// on Google's machines.
inline constexpr int kExitPreempted = 143;

/// An error that a program throws when its flags or arguments are wrong.
class UsageError : public InvalidArgumentError {
 public:
  using InvalidArgumentError::InvalidArgumentError;
};

/// Returns kExitRetry for UnavailableError, AbortedError and DeadlineExceededError, kExitUsage for
/// UsageError and what the library has thrown because of a wrong environment, kExitFailed for other
/// exceptions.
/// Source  Kubeflow training operator, RestartPolicyExitCode
int exit_status(const std::exception& error);

/// Prints "error: ..." on stderr and returns the exit_status().
int report_failure(const std::exception& error);

/// Returns `status`; but prints an error and returns kExitFailed instead of kExitDone if stdout
/// could not be written completely, as on a full disk.
int check_stdout(int status);

/// Runs `body` for main(). Returns its status, or kExitDone if it returns none, after
/// check_stdout(). An exception is reported as by report_failure().
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

/// Returns the message, in which words of more than 500 bytes are cut, as those of a command line
/// may be.
std::string with_short_words(std::string_view message);

namespace base_internal {
/// Lives while a parser reads a command line: std::cerr writes with_short_words(). If the parser
/// ends the process by exit(), the status is kExitUsage after text on std::cerr, kExitDone after
/// --help, else the parser's. A process has one at most.
class WhileParsing {
 public:
  WhileParsing(int argc, char** argv);
  ~WhileParsing();
  WhileParsing(const WhileParsing&) = delete;
  WhileParsing& operator=(const WhileParsing&) = delete;
};
}  // namespace base_internal

/// Throws  InvalidArgumentError where a file of flags, --flagfile=NAME, names itself, which parsers
///          such as Abseil's would read for ever; the errors of untrusted::read_text_file().
void check_flag_files(int argc, char** argv);

/// Throws  InvalidArgumentError where a parser has left words of a command line besides the
///         program's name: a program that takes flags alone would ignore them.
void check_words_left(std::span<char* const> words);

/// Runs `parse(argc, argv)`, such as absl::ParseCommandLine, after check_flag_files(), and then the
/// body, for main(). Wrong files of flags, and words that `parse` returns, are reported with
/// kExitUsage. Long words are cut in what `parse` writes to std::cerr; where it ends the process
/// after that, the status is kExitUsage, and kExitDone after --help.
template <std::invocable<int, char**> Parse, std::invocable Body>
int run_main(int argc, char** argv, Parse&& parse, Body&& body) {
  try {
    check_flag_files(argc, argv);
    const base_internal::WhileParsing while_parsing(argc, argv);
    if constexpr (std::is_void_v<std::invoke_result_t<Parse, int, char**>>)
      parse(argc, argv);
    else
      check_words_left(parse(argc, argv));
  } catch (const std::exception& error) {
    report_failure(error);
    return kExitUsage;
  }
  return run_main(body);
}

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
