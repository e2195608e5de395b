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

using launch::ExitStatus;
using launch::Job;
using launch::LaunchOptions;
using launch::LineBuffer;
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

/// Returns null without an output directory. A restarted job appends to existing files.
DISTRIBUTE_INLINE OutputQueue* log_of(const std::string& directory, const Task& task,
                                      Outputs& outputs) {
  if (directory.empty()) return nullptr;
  return &outputs.file(str_cat(directory, "/", task.type, "-", task.index, ".log"));
}

DISTRIBUTE_INLINE RunningTask::RunningTask(const LaunchOptions& options, const Job& job, int number,
                                           int attempt, const launch::ProcessGuard& guard,
                                           Outputs& outputs)
    : task_(job.tasks()[size_t(number)]),
      process_(process_options(options, job, task_, attempt, guard)),
      log_(log_of(options.output_dir, task_, outputs)),
      out_{process_.out(), outputs.out(),
           LineBuffer(launch::task_prefix(task_.name(), number, ::isatty(STDOUT_FILENO))),
           LineBuffer("")},
      err_{process_.err(), outputs.err(), LineBuffer(error_prefix(task_, number)), LineBuffer("")} {
}

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
    process_.write_input(launch::signal_line(number), net::Deadline::after_seconds(0));
  } catch (const DeadlineExceededError&) {  // a connection that is stuck; SIGKILL will come
  }
}

DISTRIBUTE_INLINE bool RunningTask::has_room(const Stream& stream) const {
  return stream.from && stream.to.has_room() && (!log_ || log_->has_room());
}

DISTRIBUTE_INLINE std::vector<int> RunningTask::readable() {
  std::vector<int> streams;
  for (const Stream* stream : {&out_, &err_})
    if (has_room(*stream)) streams.push_back(stream->from.native());
  return streams;
}

DISTRIBUTE_INLINE void RunningTask::read(Stream& stream, bool last) {
  if (!stream.from || (!last && !has_room(stream))) return;
  std::string bytes;
  const bool open = launch::read_available(stream.from.native(), bytes) && !last;
  stream.to.add(stream.lines.add(bytes), &stream);
  if (log_) log_->add(stream.log_lines.add(bytes), &stream);
  if (open) return;
  stream.to.add(stream.lines.finish(), &stream);
  if (log_) log_->add(stream.log_lines.finish(), &stream);
  stream.from.close();
}

DISTRIBUTE_INLINE void RunningTask::read(bool last) {
  read(out_, last);
  read(err_, last);
}

}  // namespace distribute::launch_internal
