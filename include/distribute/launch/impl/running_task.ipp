#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/launch/detail/remote_shell.hpp>
#include <distribute/launch/detail/running_task.hpp>

#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>

namespace distribute::launch_internal {

using launch::Descriptor;
using launch::ExitStatus;
using launch::Job;
using launch::LaunchOptions;
using launch::ProcessOptions;
using launch::Task;

DISTRIBUTE_INLINE std::string working_directory() {
  char path[4096];
  return ::getcwd(path, sizeof(path)) ? path : "/";
}

DISTRIBUTE_INLINE ProcessOptions process_options(const LaunchOptions& options, const Job& job,
                                                 const Task& task, int attempt,
                                                 const launch::ProcessGuard& guard) {
  ProcessOptions result;
  result.guard = &guard;
  result.environment = job.environment(task);
  result.environment["DISTRIBUTE_RESTART_COUNT"] = std::to_string(attempt);
  if (options.min_workers > 0) {
    result.environment["DISTRIBUTE_MIN_WORKERS"] = std::to_string(options.min_workers);
    result.environment["DISTRIBUTE_MAX_WORKERS"] = std::to_string(options.job.workers);
  }
  if (task.local) {
    result.command = options.command;
    result.unset = launch::variables_of_another_job();
    return result;
  }
  std::map<std::string, std::string> variables = launch::forwarded_variables();
  for (const std::string& name : launch::variables_of_another_job()) variables.erase(name);
  for (const auto& [name, value] : result.environment) variables[name] = value;
  result.environment.clear();  // ssh itself needs none of it
  result.unset = {"DISTRIBUTE_JOB_TOKEN", "DISTRIBUTE_JOB_TOKEN_FILE"};
  result.command = launch::ssh_command(options.ssh, task.host.name);
  result.input = launch::remote_script(working_directory(), variables, options.command);
  return result;
}

/// Lines of JSON name their task themselves.
DISTRIBUTE_INLINE std::string error_prefix(const Task& task, int number) {
  if (log_options().format == LogFormat::Json) return "";
  return launch::task_prefix(task.name(), number, ::isatty(STDERR_FILENO));
}

/// Empty without an output directory. A restarted job writes behind what is there.
DISTRIBUTE_INLINE Descriptor open_log(const std::string& directory, const Task& task, int attempt) {
  if (directory.empty()) return Descriptor();
  const std::string path = str_cat(directory, "/", task.type, "-", task.index, ".log");
  const int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (attempt ? 0 : O_TRUNC);
  Descriptor log(::open(path.c_str(), flags, 0644));
  if (!log) throw UnavailableError(str_cat("cannot write '", path, "': ", std::strerror(errno)));
  return log;
}

DISTRIBUTE_INLINE RunningTask::RunningTask(const LaunchOptions& options, const Job& job, int number,
                                           int attempt, const launch::ProcessGuard& guard)
    : task_(job.tasks()[size_t(number)]),
      process_(process_options(options, job, task_, attempt, guard)),
      out_(launch::task_prefix(task_.name(), number, ::isatty(STDOUT_FILENO))),
      err_(error_prefix(task_, number)),
      log_out_(""),
      log_err_(""),
      log_(open_log(options.output_dir, task_, attempt)) {}

DISTRIBUTE_INLINE std::string RunningTask::who() const {
  const std::string where = task_.local ? "" : str_cat("ssh to ", task_.host.name, ", ");
  return str_cat(task_.name(), " (", where, "pid ", process_.pid(), ")");
}

DISTRIBUTE_INLINE std::string RunningTask::report(const ExitStatus& status) const {
  constexpr int kSshFailed = 255, kNoProgram = 127;
  std::string text = who() + " " + status.describe();
  if (status.code == launch::kPreempted)
    text += ": told to go (SIGTERM); its own lines say what it has saved";
  if (!task_.local && status.code == kSshFailed)
    text += ": ssh could not start it or lost the connection";
  if (!task_.local && status.code == kNoProgram) text += ": the program is not on that host";
  return text;
}

DISTRIBUTE_INLINE void RunningTask::signal(int number) {
  if (task_.local || number == SIGKILL) return process_.signal(number);
  try {
    process_.write_input(launch::signal_line(number), net::Deadline::after_seconds(0.1));
  } catch (const DeadlineExceededError&) {  // a connection that is stuck; SIGKILL will come
  }
}

DISTRIBUTE_INLINE TaskLines RunningTask::read(bool last) {
  TaskLines lines;
  std::string log;
  const auto pass_on = [&](Descriptor& from, launch::LineBuffer& to, launch::LineBuffer& to_log,
                           std::string& result) {
    if (!from) return;
    std::string bytes;
    const bool open = launch::read_available(from.native(), bytes) && !last;
    result = to.add(bytes);
    if (log_) log += to_log.add(bytes);
    if (open) return;
    result += to.finish();
    if (log_) log += to_log.finish();
    from.close();
  };
  pass_on(process_.out(), out_, log_out_, lines.out);
  pass_on(process_.err(), err_, log_err_, lines.err);
  if (!log.empty()) (void)!::write(log_.native(), log.data(), log.size());
  return lines;
}

}  // namespace distribute::launch_internal
