#pragma once
#include <distribute/autograd/variable.hpp>
#include <distribute/coordinator/detail/worker_service.hpp>
#include <distribute/coordinator/per_worker_values.hpp>
#include <distribute/strategy/distributed_dataset.hpp>
#include <distribute/strategy/strategy.hpp>

#include <optional>
#include <utility>

namespace distribute::coordinator_internal {

DISTRIBUTE_INLINE WorkerService::WorkerService(WorkerServiceOptions options)
    : options_(std::move(options)) {}

DISTRIBUTE_INLINE const Registry& WorkerService::functions() const {
  return options_.functions ? *options_.functions : registry();
}

DISTRIBUTE_INLINE std::string WorkerService::handle(const std::string& method,
                                                    std::string_view body) {
  if (method == "run" || method == "make") return run(body, method == "make");
  if (method == "hello") return hello(body);
  if (method == "cancel") return cancel(body);
  if (method == "release") return release(body);
  if (method == "finish") return stop(), std::string();
  throw InvalidArgumentError(options_.name + " has no method \"" + method + "\"");
}

DISTRIBUTE_INLINE std::string WorkerService::hello(std::string_view body) {
  const Greeting greeting = from_bytes<Greeting>(body, "greeting");
  check_same_registrations(greeting.registrations, functions().list(), options_.name);
  std::unique_lock lock(mutex_);
  cancelled_ = true;
  cancelled_up_to_ = UINT64_MAX;
  changed_.wait(lock, [&] { return (!running_ && !waiting_) || stopped_; });
  if (stopped_) throw CancelledError(options_.name + " has ended");
  resources_.clear();
  greeting_ = greeting;
  greeted_ = true;
  cancelled_ = false;
  cancelled_up_to_ = 0;
  return {};
}

/// Returns the answer to a function that is not run.
DISTRIBUTE_INLINE std::string not_run(const std::string& why) {
  return Outcome{OutcomeKind::Cancelled, StatusCode::Cancelled, why}.encode();
}

DISTRIBUTE_INLINE std::string WorkerService::run(std::string_view body, bool makes) {
  Job job{.call = from_bytes<ClosureCall>(body, "call of a function"), .makes = makes};
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return (!waiting_ && !running_) || stopped_; });
  if (stopped_) throw CancelledError(options_.name + " has ended");
  if (job.call.id <= cancelled_up_to_) return not_run("cancelled before it began");
  waiting_ = &job;
  changed_.notify_all();
  changed_.wait(lock, [&] { return job.done || (stopped_ && waiting_ == &job); });
  if (job.done) return std::move(job.answer);
  waiting_ = nullptr;
  throw CancelledError(options_.name + " has ended");
}

/// Comes between two functions, from the thread that sends them.
DISTRIBUTE_INLINE std::string WorkerService::release(std::string_view body) {
  const auto call = from_bytes<ClosureCall>(body, "release of a resource");
  const auto id = from_bytes<int64_t>(RemoteCall{call.arguments, resources_}.next());
  const std::lock_guard lock(mutex_);
  if (!running_) resources_.remove(id);
  return Outcome{}.encode();
}

DISTRIBUTE_INLINE std::string WorkerService::cancel(std::string_view body) {
  const auto up_to = from_bytes<uint64_t>(body);
  const std::lock_guard lock(mutex_);
  cancelled_up_to_ = std::max(cancelled_up_to_, up_to);
  if (running_ && running_->call.id <= up_to) cancelled_ = true;
  return {};
}

DISTRIBUTE_INLINE void WorkerService::cancel_running() {
  const std::lock_guard lock(mutex_);
  cancelled_ = running_ != nullptr;
}

DISTRIBUTE_INLINE void WorkerService::stop(std::exception_ptr error) {
  const std::lock_guard lock(mutex_);
  if (stopped_) return;
  stopped_ = true;
  error_ = std::move(error);
  changed_.notify_all();
}

DISTRIBUTE_INLINE bool WorkerService::greeted() const {
  const std::lock_guard lock(mutex_);
  return greeted_;
}

DISTRIBUTE_INLINE bool WorkerService::stopped() const {
  const std::lock_guard lock(mutex_);
  return stopped_;
}

DISTRIBUTE_INLINE void WorkerService::serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return waiting_ || stopped_; });
    if (stopped_) break;
    running_ = std::exchange(waiting_, nullptr);
    cancelled_ = running_->call.id <= cancelled_up_to_;
    lock.unlock();
    run_job(*running_);
    lock.lock();
    std::exchange(running_, nullptr)->done = true;
    changed_.notify_all();
  }
  if (error_) std::rethrow_exception(error_);
}

DISTRIBUTE_INLINE void WorkerService::run_job(Job& job) {
  const CancellationScope cancellation(&cancelled_);
  const WorkerIndexScope index(greeting_.worker);
  Outcome outcome;
  try {
    std::optional<Scope> scope;
    if (options_.strategy) scope.emplace(*options_.strategy);
    outcome.text = job.makes ? make(job.call) : call(job.call);
  } catch (...) {
    outcome = Outcome::of_current_exception(cancelled_);
  }
  job.answer = outcome.encode();
}

DISTRIBUTE_INLINE std::string WorkerService::call(const ClosureCall& call) {
  const RegistrationPtr function = functions().find("function", call.label);
  RemoteCall remote{call.arguments, resources_};
  std::string result;
  const auto run = [&] { result = function->run(remote); };
  const parameter_server::UpdateOrigin origin{
      .session = greeting_.session, .function = call.function, .settled = call.settled};
  options_.run_closure ? options_.run_closure(origin, run) : run();
  return result;
}

DISTRIBUTE_INLINE std::string WorkerService::make(const ClosureCall& call) {
  RemoteCall remote{call.arguments, resources_};
  const auto recipe = from_bytes<Recipe>(remote.next(), "description of a dataset");
  if (recipe.kind == Recipe::Kind::Dataset) return to_bytes(make_dataset(recipe, call.label));
  data::Dataset& dataset = resources_.dataset(from_bytes<int64_t>(remote.next()));
  // Every worker and every start shuffles differently, though the seeds are equal.
  data::set_next_pass(*dataset.node(), first_pass(recipe));
  if (recipe.kind == Recipe::Kind::Iterator)
    return to_bytes(resources_.add(std::make_shared<data::Iterator>(dataset.iterator())));
  Strategy& strategy = options_.strategy ? *options_.strategy : get_strategy();
  return to_bytes(resources_.add(std::make_shared<DistributedIterator>(
      strategy.experimental_distribute_dataset(dataset).iterator())));
}

DISTRIBUTE_INLINE uint64_t WorkerService::first_pass(const Recipe& recipe) const {
  uint64_t number = data::mix_bits(uint64_t(greeting_.worker) + 1);
  number = data::mix_bits(number + greeting_.generation);
  return data::mix_bits(number + recipe.serial);
}

DISTRIBUTE_INLINE int64_t WorkerService::make_dataset(const Recipe& recipe,
                                                      const std::string& name) {
  const RegistrationPtr function = functions().find("dataset", recipe.name);
  const VariableCreatorScope no_variables(
      [&](const auto&, const auto&, const auto&) -> std::shared_ptr<VariableImpl> {
        throw InvalidArgumentError(
            name +
            ": a dataset function may not create variables; make them before, in the "
            "strategy's scope");
      });
  const int replicas = options_.strategy ? options_.strategy->num_replicas_in_sync() : 1;
  const InputContext context(greeting_.num_workers, greeting_.worker, replicas);
  return resources_.add(std::make_shared<data::Dataset>(function->make_data(context)));
}

}  // namespace distribute::coordinator_internal
