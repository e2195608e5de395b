#pragma once
#include <distribute/base/detail/flush_subnormals.hpp>
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/device/placement.hpp>
#include <distribute/parameter_server/detail/client.hpp>
#include <distribute/replica/detail/own_variables.hpp>
#include <distribute/rpc/job_task.hpp>
#include <distribute/strategy/detail/central_reducer.hpp>
#include <distribute/strategy/detail/closure_replica_context.hpp>
#include <distribute/strategy/detail/device_copies.hpp>
#include <distribute/strategy/detail/parameter_server_extended.hpp>
#include <distribute/strategy/detail/server_reducer.hpp>
#include <distribute/strategy/detail/worker_variable.hpp>
#include <distribute/strategy/distributed_variable.hpp>
#include <distribute/strategy/scope.hpp>
#include <distribute/strategy/sharded_variable.hpp>

#include <cstdlib>
#include <utility>

namespace distribute::strategy_internal {

/// Waits for a value that the chief sets on server 0. `what` tells what the chief has to do.
DISTRIBUTE_INLINE std::string wait_for_chief(const ServerJob& job, parameter_server::Client& client,
                                             const std::string& key, double seconds,
                                             const std::string& what) {
  const char* chief = job.cluster.has_job("chief") ? "chief" : "worker";
  const std::string whom = str_cat("the chief, ", job.task->describe(chief, 0), ", to ", what);
  try {
    return client.wait(key, net::Deadline::after_seconds(seconds), whom);
  } catch (const DeadlineExceededError&) {
    throw DeadlineExceededError(str_cat(job.type, ' ', job.index, " has waited ", seconds,
                                        " s for ", whom, ": is it running?"));
  }
}

/// Texts on server 0. Objects that outlive the strategy get an error.
class TextsOnServer final : public ChiefTexts {
 public:
  explicit TextsOnServer(const ServerJob& job) : job_(job), client_(job.client) {
    job_.client = nullptr;
  }
  bool is_chief() const override { return job_.is_chief; }
  int64_t next_number() override { return next_++; }
  void give(const std::string& key, const std::string& text) override {
    {
      const std::lock_guard lock(mutex_);
      const auto [given, is_new] = given_.emplace(key, text);
      if (!is_new && given->second == text) return;
      if (!is_new) throw FailedPreconditionError(key + " has another text already");
    }
    client()->set(key, text);
  }
  std::string take(const std::string& key, const std::string& what) override {
    return wait_for_chief(job_, *client(), key, job_.task->options().startup_timeout, what);
  }

 private:
  std::shared_ptr<parameter_server::Client> client() const {
    if (auto client = client_.lock()) return client;
    throw FailedPreconditionError("the ParameterServerStrategy of this object is gone");
  }

  ServerJob job_;
  const std::weak_ptr<parameter_server::Client> client_;
  std::atomic<int64_t> next_{0};
  std::mutex mutex_;
  std::map<std::string, std::string> given_;  // guarded by mutex_
};

DISTRIBUTE_INLINE std::shared_ptr<ServerAccess> access_to_servers(
    const ServerJob& job, const PushOptions& push, std::shared_ptr<StagingMemory> staging) {
  if (!job.task) return nullptr;
  const bool creates = job.is_chief && job.client != nullptr;
  return std::make_shared<ServerAccess>(job.client, creates, job.task->options().startup_timeout,
                                        push, std::move(staging));
}

DISTRIBUTE_INLINE ParameterServerExtended::ParameterServerExtended(std::vector<std::string> devices,
                                                                   ServerJob job,
                                                                   VariablePlacement placement,
                                                                   const PushOptions& push)
    : LocalReplicas(std::move(devices), nullptr),
      job_(std::move(job)),
      placement_(std::move(placement)),
      staging_(staging_for(replica_devices())),
      link_(access_to_servers(job_, push, staging_)),
      chief_texts_(job_.client ? std::make_shared<TextsOnServer>(job_) : nullptr),
      exceptions_(std::uncaught_exceptions()) {
  record_runs(name(), job_.task ? str_cat(job_.type, '-', job_.index) : "");
}

/// After an exception the chief may come back, so the servers wait for it.
DISTRIBUTE_INLINE ParameterServerExtended::~ParameterServerExtended() {
  try {
    if (std::uncaught_exceptions() == exceptions_)
      leave();
    else if (job_.client && job_.is_chief && !left_)
      job_.client->report_failure();  // throws where a server is lost, whose error it then was
  } catch (const std::exception& error) {
    if (std::uncaught_exceptions() == exceptions_)
      log_warning("strategy", str_cat("leaving the job: ", error.what()));
  }
}

DISTRIBUTE_INLINE int ParameterServerExtended::num_workers() const {
  return job_.cluster.has_job("worker") ? job_.cluster.num_tasks("worker")
                                        : LocalReplicas::num_workers();
}

DISTRIBUTE_INLINE void ParameterServerExtended::leave() {
  if (!job_.client || std::exchange(left_, true)) return;
  job_.client->flush();
  if (job_.is_chief) job_.client->finish_job();
}

DISTRIBUTE_INLINE std::shared_ptr<void> ParameterServerExtended::keep_values_here() {
  return link_ ? std::make_shared<ServerAccess::Apart>(link_) : nullptr;
}

inline constexpr const char* kInitializedKey = "strategy/initialized";

DISTRIBUTE_INLINE void ParameterServerExtended::set_initialized(const std::string& note) {
  if (job_.client) job_.client->set(kInitializedKey, note);
}

DISTRIBUTE_INLINE std::string ParameterServerExtended::wait_until_initialized(
    std::optional<double> seconds) {
  if (!job_.client) return {};
  const double limit = seconds.value_or(job_.task->options().startup_timeout);
  return wait_for_chief(job_, *job_.client, kInitializedKey, limit, "initialize the variables");
}

/// On the chief the key exists already or is never written, so it does not wait.
DISTRIBUTE_INLINE bool ParameterServerExtended::servers_have_kept_variables() {
  constexpr double kSecondsToAnswer = 5;
  if (variables_are_new()) return false;
  try {
    wait_until_initialized(kSecondsToAnswer);
    return true;
  } catch (const DeadlineExceededError&) {  // the last chief was lost before it had restored
    return false;
  }
}

DISTRIBUTE_INLINE std::vector<std::string> ParameterServerExtended::worker_devices() const {
  return job_.task ? devices_of_task(job_.type, job_.index) : LocalReplicas::worker_devices();
}

DISTRIBUTE_INLINE std::vector<std::string> ParameterServerExtended::parameter_devices() const {
  if (!job_.task) return {device_internal::full_name(Device{})};
  std::vector<std::string> devices;
  for (const int index : job_.cluster.task_indices("ps"))
    devices.push_back(str_cat("/job:ps/replica:0/task:", index, "/device:CPU:0"));
  return devices;
}

DISTRIBUTE_INLINE bool ParameterServerExtended::variable_created_in_scope(
    const Variable& variable) const {
  if (const auto& parts = variable.impl().parts(); !parts.empty())
    return variable_created_in_scope(parts[0]);
  if (const auto* remote = dynamic_cast<const RemoteVariable*>(&variable.impl()))
    return remote->owner() == &strategy();
  if (const auto* own = dynamic_cast<const WorkerVariable*>(&variable.impl()))
    return LocalReplicas::variable_created_in_scope(Variable(own->own()));
  return LocalReplicas::variable_created_in_scope(variable);
}

/// The gradients of one replica appear where the servers of this host see them, unless they come
/// from a GPU.
DISTRIBUTE_INLINE std::unique_ptr<replica_internal::GradientReducer>
ParameterServerExtended::make_reducer(LocalReplicaContext& context) {
  if (link_)
    return std::make_unique<ServerReducer>(context, link_, num_local_replicas() == 1 && !on_gpus());
  if (on_gpus()) return std::make_unique<CentralReducer>(context, Device{}, staging_);
  return LocalReplicas::make_reducer(context);
}

DISTRIBUTE_INLINE void ParameterServerExtended::warn_outside_closures() {
  if (ServerAccess::in_closure() || !warns_.exchange(false)) return;  // said once
  log_warning("strategy",
              "A `tf.distribute.experimental.ParameterServerStrategy` method is invoked without "
              "using `ClusterCoordinator.schedule`: it runs on the coordinator, which can be slow");
}

DISTRIBUTE_INLINE void ParameterServerExtended::check_reads_input() const {
  if (coordinated_ && !ServerAccess::in_closure())
    throw InvalidArgumentError(
        "To use this dataset, you need to pass this dataset to "
        "ClusterCoordinator.create_per_worker_dataset: a function makes it on every worker, and "
        "functions that are scheduled read it. A loop on the coordinator, such as an evaluation, "
        "reads the plain Dataset");
}

DISTRIBUTE_INLINE void ParameterServerExtended::call_for_each_replica(
    const std::function<void(ReplicaContext&)>& fn) {
  if (!link_) return LocalReplicas::call_for_each_replica(fn);
  warn_outside_closures();
  const ServerAccess::Step step(*link_);
  LocalReplicas::call_for_each_replica(fn);
}

/// The closure inherits the thread's context except replica and variable creators: it starts with
/// the strategy's own creator.
DISTRIBUTE_INLINE void ParameterServerExtended::run_closure(
    const std::function<void()>& fn, const parameter_server::UpdateOrigin& origin) {
  using base_internal::ThreadContext;
  const base_internal::ThreadContextScope saved(ThreadContext::for_other_thread());
  variable_creator_stack().clear();
  replica_internal::mode_stack().clear();
  const VariableCreatorScope creator(creator_of(strategy()));
  const ServerAccess::Creation creation;
  ClosureReplicaContext context(strategy(), link_, staging_);
  const replica_internal::ModeScope mode({&context, nullptr, -1});
  const FlushSubnormals flush;
  std::optional<DeviceScope> gpu;
  if (on_gpus()) gpu.emplace(replica_devices()[0]);
  if (!link_) return fn();
  const ServerAccess::Function function(*link_, origin);
  const GradientPlacerScope placer(on_gpus() ? nullptr : link_.get());
  const ServerAccess::Step step(*link_);
  fn();
}

/// Returns a key; the n-th variable of a name gets the same key in every process.
DISTRIBUTE_INLINE std::string ParameterServerExtended::unique_key(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const int before = names_[name]++;
  return before == 0 ? name : str_cat(name, "_", before);
}

DISTRIBUTE_INLINE std::shared_ptr<VariableImpl> ParameterServerExtended::make_variable(
    const NextCreator& next, const Variable::Initializer& initial_value,
    const VariableOptions& options) {
  auto shared = make_whole_or_cut(next, initial_value, options);
  if (!link_ || !keeps_for_itself()) return shared;
  return std::make_shared<WorkerVariable>(make_here(next, initial_value, options),
                                          std::move(shared));
}

DISTRIBUTE_INLINE std::shared_ptr<VariableImpl> ParameterServerExtended::make_whole_or_cut(
    const NextCreator& next, const Variable::Initializer& initial_value,
    const VariableOptions& options) {
  if (!placement_.partitioner || options.colocate_with)
    return make_one(next, initial_value, options);
  VariableOptions known = options;
  Variable::Initializer first = initial_value;
  if (!known.shape) {  // made once, for its shape as well
    const Tensor value = initial_value();
    known.shape = value.shape();
    known.dtype = value.dtype();
    first = [value] { return value; };
  }
  const int64_t shards =
      num_shards(placement_.partitioner, options.name, *known.shape, known.dtype);
  return shards == 1 ? make_one(next, first, known) : make_shards(next, first, known, shards);
}

DISTRIBUTE_INLINE std::shared_ptr<VariableImpl> ParameterServerExtended::make_shards(
    const NextCreator& next, const Variable::Initializer& initial_value,
    const VariableOptions& options, int64_t shards) {
  const Shape whole = *options.shape;
  if (!options.initial_rows && whole.num_elements() > 1'000'000'000)
    log_warning("strategy",
                str_cat("variable '", options.name, "' of shape ", to_string(whole),
                        " is made whole before it is cut into shards; an initializer that takes "
                        "InitialRows makes them one by one"));
  std::vector<Variable> parts;
  for (const ShardRows& rows : shard_rows(whole[0], shards)) {
    VariableOptions part = options;
    part.name = str_cat(options.name, "/part_", parts.size());
    part.shape = whole.with(0, rows.end - rows.begin);
    part.initial_rows = nullptr;
    Variable::Initializer first = [initial_value, rows] {
      return initial_value().rows(rows.begin, rows.end);
    };
    if (options.initial_rows) {
      first = [of_whole = options.initial_rows, rows] { return of_whole(rows.begin, rows.end); };
      part.initial_rows = [of_whole = options.initial_rows, rows](int64_t begin, int64_t end) {
        return of_whole(rows.begin + begin, rows.begin + end);
      };
    }
    parts.emplace_back(make_one(next, first, part));
  }
  return join_shards(std::move(parts), options).shared_impl();
}

DISTRIBUTE_INLINE std::shared_ptr<VariableImpl> ParameterServerExtended::make_one(
    const NextCreator& next, const Variable::Initializer& initial_value,
    const VariableOptions& options) {
  return link_ ? make_remote(initial_value, options) : make_here(next, initial_value, options);
}

/// Whether this is a worker that makes its own steps, and sums its own metrics.
DISTRIBUTE_INLINE bool ParameterServerExtended::keeps_for_itself() const {
  return replica_internal::OwnVariables::wanted() && job_.type == TaskType::Worker &&
         !ServerAccess::in_closure();
}

DISTRIBUTE_INLINE std::shared_ptr<VariableImpl> ParameterServerExtended::make_here(
    const NextCreator& next, const Variable::Initializer& initial_value,
    const VariableOptions& options) {
  const DeviceScope cpu(Device{});
  const Tensor first = next(initial_value, options)->component(0);
  const VariableOptions checked = check_variable_options(options, first.dtype());
  return std::make_shared<AggregatingVariable>(first, checked, strategy(), Device{}, staging_);
}

DISTRIBUTE_INLINE parameter_server::InitialValue initial_value_of(
    const Variable::Initializer& initial_value, const VariableOptions& options) {
  if (options.initial_number)
    return parameter_server::InitialValue::filled(*options.initial_number);
  if (options.initial_rows && options.shape && options.shape->rank() > 0)
    return parameter_server::InitialValue::rows(options.initial_rows);
  return parameter_server::InitialValue(initial_value);
}

DISTRIBUTE_INLINE std::optional<int> ParameterServerExtended::server_for(
    const VariableOptions& options) const {
  if (!placement_.device_setter || options.colocate_with) return std::nullopt;
  const DeviceSpec device = placement_.device_setter(
      {.name = options.name, .shape = *options.shape, .dtype = options.dtype},
      current_device_spec());
  if (device.job == "ps" && device.task) return *device.task;
  throw InvalidArgumentError(str_cat("variable '", options.name, "' was sent to '",
                                     device.to_string(),
                                     "': with a cluster variables are on a task of job ps"));
}

DISTRIBUTE_INLINE void log_variable(const RemoteVariable& variable) {
  const Environment variables;
  if (!variables.has("TF_PSS_VERBOSE_VARIABLE_PLACEMENT") &&
      !variables.has("DISTRIBUTE_LOG_PLACEMENT"))
    return;
  const int64_t bytes = variable.shape().num_elements() * size_of(variable.dtype());
  log_info("strategy",
           str_cat("variable '", variable.key(), "' ", to_string(variable.shape()), ' ',
                   name_of(variable.dtype()), " (", bytes, " bytes) on ", variable.device()));
}

DISTRIBUTE_INLINE std::shared_ptr<VariableImpl> ParameterServerExtended::make_remote(
    const Variable::Initializer& initial_value, const VariableOptions& options) {
  if (options.constraint)
    throw UnimplementedError(str_cat("variable '", options.name,
                                     "': a parameter server cannot call a constraint of this "
                                     "process; apply it to what the step reads"));
  VariableOptions known = options;
  Variable::Initializer first = initial_value;
  if (!known.shape) {
    const Tensor value = initial_value();
    known.shape = value.shape();
    known.dtype = value.dtype();
    first = [value] { return value; };
  }
  const VariableOptions checked = check_variable_options(known, known.dtype);
  parameter_server::VariableSpec spec{.key = unique_key(options.name),
                                      .shape = *known.shape,
                                      .dtype = known.dtype,
                                      .server = server_for(known)};
  if (options.colocate_with) {
    const auto* other = dynamic_cast<const RemoteVariable*>(options.colocate_with.get());
    if (!other || other->owner() != &strategy())
      throw InvalidArgumentError(
          str_cat("Trying to create optimizer slot variable '", options.name,
                  "' under the scope of this strategy for variable '",
                  options.colocate_with->options().name,
                  "', which was created elsewhere: create model and optimizer inside "
                  "strategy.scope()"));
    spec.colocate_with = other->key();
  }
  const auto made = std::make_shared<RemoteVariable>(
      std::move(spec), initial_value_of(first, known), checked, strategy(), link_);
  if (link_->creates()) log_variable(*made);
  return made;
}

}  // namespace distribute::strategy_internal
