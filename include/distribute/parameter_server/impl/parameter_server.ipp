#pragma once
#include <distribute/base/limits.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/base/status.hpp>
#include <distribute/base/threads.hpp>
#include <distribute/cluster/detail/line_times.hpp>
#include <distribute/cluster/detail/task_server.hpp>
#include <distribute/parameter_server/detail/directory.hpp>
#include <distribute/parameter_server/detail/link_session.hpp>
#include <distribute/parameter_server/detail/server_calls.hpp>
#include <distribute/parameter_server/parameter_server.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <list>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <vector>

namespace distribute::parameter_server {

struct ParameterServer::Impl {
  struct Running {
    std::unique_ptr<LinkSession> session;
    std::atomic<bool> over{false};
    std::thread thread;
  };
  using Clock = net::Deadline::Clock;

  Impl(std::shared_ptr<rpc::JobTask> the_task, ServerOptions the_options);
  ~Impl();
  void add(const std::string& name, rpc::Method method);
  void add_variable_methods();
  void add_directory_methods();
  std::string create(const rpc::Call& call);
  std::string attach(const rpc::Call& call);
  std::string synchronize(const rpc::Call& call);
  std::string gathered(const rpc::Call& call);
  std::string missing(const std::set<std::string>& there);
  void accept(TaskConnection connection);
  void serve(Running& running);
  void remove_ended();  // with mutex held
  int threads() const;
  bool is_chief(const rpc::Peer& peer) const;
  bool chief_is_here();
  void check_patience(net::Deadline::Clock::duration away);
  double patience() const;
  bool is_over();
  void begin_to_leave();
  bool join();

  std::shared_ptr<rpc::JobTask> task;
  ServerOptions options;
  Store store;
  AppliedUpdates applied;
  SyncRounds rounds{applied};
  StagingBudget budget;
  Directory directory;
  std::vector<std::string> methods;
  std::atomic<bool> finished{false};
  std::atomic<bool> chief_came{false};
  std::atomic<bool> chief_failed{false};  // and has not come back
  std::atomic<bool> failed_now{false};    // since join() has looked
  double next_line = 0;                   // seconds of waiting for the chief; used by join()
  std::mutex mutex;                       // guards sessions
  std::list<Running> sessions;
};

/// Runs wait(cancelled); after `nanoseconds` without success it throws a DeadlineExceededError that
/// names the operation.
template <typename Wait, typename What>
auto wait_for_call(const rpc::Call& call, int64_t nanoseconds, What&& what, Wait&& wait) {
  const auto deadline = net::Deadline::after(std::chrono::nanoseconds(nanoseconds));
  try {
    return wait([&] { return deadline.passed() || call.cancelled(); });
  } catch (const CancelledError&) {
    if (!deadline.passed()) throw;
    throw DeadlineExceededError(str_cat("waited in vain for ", what()));
  }
}

/// Decodes the argument of a method.
/// Throws  InvalidArgumentError for other bytes.
template <net::Field T>
T question_of(const rpc::Call& call) {
  return value_or_throw(net::parse_message<T>(call.body(), "call of a parameter server"));
}

DISTRIBUTE_INLINE ParameterServer::Impl::Impl(std::shared_ptr<rpc::JobTask> the_task,
                                              ServerOptions the_options)
    : task(std::move(the_task)),
      options(std::move(the_options)),
      store(options.shared_memory ? SharedArena::create() : nullptr),
      budget(options.max_staged_bytes),
      directory(task->cluster().has_job("ps") ? task->cluster().num_tasks("ps") : 0) {
  if (task->self().type != "ps")
    throw InvalidArgumentError(
        str_cat("a parameter server is a task of job \"ps\", this one is ", task->self().name()));
  add_variable_methods();
  if (task->self().index == 0) add_directory_methods();
  add("ps/finish", [this](const rpc::Call&) { return finished = true, std::string(); });
  add("ps/failed", [this](const rpc::Call& call) {
    if (is_chief(call.peer())) chief_failed = failed_now = true;
    return std::string();
  });
  task->server().serve(kLinkPurpose,
                       [this](TaskConnection connection) { accept(std::move(connection)); });
}

DISTRIBUTE_INLINE ParameterServer::Impl::~Impl() {
  task->server().stop_serving(kLinkPurpose);
  for (const std::string& name : methods) task->rpc().remove(name);
  for (Running& running : sessions) running.session->stop();
  for (Running& running : sessions) running.thread.join();
}

DISTRIBUTE_INLINE void ParameterServer::Impl::add(const std::string& name, rpc::Method method) {
  task->rpc().add(name, std::move(method));
  methods.push_back(name);
}

DISTRIBUTE_INLINE void ParameterServer::Impl::add_variable_methods() {
  add("ps/create", [this](const rpc::Call& call) { return create(call); });
  add("ps/created", [this](const rpc::Call& call) {
    store.created(question_of<int32_t>(call));
    return std::string();
  });
  add("ps/attach", [this](const rpc::Call& call) { return attach(call); });
  add("ps/exists", [this](const rpc::Call& call) {
    return net::encode_message(store.exists(question_of<std::string>(call)));
  });
  add("ps/version", [this](const rpc::Call&) { return options.version; });
  add("ps/sync", [this](const rpc::Call& call) { return synchronize(call); });
  add("ps/gathered", [this](const rpc::Call& call) { return gathered(call); });
}

DISTRIBUTE_INLINE std::string ParameterServer::Impl::create(const rpc::Call& call) {
  const auto question = question_of<VariableCall>(call);
  const Store::Creator creator{call.peer().name().name(),
                               [peer = call.shared_peer()] { return peer->lost(); }};
  const auto what = [&] { return str_cat("the first value of variable '", question.key, "'"); };
  const Store::Created created =
      wait_for_call(call, question.nanoseconds, what, [&](const Store::Cancelled& cancelled) {
        return store.create(question.key, question.shape, question.dtype, creator, cancelled);
      });
  return net::encode_message(CreatedAnswer{int32_t(created.handle), created.initialize});
}

DISTRIBUTE_INLINE std::string ParameterServer::Impl::attach(const rpc::Call& call) {
  const auto question = question_of<VariableCall>(call);
  const auto what = [&] { return str_cat("a task to create variable '", question.key, "'"); };
  const int handle =
      wait_for_call(call, question.nanoseconds, what, [&](const Store::Cancelled& cancelled) {
        return store.attach(question.key, question.shape, question.dtype, call.peer().name().name(),
                            cancelled);
      });
  return net::encode_message(int32_t(handle));
}

DISTRIBUTE_INLINE std::string ParameterServer::Impl::synchronize(const rpc::Call& call) {
  set_intra_op_threads(threads());
  const auto question = question_of<SyncCall>(call);
  const PushId id{call.peer().name().name(), call.peer().incarnation(), question.push};
  StoredVariable& counter = store.at(question.counter);
  const SyncRounds::Token token = wait_for_call(
      call, question.nanoseconds,
      [&] {
        return "a token: " + rounds.progress([this](const auto& there) { return missing(there); });
      },
      [&](const Store::Cancelled& cancelled) {
        return rounds.join(id, question.sync, counter, cancelled);
      });
  return net::encode_message(token);
}

/// Tells the task that waits longest for a token who is missing; the others get no text.
DISTRIBUTE_INLINE std::string ParameterServer::Impl::gathered(const rpc::Call& call) {
  if (!rounds.waits_longest(call.peer().name().name())) return net::encode_message(std::string());
  return net::encode_message(rounds.progress([this](const auto& there) { return missing(there); }));
}

/// Names the tasks that train and are not `there`.
DISTRIBUTE_INLINE std::string ParameterServer::Impl::missing(const std::set<std::string>& there) {
  constexpr int kNames = 10;
  std::set<std::string> connected;
  {
    const std::lock_guard lock(mutex);
    remove_ended();
    for (const Running& running : sessions) connected.insert(running.session->peer().name().name());
  }
  std::string text;
  int count = 0;
  for (const auto& [job, members] : task->cluster().as_dict())
    for (const auto& [index, address] : members.by_index()) {
      const rpc::PeerName name{job, index, address, 0, ""};
      if (job == "ps" || job == "evaluator" || there.contains(name.name()) || ++count > kNames)
        continue;
      text += str_cat(text.empty() ? "" : ", ", name.text(),
                      connected.contains(name.name()) ? "" : ", which is not connected");
    }
  return count > kNames ? str_cat(text, " and ", count - kNames, " more") : text;
}

DISTRIBUTE_INLINE void ParameterServer::Impl::add_directory_methods() {
  add("ps/place", [this](const rpc::Call& call) {
    const auto question = question_of<PlaceCall>(call);
    VariableSpec spec{.key = question.key, .shape = question.shape, .dtype = question.dtype};
    if (question.server != -1) spec.server = question.server;
    spec.colocate_with = question.colocate_with;
    return net::encode_message(
        int32_t(directory.place(spec, question.placement, call.peer().name().name())));
  });
  add("ps/find_now", [this](const rpc::Call& call) {
    return net::encode_message(int32_t(directory.find_now(question_of<std::string>(call))));
  });
  add("ps/find", [this](const rpc::Call& call) {
    const auto [wait, key] = question_of<WaitCall>(call);
    const auto what = [&, &key = key] { return str_cat("a task to create variable '", key, "'"); };
    const int server =
        wait_for_call(call, wait, what, [&, &key = key](const Store::Cancelled& cancelled) {
          return directory.find(key, cancelled);
        });
    return net::encode_message(int32_t(server));
  });
  add("ps/set", [this](const rpc::Call& call) {
    const auto [key, value] = question_of<SetCall>(call);
    directory.set(key, value);
    return std::string();
  });
  add("ps/get", [this](const rpc::Call& call) {
    const auto [wait, key] = question_of<WaitCall>(call);
    const auto what = [&, &key = key] { return str_cat("a task to set '", key, "'"); };
    return net::encode_message(
        wait_for_call(call, wait, what, [&, &key = key](const Store::Cancelled& cancelled) {
          return directory.get(key, cancelled);
        }));
  });
}

DISTRIBUTE_INLINE int ParameterServer::Impl::threads() const {
  if (options.threads > 0) return options.threads;
  // Tasks that name this host take cores, too.
  const std::string& address = task->self().address;
  const std::string host = address.substr(0, address.rfind(':'));
  int here = 0;
  for (const auto& [job, members] : task->cluster().as_dict())
    for (const auto& [index, other] : members.by_index())
      here += other.substr(0, other.rfind(':')) == host;
  return threads_for_tasks(here);
}

DISTRIBUTE_INLINE void ParameterServer::Impl::remove_ended() {
  sessions.remove_if([](Running& running) {
    if (!running.over) return false;
    running.thread.join();
    return true;
  });
}

DISTRIBUTE_INLINE void ParameterServer::Impl::accept(TaskConnection connection) {
  const net::TaskIdentity& who = connection.hello.client;
  auto peer = task->client(who.type, who.index, who.incarnation);
  if (!peer) return;  // it is lost
  if (is_chief(*peer)) chief_came = true, chief_failed = false;
  const std::lock_guard lock(mutex);
  remove_ended();
  Running& running = sessions.emplace_back();
  running.session =
      std::make_unique<LinkSession>(LinkContext{store, rounds, applied, budget, options},
                                    std::move(peer), std::move(connection.socket));
  try {
    running.thread = base_internal::start_thread(
        "the variables of " + running.session->peer().text(), [this, &running] { serve(running); });
  } catch (const ResourceExhaustedError&) {
    sessions.pop_back();
    throw;
  }
}

/// Ends the connection if a request cannot be served, such as for lack of memory.
DISTRIBUTE_INLINE void ParameterServer::Impl::serve(Running& running) {
  try {
    set_intra_op_threads(threads());
    running.session->run();
  } catch (const std::exception& error) {
    log_error("parameter_server", str_cat("the connection of ", running.session->peer().text(),
                                          " is cut: ", error.what()));
    running.session->stop();
  }
  running.over = true;
}

DISTRIBUTE_INLINE const char* chief_type(const ClusterSpec& cluster) {
  return cluster.has_job("chief") ? "chief" : "worker";
}

DISTRIBUTE_INLINE bool ParameterServer::Impl::is_chief(const rpc::Peer& peer) const {
  return peer.name().type == chief_type(task->cluster()) && peer.name().index == 0;
}

/// Returns the time in seconds that the server waits for the chief.
DISTRIBUTE_INLINE double ParameterServer::Impl::patience() const {
  constexpr double kAfterFailure = 20;
  const double usual = chief_came ? options.chief_timeout : task->options().startup_timeout;
  return chief_failed ? std::min(usual, kAfterFailure) : usual;
}

/// Logs a long wait for the chief.
/// Throws  UnavailableError when it has been away for too long.
DISTRIBUTE_INLINE void ParameterServer::Impl::check_patience(net::Deadline::Clock::duration away) {
  const std::string chief = task->describe(chief_type(task->cluster()), 0);
  const double patience = this->patience(), gone = std::chrono::duration<double>(away).count();
  if (gone < 1) next_line = cluster_internal::next_line_after(0);
  if (gone <= patience) {
    if (gone < next_line) return;
    next_line = cluster_internal::next_line_after(gone);
    return task->options().print(
        str_cat(task->self().text(), " has waited for ", std::floor(gone), " s for the chief, ",
                chief, chief_came || chief_failed ? ", to come back" : ", which has not come yet",
                ". It ends after ", patience,
                chief_came || chief_failed ? " s" : " s (DISTRIBUTE_STARTUP_TIMEOUT)"));
  }
  if (chief_failed)
    throw UnavailableError(str_cat(
        task->self().name(), ": the chief, ", chief,
        ", has ended by an error of its own, and was not started again for ", patience, " s"));
  throw UnavailableError(
      chief_came ? str_cat(task->self().name(), ": the chief, ", chief, ", has been away for ",
                           patience, " s")
                 : str_cat(task->self().name(), " has waited ", patience, " s for the chief, ",
                           chief, ", which has not come: is it running, with the same cluster?"));
}

DISTRIBUTE_INLINE bool ParameterServer::Impl::chief_is_here() {
  const std::lock_guard lock(mutex);
  remove_ended();
  return std::any_of(sessions.begin(), sessions.end(),
                     [&](const Running& running) { return is_chief(running.session->peer()); });
}

DISTRIBUTE_INLINE ParameterServer::ParameterServer(std::shared_ptr<rpc::JobTask> task,
                                                   ServerOptions options)
    : impl_(std::make_unique<Impl>(std::move(task), std::move(options))) {}
DISTRIBUTE_INLINE ParameterServer::~ParameterServer() = default;
DISTRIBUTE_INLINE int64_t ParameterServer::bytes() const { return impl_->store.bytes(); }

DISTRIBUTE_INLINE bool ParameterServer::join() {
  try {
    return impl_->join();
  } catch (const UnavailableError& error) {  // the workers shall name its cause, not this server
    impl_->task->say_goodbye(error.what());
    throw;
  }
}

/// Whether the job is finished, and all have left.
DISTRIBUTE_INLINE bool ParameterServer::Impl::is_over() {
  const std::lock_guard lock(mutex);
  return finished && sessions.empty();
}

/// Stops waiting for gradients, as the chief must not wait for those of workers that have left.
DISTRIBUTE_INLINE void ParameterServer::Impl::begin_to_leave() {
  rounds.release();
  task->announce_leave();
  log_info("parameter_server", str_cat(task->self().name(),
                                       " was told to go: it stays until the chief has saved, at "
                                       "most ",
                                       options.leave_timeout, " s (DISTRIBUTE_LEAVE_TIMEOUT)"));
}

DISTRIBUTE_INLINE bool ParameterServer::Impl::join() {
  auto seen = Clock::now();
  std::optional<net::Deadline> leave_by;
  for (;;) {
    const bool here = chief_is_here();
    const auto now = Clock::now();
    if (failed_now.exchange(false) || here) seen = now;
    if (is_over()) return true;
    if (!leave_by && options.leaves && options.leaves()) {
      leave_by = net::Deadline::after_seconds(options.leave_timeout);
      if (here) begin_to_leave();
    }
    if (leave_by && (!here || leave_by->passed())) return false;
    if (!finished) check_patience(now - seen);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace distribute::parameter_server
