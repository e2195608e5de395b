#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/base/status.hpp>
#include <distribute/collective/connect_workers.hpp>
#include <distribute/collective/timeline.hpp>
#include <distribute/horovod/detail/engine_thread.hpp>
#include <distribute/horovod/detail/execution.hpp>

#include <algorithm>

#include <poll.h>
#include <sys/socket.h>

namespace distribute::horovod_internal {

DISTRIBUTE_INLINE EngineThread::EngineThread(std::shared_ptr<ClusterRuntime> the_runtime,
                                             const EngineOptions& the_options)
    : runtime(std::move(the_runtime)), options(the_options) {
  if (runtime) {
    group = collective::connect_workers(runtime, 1, options.communication);
    place = place_of_rank(runtime->rank(), runtime->hosts());
  } else {
    group = std::move(collective::make_thread_workers(1)[0]);
  }
  transport = group.workers->transport();
  std::vector<int> all;
  for (int rank = 0; rank < group.num_workers; ++rank) all.push_back(rank);
  sets[0] = {std::move(all), group.workers, std::make_shared<ReductionMemory>(group.workers)};
  connect_coordinator();
  if (runtime) follow_runtime();
}

DISTRIBUTE_INLINE std::string EngineThread::describe(int rank) const {
  return runtime ? str_cat("rank ", rank, " (", runtime->describe(rank), ")") : "rank 0";
}

/// Rank 0 reaches its own coordinator through a pair of sockets.
DISTRIBUTE_INLINE void EngineThread::connect_coordinator() {
  if (group.worker != 0) {
    control = runtime->peer_socket(0, "hvd", 0);
    return;
  }
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw ResourceExhaustedError("hvd: no socket pair for the coordinator");
  control = net::Socket(ends[0], "the coordinator");
  std::vector<net::Socket> ranks;
  ranks.emplace_back(ends[1], "rank 0");
  for (int rank = 1; rank < group.num_workers; ++rank)
    ranks.push_back(runtime->peer_socket(rank, "hvd", 0));
  NegotiationOptions negotiation = options.negotiation;
  negotiation.describe = [this](int rank) { return describe(rank); };
  coordinator = std::make_unique<CoordinatorThread>(std::move(ranks), std::move(negotiation),
                                                    [this](const std::string& line) {
                                                      if (runtime)
                                                        return runtime->options().print(line);
                                                      log_warning("horovod", line);
                                                    });
}

DISTRIBUTE_INLINE void EngineThread::follow_runtime() {
  lost_callback = runtime->on_lost([this](int, const std::string& reason) {
    const auto failure = runtime->lost();
    const std::lock_guard lock(mutex);
    for (const auto& [number, set] : sets)
      if (set.communicator)
        set.communicator->abort(failure ? failure->code : StatusCode::Unavailable, reason);
    lost = true;
    wake_up.signal();
  });
}

/// Runs the thread: it announces waiting operations and carries out decisions.
DISTRIBUTE_INLINE void EngineThread::run() {
  try {
    while (wait_for_news()) continue;
  } catch (const Error& why) {
    if (runtime && why.code() != StatusCode::Unavailable)
      runtime->report_error(why.code(), why.what());
    fail(std::current_exception());
  } catch (...) {
    fail(std::current_exception());
  }
}

/// Waits for messages; returns false once the coordinator has dismissed this rank.
DISTRIBUTE_INLINE bool EngineThread::wait_for_news() {
  int ms = 3'600'000;
  {
    const std::lock_guard lock(mutex);
    if (!unsent.empty()) {
      const auto left = oldest_unsent + net::seconds(options.cycle_time_ms * 1e-3) - Clock::now();
      ms = int(std::clamp<int64_t>((left.count() + 999'999) / 1'000'000, 0, ms));
    }
  }
  if (ms == 0) flush();
  pollfd polled[] = {{control.native(), POLLIN, 0}, {wake_up.native(), POLLIN, 0}};
  ::poll(polled, 2, ms);
  wake_up.clear();
  const bool failed = [&] {
    const std::lock_guard lock(mutex);
    return lost;
  }();
  if (failed) runtime->throw_if_lost();
  return read();
}

DISTRIBUTE_INLINE bool EngineThread::read() {
  for (;;) {
    const auto count = control.read_some(reader.space());
    if (!count.ok()) throw_connection_lost();
    if (*count == 0) return true;
    throw_if_error(reader.filled(*count));
    if (!reader.complete()) continue;
    const net::Frame frame = reader.take();
    if (frame.type == uint16_t(Frames::Bye)) return false;
    for (const Response& response : decode_list<Response>(frame.payload)) execute(response);
  }
}

/// Throws the error of the runtime, which knows which task has failed.
DISTRIBUTE_INLINE void EngineThread::throw_connection_lost() {
  if (runtime) {
    runtime->wait_lost(net::Deadline::after_seconds(runtime->options().lost_after));
    runtime->throw_if_lost();
  }
  throw UnavailableError(str_cat("hvd: the connection to ", describe(0), " has ended"));
}

DISTRIBUTE_INLINE void EngineThread::execute(const Response& response) {
  if (response.code != StatusCode::Ok && response.entries.empty())
    throw_error(response.code, response.message);
  if (response.code != StatusCode::Ok) return refuse(response);
  const Kind kind = response.terms.kind;
  if (kind == Kind::AddProcessSet || kind == Kind::RemoveProcessSet) change_sets(response);
  if (kind < Kind::Barrier) return carry_out(response);
  for (const auto& operation : take(response)) {
    if (!operation) continue;
    operation->number = response.number;
    complete(operation);
  }
}

/// Takes this rank's operations of the response; null for one that this rank replaces by zeros
/// because it has joined.
DISTRIBUTE_INLINE std::vector<std::shared_ptr<Operation>> EngineThread::take(
    const Response& response) {
  const std::lock_guard lock(mutex);
  std::vector<std::shared_ptr<Operation>> operations;
  for (const Entry& entry : response.entries) {
    const auto found = under_way.find({response.terms.process_set, entry.name});
    operations.push_back(found == under_way.end() ? nullptr : found->second);
  }
  return operations;
}

DISTRIBUTE_INLINE void EngineThread::carry_out(const Response& response) {
  const auto operations = take(response);
  ProcessGroup set;
  {
    const std::lock_guard lock(mutex);
    set = sets.at(response.terms.process_set);
  }
  std::vector<Part> parts(operations.size());
  for (size_t i = 0; i < parts.size(); ++i)
    if (operations[i]) parts[i] = std::move(operations[i]->part);
  if (response.terms.kind == Kind::Allreduce) {
    all_reduce(*set.communicator, response, parts, *set.memory);
  } else {
    const auto root = std::find(set.members.begin(), set.members.end(), response.terms.root);
    horovod_internal::execute(*set.communicator, response, int(root - set.members.begin()),
                              parts[0]);
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!operations[i]) continue;
    operations[i]->part = std::move(parts[i]);
    complete(operations[i]);
  }
}

DISTRIBUTE_INLINE void EngineThread::refuse(const Response& response) {
  for (const auto& operation : take(response)) {
    if (!operation) continue;
    try {
      throw_error(response.code, response.message);
    } catch (...) {
      operation->error = std::current_exception();
    }
    complete(operation);
  }
}

DISTRIBUTE_INLINE void EngineThread::change_sets(const Response& response) {
  if (response.terms.kind == Kind::RemoveProcessSet) {
    const std::lock_guard lock(mutex);
    sets.erase(response.number);
    return;
  }
  ProcessGroup set{{response.members.begin(), response.members.end()}, nullptr, nullptr};
  set.communicator = collective::connect_members(runtime, str_cat("hvd/", response.number),
                                                 set.members, options.communication);
  set.memory = std::make_shared<ReductionMemory>(set.communicator);
  if (set.communicator && group.watch)
    group.watch(str_cat("process set ", response.number), set.communicator, set.members);
  const std::lock_guard lock(mutex);
  sets[response.number] = std::move(set);
}

DISTRIBUTE_INLINE void EngineThread::complete(const std::shared_ptr<Operation>& operation) {
  const std::lock_guard lock(mutex);
  under_way.erase({operation->request.terms.process_set, operation->request.name});
  operation->done = true;
  changed.notify_all();
}

DISTRIBUTE_INLINE void EngineThread::fail(const std::exception_ptr& why) {
  const std::lock_guard lock(mutex);
  if (!error) error = why;
  for (const auto& [key, operation] : under_way) {
    operation->error = why;
    operation->done = true;
  }
  under_way.clear();
  unsent.clear();
  changed.notify_all();
}

DISTRIBUTE_INLINE void EngineThread::flush() {
  const std::lock_guard sending(send_mutex);
  std::vector<Request> requests;
  {
    const std::lock_guard lock(mutex);
    requests.swap(unsent);
  }
  if (requests.empty()) return;
  // A broken connection ends the thread, which knows the reason.
  const auto deadline = net::Deadline::after_seconds(60);
  if (!net::write_frame(control, uint16_t(Frames::Requests), net::encode_message(requests),
                        deadline)
           .ok())
    control.shutdown();
}

DISTRIBUTE_INLINE void EngineThread::say_goodbye() {
  const std::lock_guard sending(send_mutex);
  const auto deadline = net::Deadline::after_seconds(10);
  if (!net::write_frame(control, uint16_t(Frames::Bye), "", deadline).ok()) control.shutdown();
}

/// Frees the task's port, even while handles keep the engine alive.
DISTRIBUTE_INLINE void EngineThread::release() {
  const std::scoped_lock lock(send_mutex, mutex);
  sets.clear();
  group.workers.reset();
  group.replicas.clear();
  group.report_error = {};
  group.watch = {};
  group.all_say = {};
  group.leave = {};
  control.close();
  runtime.reset();
}

}  // namespace distribute::horovod_internal
