#pragma once
#include <distribute/autograd/variable.hpp>
#include <distribute/coordinator/detail/worker_service.hpp>
#include <distribute/coordinator/per_worker_values.hpp>
#include <distribute/strategy/distributed_dataset.hpp>
#include <distribute/strategy/strategy.hpp>

#include <optional>
#include <utility>

namespace distribute::coordinator_internal {

DISTRIBUTE_INLINE std::string Greeting::encode() const {
  net::ByteWriter writer;
  writer.number(session).number(generation).number(worker).number(num_workers);
  Wire<std::vector<std::string>>::write(writer, registrations);
  return writer.take();
}

DISTRIBUTE_INLINE Greeting Greeting::decode(std::string_view bytes) {
  net::ByteReader reader(bytes);
  Greeting greeting;
  greeting.session = reader.number<uint64_t>();
  greeting.generation = reader.number<uint64_t>();
  greeting.worker = reader.number<int32_t>();
  greeting.num_workers = reader.number<int32_t>();
  greeting.registrations = Wire<std::vector<std::string>>::read(reader);
  if (!reader.finished()) throw DataLossError("the coordinator's greeting is damaged");
  return greeting;
}

DISTRIBUTE_INLINE std::string Recipe::encode() const {
  return net::ByteWriter().number(uint8_t(kind)).text(name).number(serial).take();
}

DISTRIBUTE_INLINE Recipe Recipe::decode(std::string_view bytes) {
  net::ByteReader reader(bytes);
  Recipe recipe;
  recipe.kind = Kind(reader.number<uint8_t>());
  recipe.name = reader.text();
  recipe.serial = reader.number<uint64_t>();
  if (!reader.finished() || recipe.kind > Kind::DistributedIterator)
    throw DataLossError("a per-worker dataset's description is damaged");
  return recipe;
}

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
  const Greeting greeting = Greeting::decode(body);
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

/// The answer to a function that does not run any more.
DISTRIBUTE_INLINE std::string not_run(const std::string& why) {
  return Outcome{OutcomeKind::Cancelled, StatusCode::Cancelled, why}.encode();
}

DISTRIBUTE_INLINE std::string WorkerService::run(std::string_view body, bool makes) {
  Job job;
  job.makes = makes;
  net::ByteReader reader(body);
  job.id = reader.number<uint64_t>();
  job.function = reader.number<uint64_t>();
  job.settled = reader.number<uint64_t>();
  job.body = body.substr(std::min(body.size(), 3 * sizeof(uint64_t)));
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return (!waiting_ && !running_) || stopped_; });
  if (stopped_) throw CancelledError(options_.name + " has ended");
  if (job.id <= cancelled_up_to_) return not_run("cancelled before it began");
  waiting_ = &job;
  changed_.notify_all();
  changed_.wait(lock, [&] { return job.done || (stopped_ && waiting_ == &job); });
  if (job.done) return std::move(job.answer);
  waiting_ = nullptr;
  throw CancelledError(options_.name + " has ended");
}

/// Comes between two functions, from the thread that sends them.
DISTRIBUTE_INLINE std::string WorkerService::release(std::string_view body) {
  net::ByteReader reader(body);
  for (int i = 0; i < 3; ++i) reader.number<uint64_t>();
  reader.text();
  reader.number<uint32_t>();
  const auto id = from_bytes<int64_t>(reader.text());
  const std::lock_guard lock(mutex_);
  if (!running_) resources_.remove(id);
  return Outcome{}.encode();
}

DISTRIBUTE_INLINE std::string WorkerService::cancel(std::string_view body) {
  const auto up_to = from_bytes<uint64_t>(body);
  const std::lock_guard lock(mutex_);
  cancelled_up_to_ = std::max(cancelled_up_to_, up_to);
  if (running_ && running_->id <= up_to) cancelled_ = true;
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

DISTRIBUTE_INLINE void WorkerService::serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return waiting_ || stopped_; });
    if (stopped_) break;
    running_ = std::exchange(waiting_, nullptr);
    cancelled_ = running_->id <= cancelled_up_to_;
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
    net::ByteReader reader(job.body);
    const std::string name(reader.text());
    reader.number<uint32_t>();  // of arguments: the function knows
    outcome.text = job.makes ? make(reader, name) : call(reader, name, job);
  } catch (...) {
    outcome = Outcome::of_current_exception(cancelled_);
  }
  job.answer = outcome.encode();
}

DISTRIBUTE_INLINE std::string WorkerService::call(net::ByteReader& arguments,
                                                  const std::string& name, const Job& job) {
  const RegistrationPtr function = functions().find("function", name);
  RemoteCall call{arguments, resources_};
  std::string result;
  const auto run = [&] { result = function->run(call); };
  const parameter_server::UpdateOrigin origin{
      .session = greeting_.session, .function = job.function, .settled = job.settled};
  options_.run_closure ? options_.run_closure(origin, run) : run();
  return result;
}

DISTRIBUTE_INLINE std::string WorkerService::make(net::ByteReader& arguments,
                                                  const std::string& name) {
  const Recipe recipe = Recipe::decode(arguments.text());
  if (recipe.kind == Recipe::Kind::Dataset) return to_bytes(make_dataset(recipe, name));
  data::Dataset& dataset = resources_.dataset(from_bytes<int64_t>(arguments.text()));
  // Every worker and every start draws orders of its own, though the seeds are the same.
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
