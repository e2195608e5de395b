#pragma once
#include <distribute/base/limits.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/base/threads.hpp>
#include <distribute/cluster/detail/task_server.hpp>
#include <distribute/net/bytes.hpp>
#include <distribute/parameter_server/detail/directory.hpp>
#include <distribute/parameter_server/detail/link_session.hpp>
#include <distribute/parameter_server/parameter_server.hpp>
#include <distribute/rpc/detail/tensor_codec.hpp>

#include <algorithm>
#include <atomic>
#include <list>
#include <mutex>
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
  void accept(TaskConnection connection);
  void serve(Running& running);
  void remove_ended();  // with mutex held
  int threads() const;
  bool is_chief(const rpc::Peer& peer) const;
  bool chief_is_here();
  void check_patience(net::Deadline::Clock::duration away) const;
  void join();

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
  std::mutex mutex;  // guards sessions
  std::list<Running> sessions;
};

/// Runs wait(cancelled); after `nanoseconds` without success a DeadlineExceededError
/// says what was waited for.
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

DISTRIBUTE_INLINE ParameterServer::Impl::Impl(std::shared_ptr<rpc::JobTask> the_task,
                                              ServerOptions the_options)
    : task(std::move(the_task)),
      options(the_options),
      store(options.shared_memory ? SharedArena::create() : nullptr),
      budget(options.max_staged_bytes),
      directory(task->cluster().has_job("ps") ? task->cluster().num_tasks("ps") : 0) {
  if (task->self().type != "ps")
    throw InvalidArgumentError(
        str_cat("a parameter server is a task of job \"ps\", this one is ", task->self().name()));
  add_variable_methods();
  if (task->self().index == 0) add_directory_methods();
  add("ps/finish", [this](const rpc::Call&) { return finished = true, std::string(); });
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
    store.created(net::ByteReader(call.body()).number<int32_t>());
    return std::string();
  });
  add("ps/attach", [this](const rpc::Call& call) { return attach(call); });
  add("ps/exists", [this](const rpc::Call& call) {
    return std::string(store.exists(std::string(call.body())) ? "1" : "0");
  });
  add("ps/version", [this](const rpc::Call&) { return options.version; });
  add("ps/sync", [this](const rpc::Call& call) { return synchronize(call); });
}

DISTRIBUTE_INLINE std::string ParameterServer::Impl::create(const rpc::Call& call) {
  net::ByteReader reader(call.body());
  const auto wait = reader.number<int64_t>();
  const std::string key(reader.text());
  const auto [shape, dtype] = rpc::read_shape(reader);
  const Store::Creator creator{call.peer().name().name(),
                               [peer = call.shared_peer()] { return peer->lost(); }};
  const auto what = [&] { return str_cat("the first value of variable '", key, "'"); };
  const Store::Created created = wait_for_call(
      call, wait, what, [&, shape = shape, dtype = dtype](const Store::Cancelled& cancelled) {
        return store.create(key, shape, dtype, creator, cancelled);
      });
  net::ByteWriter answer;
  answer.number(int32_t(created.handle)).number(uint8_t(created.initialize));
  return answer.take();
}

DISTRIBUTE_INLINE std::string ParameterServer::Impl::attach(const rpc::Call& call) {
  net::ByteReader reader(call.body());
  const auto wait = reader.number<int64_t>();
  const std::string key(reader.text());
  const auto [shape, dtype] = rpc::read_shape(reader);
  const auto what = [&] { return str_cat("a task to create variable '", key, "'"); };
  const int handle = wait_for_call(
      call, wait, what, [&, shape = shape, dtype = dtype](const Store::Cancelled& cancelled) {
        return store.attach(key, shape, dtype, call.peer().name().name(), cancelled);
      });
  return net::ByteWriter().number(int32_t(handle)).bytes();
}

DISTRIBUTE_INLINE std::string ParameterServer::Impl::synchronize(const rpc::Call& call) {
  set_intra_op_threads(threads());
  net::ByteReader reader(call.body());
  const auto wait = reader.number<int64_t>();
  const PushId id{call.peer().name().name(), call.peer().incarnation(), reader.number<int64_t>()};
  StoredVariable& counter = store.at(reader.number<int64_t>());
  SyncOptions sync;
  sync.replicas_to_aggregate = reader.number<int32_t>();
  sync.total_num_replicas = reader.number<int32_t>();
  sync.num_init_tokens = reader.number<int32_t>();
  sync.local_step = reader.number<int64_t>();
  const SyncRounds::Token token = wait_for_call(
      call, wait, [&] { return "a token: " + rounds.progress(); },
      [&](const Store::Cancelled& cancelled) { return rounds.join(id, sync, counter, cancelled); });
  net::ByteWriter answer;
  answer.number(token.step).number(uint32_t(token.rounds.size()));
  for (const SyncRound& round : token.rounds) {
    answer.number(round.number).number(round.step).number(uint32_t(round.pushes.size()));
    for (const PushId& push : round.pushes)
      answer.text(push.task).number(push.incarnation).number(push.number);
  }
  return answer.take();
}

DISTRIBUTE_INLINE void ParameterServer::Impl::add_directory_methods() {
  add("ps/place", [this](const rpc::Call& call) {
    net::ByteReader reader(call.body());
    VariableSpec spec;
    spec.key = reader.text();
    std::tie(spec.shape, spec.dtype) = rpc::read_shape(reader);
    const auto server = reader.number<int32_t>();
    if (server != -1) spec.server = server;
    spec.colocate_with = reader.text();
    const auto placement = Placement(reader.number<uint8_t>());
    return std::to_string(directory.place(spec, placement, call.peer().name().name()));
  });
  add("ps/find_now", [this](const rpc::Call& call) {
    return std::to_string(directory.find_now(std::string(call.body())));
  });
  add("ps/find", [this](const rpc::Call& call) {
    net::ByteReader reader(call.body());
    const auto wait = reader.number<int64_t>();
    const std::string key(reader.text());
    const auto what = [&] { return str_cat("a task to create variable '", key, "'"); };
    return std::to_string(wait_for_call(call, wait, what, [&](const Store::Cancelled& cancelled) {
      return directory.find(key, cancelled);
    }));
  });
  add("ps/set", [this](const rpc::Call& call) {
    net::ByteReader reader(call.body());
    const std::string key(reader.text());
    directory.set(key, std::string(reader.text()));
    return std::string();
  });
  add("ps/get", [this](const rpc::Call& call) {
    net::ByteReader reader(call.body());
    const auto wait = reader.number<int64_t>();
    const std::string key(reader.text());
    const auto what = [&] { return str_cat("a task to set '", key, "'"); };
    return wait_for_call(call, wait, what, [&](const Store::Cancelled& cancelled) {
      return directory.get(key, cancelled);
    });
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
  if (is_chief(*peer)) chief_came = true;
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

/// What cannot be served, as without memory for it, ends the connection.
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

/// Throws  UnavailableError when the chief has been away for too long.
DISTRIBUTE_INLINE void ParameterServer::Impl::check_patience(
    net::Deadline::Clock::duration away) const {
  const double patience = chief_came ? options.chief_timeout : task->options().startup_timeout;
  if (away <= net::seconds(patience)) return;
  const std::string chief = task->describe(chief_type(task->cluster()), 0);
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
    : impl_(std::make_unique<Impl>(std::move(task), options)) {}
DISTRIBUTE_INLINE ParameterServer::~ParameterServer() = default;
DISTRIBUTE_INLINE int64_t ParameterServer::bytes() const { return impl_->store.bytes(); }

DISTRIBUTE_INLINE void ParameterServer::join() {
  try {
    impl_->join();
  } catch (const UnavailableError& error) {  // the workers shall name its cause, not this server
    impl_->task->say_goodbye(error.what());
    throw;
  }
}

DISTRIBUTE_INLINE void ParameterServer::Impl::join() {
  auto seen = Clock::now();
  for (;;) {
    const bool here = chief_is_here();
    const auto now = Clock::now();
    if (here) seen = now;
    bool empty = false;
    {
      const std::lock_guard lock(mutex);
      empty = sessions.empty();
    }
    if (finished && empty) return;
    if (!finished) check_patience(now - seen);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace distribute::parameter_server
