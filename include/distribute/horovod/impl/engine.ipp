#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/base/threads.hpp>
#include <distribute/horovod/detail/engine.hpp>
#include <distribute/horovod/detail/engine_thread.hpp>

#include <utility>

namespace distribute::horovod_internal {

DISTRIBUTE_INLINE Engine::Engine(std::shared_ptr<ClusterRuntime> runtime,
                                 const EngineOptions& options)
    : impl_(std::make_unique<EngineThread>(std::move(runtime), options)) {
  impl_->thread =
      base_internal::start_thread("operations of hvd::", [impl = impl_.get()] { impl->run(); });
}

DISTRIBUTE_INLINE Engine::~Engine() {
  try {
    stop();
  } catch (const std::exception& error) {
    log_warning("horovod", str_cat("shutdown: ", error.what()));
  }
}

DISTRIBUTE_INLINE bool Engine::stopped() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->stopped;
}

DISTRIBUTE_INLINE void Engine::stop() {
  EngineThread& all = *impl_;
  bool failed = failure().has_value();  // an announced end would hide the failure from the others
  {
    const std::lock_guard lock(all.mutex);
    if (std::exchange(all.stopped, true)) return;
    failed |= all.error != nullptr;
  }
  if (!failed) all.flush(), all.say_goodbye();
  if (all.thread.joinable()) all.thread.join();
  all.fail(std::make_exception_ptr(
      FailedPreconditionError("hvd::shutdown() has been called: call hvd::init() again")));
  if (all.coordinator && all.runtime && !failed && !failure())
    all.coordinator->wait_until_all_have_left(all.runtime->options().shutdown_timeout);
  all.coordinator.reset();
  if (all.runtime) all.runtime->remove_on_lost(all.lost_callback);
  if (all.group.leave) all.group.leave();
  all.release();
}

DISTRIBUTE_INLINE std::string Engine::next_name(Kind kind, int32_t process_set) {
  const std::lock_guard lock(impl_->mutex);
  const int64_t number = ++impl_->calls[{process_set, kind}];
  return str_cat(horovod_internal::name_of(kind), ".noname.", number);
}

DISTRIBUTE_INLINE std::shared_ptr<Operation> Engine::submit(Request request, Part part) {
  EngineThread& all = *impl_;
  if (request.name.empty()) request.name = next_name(request.terms.kind, request.terms.process_set);
  const auto operation = std::make_shared<Operation>();
  bool due = false, first = false;
  {
    const std::lock_guard lock(all.mutex);
    if (all.error) std::rethrow_exception(all.error);
    const Terms& terms = request.terms;
    operation->request = request;
    operation->part = std::move(part);
    if (!all.under_way.try_emplace({terms.process_set, request.name}, operation).second)
      throw InvalidArgumentError(str_cat("hvd: '", request.name, "' (", to_string(request),
                                         ") is under way already; wait for it with ",
                                         "synchronize(), or give another name"));
    first = all.unsent.empty();
    if (first) all.oldest_unsent = EngineThread::Clock::now();
    all.unsent.push_back(std::move(request));
    due = EngineThread::Clock::now() - all.oldest_unsent >=
          net::seconds(all.options.cycle_time_ms * 1e-3);
  }
  if (due)
    flush();
  else if (first)
    all.wake_up.signal();  // lets the thread look at its clock
  return operation;
}

DISTRIBUTE_INLINE void Engine::flush() { impl_->flush(); }

DISTRIBUTE_INLINE bool Engine::is_done(const Operation& operation) {
  const std::lock_guard lock(impl_->mutex);
  return operation.done;
}

DISTRIBUTE_INLINE void Engine::wait(const Operation& operation) {
  flush();
  std::unique_lock lock(impl_->mutex);
  impl_->changed.wait(lock, [&] { return operation.done; });  // stalls and losses end the wait
  if (operation.error) std::rethrow_exception(operation.error);
}

DISTRIBUTE_INLINE int Engine::rank() const { return impl_->group.worker; }
DISTRIBUTE_INLINE int Engine::size() const { return impl_->group.num_workers; }
DISTRIBUTE_INLINE const char* Engine::transport() const { return impl_->transport; }

DISTRIBUTE_INLINE const RankPlace& Engine::place() const { return impl_->place; }

DISTRIBUTE_INLINE std::vector<int> Engine::members(int32_t process_set) const {
  const std::lock_guard lock(impl_->mutex);
  const auto found = impl_->sets.find(process_set);
  if (found == impl_->sets.end())
    throw InvalidArgumentError(str_cat("hvd: there is no process set ", process_set,
                                       "; add_process_set() makes one on all ranks"));
  return found->second.members;
}

DISTRIBUTE_INLINE ClusterTasks Engine::tasks() const {
  ClusterTasks tasks;
  if (!impl_->runtime) return tasks;
  for (int r = 0; r < size(); ++r) tasks.members.push_back(impl_->runtime->member(r));
  tasks.rank = rank();
  return tasks;
}

DISTRIBUTE_INLINE std::shared_ptr<ElasticJob> Engine::elastic_job() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->elastic_job;
}

DISTRIBUTE_INLINE void Engine::set_elastic_job(std::shared_ptr<ElasticJob> job) {
  const std::lock_guard lock(impl_->mutex);
  impl_->elastic_job = std::move(job);
}

DISTRIBUTE_INLINE std::optional<TaskFailure> Engine::failure() const {
  return impl_->runtime ? impl_->runtime->lost() : std::nullopt;
}

}  // namespace distribute::horovod_internal
