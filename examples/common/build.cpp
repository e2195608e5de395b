#include "build.hpp"

#include <distribute/horovod.hpp>
#include <distribute/platforms.hpp>

#include <cstdlib>
#include <map>
#include <type_traits>

namespace dist = distribute;
namespace optim = distribute::optim;

namespace examples {

/// What every worker must be started with alike; names are those of the flags.
dist::AgreedOptions agreed_options(const TrainerOptions& o) {
  dist::AgreedOptions all = agreed_values(trainer_flags(), &o);
  all.insert(o.more_flags.begin(), o.more_flags.end());
  return all;
}

namespace {

/// What flags and environment imply when --strategy is not given.
std::string implied_strategy(const TrainerOptions& o, const dist::ClusterSpec& cluster) {
  if (o.elastic) return "multi_worker";
  if (cluster.jobs().empty()) return "mirrored";
  for (const std::string& job : cluster.jobs())
    if (job == "ps") return "parameter_server";
  return "multi_worker";
}

/// --device, where auto is a GPU when there is one.
bool uses_gpu(const TrainerOptions& o) {
  const bool found = o.device != "cpu" && !dist::config::list_physical_devices("GPU").empty();
  if (o.device == "gpu" && !found) throw dist::UsageError("--device=gpu: " + dist::gpu_problem());
  return found;
}

ChosenStrategy make_multi_worker(const TrainerOptions& o,
                                 std::unique_ptr<dist::ClusterResolver> cluster) {
  const dist::MultiWorkerOptions options{
      .num_replicas = o.replicas,
      .must_agree = agreed_options(o),
      .elastic = {.min_workers = o.elastic ? o.min_workers : 0, .max_workers = o.max_workers},
      .shard_optimizer_state = o.shard_optimizer_state};
  std::unique_ptr<dist::Strategy> strategy;
  if (uses_gpu(o)) {
    strategy =
        std::make_unique<dist::MultiWorkerMirroredStrategy<dist::GpuDevice>>(*cluster, options);
  } else {
    dist::config::set_logical_device_configuration(o.replicas);
    strategy =
        std::make_unique<dist::MultiWorkerMirroredStrategy<dist::CpuDevice>>(*cluster, options);
  }
  return {std::move(cluster), std::move(strategy), "multi_worker"};
}

/// Workers whose gradients make a step; those beyond --sync_replicas are backup.
std::optional<dist::SyncReplicas> sync_replicas(const TrainerOptions& o,
                                                const dist::ClusterSpec& cluster) {
  if (o.sync_replicas == 0) return std::nullopt;
  int workers = 0;
  for (const char* job : {"chief", "worker"})
    if (cluster.has_job(job)) workers += cluster.num_tasks(job);
  if (o.sync_replicas > workers)
    throw dist::UsageError(
        dist::str_cat("--sync_replicas=", o.sync_replicas, ": there are ", workers, " workers"));
  return dist::SyncReplicas{.replicas_to_aggregate = o.sync_replicas,
                            .total_num_replicas = workers,
                            .num_init_tokens = 0};
}

template <typename Kind>
ChosenStrategy make_parameter_server_on(const TrainerOptions& o,
                                        std::unique_ptr<dist::ClusterResolver> cluster) {
  const dist::ClusterSpec spec = cluster->cluster_spec();
  dist::ParameterServerOptions options;
  options.num_replicas = o.replicas;
  options.max_staleness = o.max_staleness;
  options.bf16_on_wire = o.bf16_on_wire;
  const char* name = "parameter_server";
  if (spec.jobs().empty())  // all in this process
    return {nullptr, std::make_unique<dist::ParameterServerStrategy<Kind>>(options), name};
  options.sync_replicas = sync_replicas(o, spec);
  auto strategy = std::make_unique<dist::ParameterServerStrategy<Kind>>(*cluster, options);
  return {std::move(cluster), std::move(strategy), name};
}

ChosenStrategy make_parameter_server(const TrainerOptions& o,
                                     std::unique_ptr<dist::ClusterResolver> cluster) {
  if (o.device == "gpu") {
    const auto type = cluster->task_type();
    if (!type || *type == dist::TaskType(dist::TaskType::Worker)) uses_gpu(o);  // or an error
    return make_parameter_server_on<dist::GpuDevice>(o, std::move(cluster));
  }
  dist::config::set_logical_device_configuration(o.replicas);
  if (!uses_gpu(o)) return make_parameter_server_on<dist::CpuDevice>(o, std::move(cluster));
  return make_parameter_server_on<dist::DefaultDevice>(o, std::move(cluster));
}

/// Whether the strategy is one of several tasks, or left to the environment.
bool asks_cluster(const TrainerOptions& o) {
  return o.strategy.empty() || o.strategy == "multi_worker" || o.strategy == "parameter_server" ||
         o.cluster().any() || !o.gce_instance_group.empty();
}

}  // namespace

std::unique_ptr<dist::ClusterResolver> cluster_of(const TrainerOptions& o) {
  if (o.gce_instance_group.empty()) return dist::default_resolver({}, o.cluster()).resolver;
  return std::make_unique<dist::GCEClusterResolver>(
      dist::GCEClusterResolverOptions{.project = o.gce_project,
                                      .zone = o.gce_zone,
                                      .instance_group = o.gce_instance_group,
                                      .port = o.gce_port,
                                      .task_id = std::nullopt,
                                      .service = o.gce_service});
}

bool is_evaluator(const TrainerOptions& o) {
  return asks_cluster(o) && o.gce_instance_group.empty() &&
         dist::implied_resolver({}, o.cluster()).resolver->task_type() ==
             dist::TaskType(dist::TaskType::Evaluator);
}

namespace {

/// Strategies of one process, with --replicas devices or parts of GPUs.
template <typename Kind>
std::unique_ptr<dist::Strategy> make_local(const TrainerOptions& o, const std::string& name) {
  const bool gpu = std::is_same_v<Kind, dist::GpuDevice>;
  if (name == "one_device")
    return std::make_unique<dist::OneDeviceStrategy>(gpu ? "/gpu:0" : "/cpu:0");
  if (!gpu) dist::config::set_logical_device_configuration(o.replicas);
  if (name == "mirrored")
    return std::make_unique<dist::MirroredStrategy<Kind>>(dist::MirroredOptions{
        .num_replicas = o.replicas, .shard_optimizer_state = o.shard_optimizer_state});
  dist::CentralStorageOptions central{.num_replicas = gpu ? o.replicas : 0};
  for (int i = 0; i < o.replicas && !gpu; ++i)
    central.compute_devices.push_back("/cpu:" + std::to_string(i));
  return std::make_unique<dist::CentralStorageStrategy>(central);
}

ChosenStrategy make_local(const TrainerOptions& o, const std::string& name) {
  return {nullptr,
          uses_gpu(o) ? make_local<dist::GpuDevice>(o, name) : make_local<dist::CpuDevice>(o, name),
          name};
}

}  // namespace

ChosenStrategy make_strategy(const TrainerOptions& o) {
  if (o.deterministic) dist::config::experimental::enable_op_determinism();
  dist::config::set_float32_matmul_precision(o.float32_matmul_precision);
  if (o.api == "horovod") {
    const std::string device = uses_gpu(o) ? dist::hvd::local_device() : "/cpu:0";
    return {nullptr, std::make_unique<dist::OneDeviceStrategy>(device), "horovod"};
  }
  auto cluster = asks_cluster(o) ? cluster_of(o) : nullptr;
  const std::string name =
      o.strategy.empty() ? implied_strategy(o, cluster->cluster_spec()) : o.strategy;
  check_flag(misplaced_flag(o, name));
  if (name == "parameter_server") return make_parameter_server(o, std::move(cluster));
  if (name == "multi_worker") return make_multi_worker(o, std::move(cluster));
  return make_local(o, name);
}

namespace {

/// The rate after warm-up.
optim::LearningRate make_schedule(const TrainerOptions& o, int64_t steps) {
  const double rate = o.learning_rate;
  if (o.lr_schedule == "cosine") return optim::CosineDecay{rate, steps, o.decay_alpha};
  if (o.lr_schedule != "piecewise") return rate;
  optim::PiecewiseConstantDecay drops{{}, {rate}};
  for (double part : o.piecewise) {
    drops.boundaries.push_back(int64_t(double(steps) * part));
    drops.values.push_back(drops.values.back() * 0.1);
  }
  return drops;
}

optim::LearningRate make_learning_rate(const TrainerOptions& o, int64_t total_steps) {
  const int64_t warmup = o.warmup_steps;
  const int64_t steps = o.decay_steps ? o.decay_steps : std::max<int64_t>(total_steps - warmup, 1);
  optim::LearningRate rate = make_schedule(o, steps);
  if (warmup == 0) return rate;
  return optim::LinearWarmup{.after = std::move(rate), .warmup_steps = warmup};
}

/// Options of the class `Kind`: each flag goes where there is an option of its name.
template <typename Kind, typename Options>
std::unique_ptr<optim::Optimizer> make(const TrainerOptions& o, int64_t total_steps,
                                       Options options) {
  options.learning_rate = make_learning_rate(o, total_steps);
  if constexpr (requires { options.beta_1; }) options.beta_1 = o.beta_1;
  if constexpr (requires { options.beta_2; }) options.beta_2 = o.beta_2;
  if constexpr (requires { options.rho; }) options.rho = o.rho;
  if constexpr (requires { options.epsilon; }) options.epsilon = o.epsilon;
  if (o.clip_norm > 0) options.global_clipnorm = o.clip_norm;
  std::optional<double>* decay = &options.weight_decay;
  if constexpr (requires { options.coupled_weight_decay; })
    if (o.coupled_decay) decay = &options.coupled_weight_decay;
  if (o.weight_decay > 0) *decay = o.weight_decay;
  options.use_ema = o.ema_decay > 0;
  options.ema_momentum = o.ema_decay;
  auto optimizer = std::make_unique<Kind>(options);
  optimizer->exclude_from_weight_decay({"bias", "gamma", "beta"});
  return optimizer;
}

}  // namespace

std::unique_ptr<optim::Optimizer> make_optimizer(const TrainerOptions& o, int64_t steps) {
  if (o.optimizer == "adam") return make<optim::Adam>(o, steps, optim::AdamOptions{});
  if (o.optimizer == "adamw") return make<optim::AdamW>(o, steps, optim::AdamWOptions{});
  if (o.optimizer == "rmsprop")
    return make<optim::RMSprop>(o, steps, optim::RMSpropOptions{.momentum = o.momentum});
  if (o.optimizer == "adagrad")
    return make<optim::Adagrad>(
        o, steps, optim::AdagradOptions{.initial_accumulator_value = o.initial_accumulator_value});
  return make<optim::SGD>(o, steps,
                          optim::SGDOptions{.momentum = o.optimizer == "sgd" ? 0.0 : o.momentum,
                                            .nesterov = o.optimizer == "nesterov"});
}

}  // namespace examples
