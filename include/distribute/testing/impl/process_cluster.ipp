#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/threads.hpp>
#include <distribute/testing/detail/cluster_channel.hpp>
#include <distribute/testing/detail/cluster_member.hpp>
#include <distribute/testing/detail/network_namespaces.hpp>
#include <distribute/testing/process_cluster.hpp>

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <thread>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace distribute::testing_internal {

using launch::Descriptor;
using launch::ExitStatus;
using net::Deadline;
using testing::ProcessClusterOptions;

inline constexpr double kClusterSecondsToDie = 5;

DISTRIBUTE_INLINE launch::JobOptions job_options(const ProcessClusterOptions& options) {
  if (options.command.empty() == options.function.empty())
    throw InvalidArgumentError("a cluster runs a command or a function, one of them");
  launch::JobOptions job{.workers = options.workers,
                         .parameter_servers = options.parameter_servers,
                         .chief = options.chief,
                         .evaluator = options.evaluator,
                         .hosts = {}};
  const int tasks = job.workers + job.parameter_servers + job.chief + job.evaluator;
  for (int i = 0; options.network && i < tasks; ++i) {
    const int hosts = options.network->hosts();
    if (i < hosts) job.hosts.push_back({options.network->address(i), 0});
    ++job.hosts[size_t(i % hosts)].slots;
  }
  return job;
}

/// The file of this program, by a name that works in other processes too.
DISTRIBUTE_INLINE std::string own_program() {
  char path[4096];
  const ssize_t size = ::readlink("/proc/self/exe", path, sizeof(path));
  return std::string(path, size_t(std::max<ssize_t>(size, 0)));
}

}  // namespace distribute::testing_internal

namespace distribute::testing {

/// Members are in the order of their construction, so that the thread ends first, then the
/// processes, then the guard.
class ProcessCluster::Impl {
 public:
  explicit Impl(const ProcessClusterOptions& options);
  ~Impl();

  using Member = testing_internal::ClusterMember;
  using Lock = std::unique_lock<std::mutex>;

  Lock lock() const { return Lock(mutex_); }
  Member& find(const TaskName& name);
  void start(Member& member);
  void restart(const TaskName& name);
  /// Blocks until `done` returns true; it is called under the lock after each change.
  bool wait(Lock& lock, net::Deadline limit, const std::function<bool()>& done) const {
    return changed_.wait_until(lock, limit.when(), done);
  }
  bool all_ended() const;
  void wait_for_all(Lock& lock);
  void throw_first_failure() const;
  std::vector<TaskOutcome> outcomes() const;
  std::string running_names() const;
  std::string log_tail() const;

  net::Deadline deadline;
  bool waited = false;
  std::vector<Member> members;
  std::string log;

 private:
  void watch();
  void look_at(Member& member);
  void open_barrier();
  void signal_all(int number);

  const ProcessClusterOptions options_;
  const launch::ProcessGuard guard_;
  const launch::Job job_;
  const launch::Descriptor wake_;
  mutable std::mutex mutex_;  // guards all members that are not const
  mutable std::condition_variable changed_;
  bool closing_ = false;
  int ends_ = 0;  // tasks that have ended so far
  std::thread watcher_;
};

DISTRIBUTE_INLINE ProcessCluster::Impl::Impl(const ProcessClusterOptions& options)
    : deadline(net::Deadline::after_seconds(options.deadline_seconds)),
      options_(options),
      job_(testing_internal::job_options(options)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (Environment().has(testing_internal::kFunctionVariable))
    throw FailedPreconditionError(
        "this process is a task of a ProcessCluster itself; its main has to call "
        "run_cluster_function_if_asked (tests: include tests/support/cluster_main.hpp)");
  for (const launch::Task& task : job_.tasks()) members.emplace_back(task);
  for (Member& member : members) start(member);
  watcher_ = base_internal::start_thread("watching a test's tasks", [this] { watch(); });
}

DISTRIBUTE_INLINE ProcessCluster::Impl::~Impl() {
  {
    const Lock held = lock();
    closing_ = true;
  }
  const uint64_t one = 1;
  (void)!::write(wake_.native(), &one, sizeof(one));
  watcher_.join();
  members.clear();
}

DISTRIBUTE_INLINE void ProcessCluster::Impl::start(Member& member) {
  using namespace testing_internal;
  launch::ProcessOptions process;
  process.guard = &guard_;
  process.channel = true;
  process.command = options_.command;
  if (process.command.empty()) process.command = {own_program()};
  process.environment = options_.environment;
  for (const auto& [name, value] : job_.environment(*member.task))
    process.environment.emplace(name, value);
  process.unset = launch::variables_of_another_job();
  process.environment[kTaskTypeVariable] = member.task->type;
  process.environment[kTaskIndexVariable] = std::to_string(member.task->index);
  process.environment[kArgumentVariable] = options_.argument;
  if (!options_.function.empty()) process.environment[kFunctionVariable] = options_.function;
  if (options_.network)
    process.command = options_.network->command(options_.network->host_of(member.task->host.name),
                                                process.command);
  member.start(std::move(process));
  const uint64_t one = 1;
  (void)!::write(wake_.native(), &one, sizeof(one));
}

DISTRIBUTE_INLINE testing_internal::ClusterMember& ProcessCluster::Impl::find(
    const TaskName& name) {
  for (Member& member : members)
    if (member.task->type == name.type && member.task->index == name.index) return member;
  throw InvalidArgumentError(str_cat("the cluster has no task ", name.type, " ", name.index));
}

DISTRIBUTE_INLINE void ProcessCluster::Impl::restart(const TaskName& name) {
  Lock held = lock();
  Member& member = find(name);
  if (member.running()) {
    member.process->signal(SIGKILL);
    (void)member.process->wait(net::Deadline::after_seconds(30));
    member.look_for_end(log);
  }
  start(member);
}

DISTRIBUTE_INLINE void ProcessCluster::Impl::watch() {
  for (;;) {
    std::vector<pollfd> entries{{wake_.native(), POLLIN, 0}};
    {
      const Lock held = lock();
      if (closing_) return;
      uint64_t wakes;
      (void)!::read(wake_.native(), &wakes, sizeof(wakes));
      for (Member& member : members) look_at(member);
      open_barrier();
      changed_.notify_all();
      for (Member& member : members) {
        if (!member.running()) continue;
        launch::Process& process = *member.process;
        for (const int descriptor : {process.out().native(), process.err().native(),
                                     process.channel().native(), process.exit_descriptor()})
          entries.push_back({descriptor, POLLIN, 0});
      }
    }
    constexpr int kLookAgainMs = 50;  // used when the kernel has no descriptor for a process
    ::poll(entries.data(), entries.size(), kLookAgainMs);
  }
}

DISTRIBUTE_INLINE void ProcessCluster::Impl::look_at(Member& member) {
  if (!member.running()) return;
  member.read(log, false);
  if (!member.look_for_end(log)) return;
  member.end_number = ++ends_;
  if (!member.status->ok() && options_.auto_restart && !deadline.passed()) return start(member);
  if (member.task->type != "chief" || !options_.dependence_on_chief) return;
  for (Member& other : members) {
    if (!other.running()) continue;
    other.expected_failure = true;
    other.process->signal(SIGKILL);
  }
}

DISTRIBUTE_INLINE void ProcessCluster::Impl::open_barrier() {
  const bool all = std::all_of(members.begin(), members.end(), [](const Member& member) {
    return !member.running() || member.at_barrier;
  });
  for (Member& member : members)
    if (all && member.running()) member.leave_barrier();
}

DISTRIBUTE_INLINE void ProcessCluster::Impl::signal_all(int number) {
  for (Member& member : members)
    if (member.running()) member.process->signal(number);
}

DISTRIBUTE_INLINE bool ProcessCluster::Impl::all_ended() const {
  return std::none_of(members.begin(), members.end(),
                      [](const Member& member) { return member.running(); });
}

DISTRIBUTE_INLINE void ProcessCluster::Impl::wait_for_all(Lock& lock) {
  const auto ended = [&] { return all_ended(); };
  if (waited) throw InvalidArgumentError("wait or join was called before on this ProcessCluster");
  waited = true;
  if (wait(lock, deadline, ended)) return;
  const std::string names = running_names();
  for (Member& member : members) member.expected_failure |= member.running();
  signal_all(SIGTERM);
  const auto killed = net::Deadline::after_seconds(testing_internal::kClusterSecondsToDie);
  if (!wait(lock, killed, ended)) signal_all(SIGKILL);
  wait(lock, net::Deadline::after_seconds(30), ended);
  throw DeadlineExceededError(str_cat("after ", options_.deadline_seconds,
                                      " s these tasks had not ended: ", names,
                                      ". The output ends:\n", log_tail()));
}

DISTRIBUTE_INLINE void ProcessCluster::Impl::throw_first_failure() const {
  const Member* first = nullptr;
  for (const Member& member : members)
    if (member.failed() && (!first || member.end_number < first->end_number)) first = &member;
  if (first) first->throw_failure();
}

DISTRIBUTE_INLINE std::vector<TaskOutcome> ProcessCluster::Impl::outcomes() const {
  std::vector<TaskOutcome> result;
  for (const Member& member : members)
    result.push_back({member.task->name(), member.status.value_or(launch::ExitStatus{}), member.out,
                      member.err, member.result, member.starts});
  return result;
}

DISTRIBUTE_INLINE std::string ProcessCluster::Impl::running_names() const {
  std::string names;
  for (const Member& member : members)
    if (member.running()) names += (names.empty() ? "" : ", ") + member.task->name();
  return names;
}

DISTRIBUTE_INLINE std::string ProcessCluster::Impl::log_tail() const {
  constexpr size_t kShown = 8000;
  return log.size() > kShown ? log.substr(log.size() - kShown) : log;
}

DISTRIBUTE_INLINE ProcessCluster::ProcessCluster(const ProcessClusterOptions& options)
    : impl_(std::make_unique<Impl>(options)) {}

DISTRIBUTE_INLINE ProcessCluster::~ProcessCluster() = default;

DISTRIBUTE_INLINE void ProcessCluster::kill(const TaskName& task, int signal) {
  const auto lock = impl_->lock();
  auto& member = impl_->find(task);
  member.expected_failure = true;
  if (member.running()) member.process->signal(signal);
}

DISTRIBUTE_INLINE void ProcessCluster::pause(const TaskName& task) {
  const auto lock = impl_->lock();
  if (auto& member = impl_->find(task); member.running()) member.process->signal(SIGSTOP);
}

DISTRIBUTE_INLINE void ProcessCluster::resume(const TaskName& task) {
  const auto lock = impl_->lock();
  if (auto& member = impl_->find(task); member.running()) member.process->signal(SIGCONT);
}

DISTRIBUTE_INLINE void ProcessCluster::restart(const TaskName& task) { impl_->restart(task); }

DISTRIBUTE_INLINE void ProcessCluster::expect_failure(const TaskName& task) {
  const auto lock = impl_->lock();
  impl_->find(task).expected_failure = true;
}

DISTRIBUTE_INLINE bool ProcessCluster::is_running(const TaskName& task) const {
  const auto lock = impl_->lock();
  return impl_->find(task).running();
}

DISTRIBUTE_INLINE pid_t ProcessCluster::pid(const TaskName& task) const {
  const auto lock = impl_->lock();
  const auto& member = impl_->find(task);
  return member.running() ? member.process->pid() : -1;
}

DISTRIBUTE_INLINE std::string ProcessCluster::output(const TaskName& task) const {
  const auto lock = impl_->lock();
  return impl_->find(task).both;
}

DISTRIBUTE_INLINE std::string ProcessCluster::all_output() const {
  const auto lock = impl_->lock();
  return impl_->log;
}

DISTRIBUTE_INLINE void ProcessCluster::wait_for_output(const TaskName& task,
                                                       const std::string& text,
                                                       double seconds) const {
  auto lock = impl_->lock();
  auto& member = impl_->find(task);
  const auto deadline = net::Deadline::after_seconds(seconds).earlier(impl_->deadline);
  const auto printed = [&] { return member.both.find(text) != std::string::npos; };
  const bool in_time = impl_->wait(lock, deadline, [&] { return printed() || !member.running(); });
  if (printed()) return;
  const std::string problem =
      str_cat(member.task->name(), in_time ? " has ended" : " runs", " and has not printed '", text,
              "'; it printed:\n", member.both);
  if (in_time) throw AbortedError(problem);
  throw DeadlineExceededError(problem);
}

DISTRIBUTE_INLINE launch::ExitStatus ProcessCluster::wait_for_end(const TaskName& task,
                                                                  double seconds) const {
  auto lock = impl_->lock();
  auto& member = impl_->find(task);
  const auto deadline = net::Deadline::after_seconds(seconds).earlier(impl_->deadline);
  if (!impl_->wait(lock, deadline, [&] { return !member.running(); }))
    throw DeadlineExceededError(str_cat(member.task->name(), " has not ended within ", seconds,
                                        " s; it printed:\n", member.both));
  return *member.status;
}

DISTRIBUTE_INLINE std::vector<TaskOutcome> ProcessCluster::wait() {
  auto lock = impl_->lock();
  impl_->wait_for_all(lock);
  return impl_->outcomes();
}

DISTRIBUTE_INLINE std::vector<TaskOutcome> ProcessCluster::join() {
  auto lock = impl_->lock();
  try {
    impl_->wait_for_all(lock);
  } catch (const DeadlineExceededError&) {
    // A task that has failed explains more than the deadline that the others ran into.
    impl_->throw_first_failure();
    throw;
  }
  impl_->throw_first_failure();
  return impl_->outcomes();
}

}  // namespace distribute::testing
