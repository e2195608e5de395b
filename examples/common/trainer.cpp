#include "trainer.hpp"

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <system_error>

namespace dist = distribute;
namespace data = distribute::data;

namespace examples {

namespace {

int64_t total_steps(const TrainerOptions& o, int64_t images) {
  if (o.batch_size > images)
    throw dist::InvalidArgumentError(
        dist::str_cat("--batch_size=", o.batch_size, " is larger than the training data, ", images,
                      " images", o.data_dir.empty() ? "" : " in " + o.data_dir));
  if (o.steps > 0) return o.steps;
  const double of_step = double(o.batch_size) * std::max(o.sync_replicas, 1);
  return std::max<int64_t>(std::llround(o.epochs * double(images) / of_step), 1);
}

/// Warm-up of an example's recipe, a tenth of training at most.
TrainerOptions with_warmup(TrainerOptions o, const Task& task, int64_t steps) {
  if (given("warmup_steps") || task.warmup_epochs <= 0) return o;
  const double epoch = double(task.training_images) / double(o.batch_size);
  o.warmup_steps = std::min(std::llround(task.warmup_epochs * epoch), (long long)steps / 10);
  return o;
}

dist::Shape with_batch(int64_t batch, const dist::Shape& image) {
  return {batch, image[0], image[1], image[2]};
}

/// The job of a strategy that has servers elsewhere than in this process.
std::optional<dist::ParameterServerJob> servers_of(const dist::Strategy& strategy) {
  auto job = dist::ParameterServerJob::of(strategy);
  return job && !job->is_parameter_server() ? job : std::nullopt;
}

/// Whether the chief gives out the steps: where there is one beside the workers, or as asked.
bool is_coordinated(const TrainerOptions& o,
                    const std::optional<dist::ParameterServerJob>& servers) {
  if (!servers) return false;
  const bool has_chief = servers->cluster().has_job("chief");
  if (o.coordinator == "true" && !has_chief)
    throw dist::InvalidArgumentError(
        "--coordinator=true: the cluster has no chief that could give out the steps");
  return has_chief && o.coordinator != "false" && o.sync_replicas == 0;
}

/// This task's number among those that train, and how many there are.
dist::InputContext place_of(const dist::ParameterServerJob& job, bool coordinated) {
  const int chiefs = job.cluster().has_job("chief") && !coordinated ? 1 : 0;
  const int number = job.task_type() == "chief" ? 0 : job.task_id() + chiefs;
  return dist::InputContext(job.cluster().num_tasks("worker") + chiefs, number);
}

}  // namespace

Trainer::Trainer(const TrainerOptions& options, dist::Strategy& strategy, const MakeTask& make_task,
                 HorovodJob* horovod)
    : options_(options),
      strategy_(strategy),
      horovod_(horovod),
      servers_(servers_of(strategy)),
      coordinated_(is_coordinated(options, servers_)),
      scope_(strategy),
      task_(make_task()),
      model_(*task_.model),
      total_steps_(total_steps(options, task_.training_images)),
      optimizer_(make_optimizer(with_warmup(options, task_, total_steps_), total_steps_)),
      loss_scale_(options.policy == "mixed_float16"
                      ? std::make_unique<dist::optim::LossScaleOptimizer>(*optimizer_)
                      : nullptr),
      checkpoint_(checkpoint_parts()) {
  record_steps();
  check_same_data();
  if (coordinated_) register_functions();
  if (serves()) {
    agree_on_options();
    return;
  }
  build_model();
  if (!servers_ || is_chief()) {
    if (!options_.init_checkpoint.empty())
      dist::train::load_weights(options_.init_checkpoint, model_.variables());
    restore();
  }
  if (servers_) agree_on_options();
  if (horovod_) horovod_->wrap(*optimizer_);
  if (may_change_chief()) return;
  if (horovod_) horovod_->start_alike(model_, *optimizer_, *iterator_);
  open_outputs();
}

/// Where the ranks take over the state of one, and find out who is the chief, again and again.
bool Trainer::may_change_chief() const { return horovod_ && options_.elastic; }

void Trainer::open_outputs() {
  if (!loss_csv_) open_loss_csv();
  if (!options_.logdir.empty() && is_chief() && !writer_)
    writer_ = dist::summary::create_file_writer(options_.logdir);
}

/// Why a step cannot be a CUDA graph; empty: it can.
std::string Trainer::why_not_recorded() const {
  if (options_.api == "horovod") return "--api=horovod sums gradients in every step";
  if (strategy_.cluster_resolver()) return "gradients go to other tasks in every step";
  const auto devices = strategy_.extended().replica_devices();
  if (devices.size() != 1 || devices[0].type != dist::DeviceType::Gpu)
    return dist::str_cat("it takes one replica on a GPU, this is ", dist::to_string(strategy_));
  if (loss_scale_) return "--policy=mixed_float16 looks for infinities in every step";
  if (options_.clip_norm > 0) return "--clip_norm reads the gradients' norm in every step";
  if (!options_.loss_csv.empty()) return "--loss_csv reads the gradients' norm in every step";
  return {};
}

void Trainer::record_steps() {
  const bool wanted = options_.cuda_graph == "true";
  if (options_.cuda_graph == "false" || (!wanted && !task_.is_launch_bound)) return;
  const std::string why_not = why_not_recorded();
  if (wanted && !why_not.empty()) throw dist::InvalidArgumentError("--cuda_graph=true: " + why_not);
  if (why_not.empty())
    recorded_.emplace([this](const Batch& batch) { return replica_step(batch).sums; });
  else if (device_name(strategy_) == "gpu")
    dist::log_info("trainer", "steps are not recorded as CUDA graphs: " + why_not);
}

/// With its loss scale, where it has one.
dist::Trackable* Trainer::saved_optimizer() const {
  if (loss_scale_) return loss_scale_.get();
  return optimizer_.get();
}

/// Not restored where the user says so: the data may be another one.
dist::train::TensorState Trainer::position_in_data() {
  dist::train::TensorState position = dist::train::state_of(*iterator_);
  position.restore = [this, restore = position.restore](const dist::Tensor& saved) {
    if (!options_.restore_position) return;
    try {
      restore(saved);
    } catch (const dist::InvalidArgumentError& error) {
      throw dist::InvalidArgumentError(dist::str_cat("--checkpoint_dir=", options_.checkpoint_dir,
                                                     ": ", error.what(),
                                                     "; --norestore_position does that"));
    }
  };
  return position;
}

/// What a checkpoint holds; here the iterator is made, too.
dist::train::CheckpointParts Trainer::checkpoint_parts() {
  dist::train::CheckpointParts all{{"model", &model_}, {"optimizer", saved_optimizer()}};
  if (horovod_ && !options_.restore_position)
    throw dist::InvalidArgumentError(
        "--norestore_position: ranks of Horovod agree on a position; leave it out");
  if (options_.elastic) {
    if (!elastic_iterator_) elastic_iterator_.emplace(strategy_, task_.training);
    all.emplace_back("iterator", dist::train::state_of(*elastic_iterator_));
    return all;
  }
  iterator_.emplace(strategy_.experimental_distribute_dataset(training_data()).iterator());
  all.emplace_back("iterator", horovod_ ? horovod_->places() : position_in_data());
  return all;
}

/// Workers with other images would take another number of steps.
void Trainer::check_same_data() {
  if (may_change_chief()) return;  // part of what the ranks compare when they meet
  if (horovod_) return horovod_->check_same_data(task_.training_images);
  if (strategy_.extended().input_context().num_input_pipelines() == 1) return;
  const auto mine = strategy_.run([count = task_.training_images] {
    return dist::Tensor(dist::Shape{1}, std::vector<int64_t>{count});
  });
  const dist::Tensor all = strategy_.gather(mine, 0);
  const auto counts = all.data<int64_t>();
  for (size_t r = 1; r < counts.size(); ++r)
    if (counts[r] != counts[0])
      throw dist::InvalidArgumentError(dist::str_cat("--data_dir: replica ", r, " has ", counts[r],
                                                     " training images, replica 0 has ", counts[0],
                                                     "; all workers need the same data"));
}

data::Dataset Trainer::training_data() const {
  if (horovod_) return horovod_->share(task_.training);
  return training_data(servers_ ? place_of(*servers_, coordinated_) : dist::InputContext());
}

/// Workers of parameter servers share files, or take the batches in turn.
data::Dataset Trainer::training_data(const dist::InputContext& place) const {
  return data::Dataset(data::auto_shard(task_.training.node(), place.num_input_pipelines(),
                                        place.input_pipeline_id(), data::AutoShardPolicy::Auto));
}

/// Weights exist before the first step, so that they can be loaded and counted; on servers, so that
/// workers find them and their slots.
void Trainer::build_model() {
  model_(dist::zeros(with_batch(1, task_.image)));
  if (servers_) optimizer_->build(model_.trainable_variables());
}

/// In every process, in the same order.
void Trainer::register_functions() {
  remote_data_ = std::make_unique<dist::RemoteDataset>(
      "train", [this](const dist::InputContext& place) { return training_data(place); });
  remote_step_ = std::make_unique<RemoteStep>("train_step", [this](data::Iterator& images) {
    const ReplicaStep step = replica_step(images.next());
    const auto sums = step.sums.data<float>();
    return std::vector<double>{sums[0], sums[1], double(step.number),
                               double(strategy_.extended().task_id())};
  });
}

/// The chief says that the weights are there and how it was started; others wait for that.
void Trainer::agree_on_options() {
  const std::string mine = agreed_options(options_);
  if (is_chief()) return servers_->set_initialized(mine);
  const std::string chiefs = servers_->wait_until_initialized();
  if (mine == chiefs) return;
  const auto [here, there] = first_difference(mine, chiefs);
  throw dist::InvalidArgumentError(
      dist::str_cat("the tasks were started with different flags: ", servers_->task_type(), ' ',
                    servers_->task_id(), " has ", here, ", the chief ", there));
}

void Trainer::open_manager() {
  manager_.emplace(
      checkpoint_,
      dist::train::CheckpointManagerOptions{
          .directory = options_.checkpoint_dir, .max_to_keep = 3, .max_failed_saves = 3});
}

void Trainer::restore() {
  if (options_.checkpoint_dir.empty() || (horovod_ && !is_chief())) return;
  open_manager();
  if (const auto& saved = manager_->latest_checkpoint(); saved && !servers_)
    check_same_network(*saved);
  watch_for_end();
  // Training goes on where the servers are. An elastic job's other workers, and other ranks, get
  // the state from this one.
  if (servers_ && servers_->servers_have_kept_variables()) {
    std::printf("goes on with the servers' variables at step %lld\n",
                (long long)optimizer_->iterations());
    return;
  }
  if (horovod_ || options_.elastic || servers_) manager_->restore_or_initialize();
  const auto& path = manager_->latest_checkpoint();
  if (path && is_chief())
    std::printf("restored %s at step %lld\n", path->c_str(), (long long)optimizer_->iterations());
}

/// Another network's checkpoint would leave some of the weights as they were made.
void Trainer::check_same_network(const std::string& saved) {
  dist::train::Checkpoint weights({{"model", &model_}});
  try {
    weights.restore(saved).expect_partial().assert_existing_objects_matched();
  } catch (const dist::FailedPreconditionError& error) {
    throw dist::FailedPreconditionError(dist::str_cat(
        "--checkpoint_dir=", options_.checkpoint_dir,
        " has checkpoints of another network; give it a directory of its own: ", error.what()));
  }
}

bool Trainer::is_told_to_go() const {
  return (told_ && told_->has_come()) || (notice_ && notice_->has_come());
}

/// Without servers the handler restores the newest checkpoint, and all workers save together.
void Trainer::watch_for_end() {
  if (horovod_ || options_.elastic) return;
  if (!options_.preemption_notice.empty())
    notice_ = std::make_unique<dist::train::PreemptionNotice>(
        dist::train::PreemptionNoticeOptions{.platform = options_.preemption_notice});
  if (servers_ || notice_) told_ = std::make_unique<dist::TerminationSignal>(std::vector{SIGTERM});
  if (servers_) return;
  dist::TerminationConfig config;
  if (notice_) config.termination_watcher_fn = [this] { return is_told_to_go(); };
  preemption_.emplace(strategy_.cluster_resolver(), *manager_, std::move(config));
}

/// The chief of a job with parameter servers saves alone; the servers keep the variables, and the
/// workers wait for its return.
void Trainer::leave_if_told() {
  if (!servers_ || !is_told_to_go()) return;
  const int64_t step = optimizer_->iterations();
  dist::log_info("trainer", dist::str_cat("preempted: saving a checkpoint after ", step, " steps"));
  manager_->save(step);
  std::fflush(nullptr);
  std::quick_exit(dist::kExitPreempted);
}

void Trainer::open_loss_csv() {
  if (options_.loss_csv.empty() || !is_chief()) return;
  const bool goes_on = (elastic_loop_ && elastic_loop_->members().generation > 1) ||
                       (may_change_chief() && optimizer_->iterations() > 0);
  loss_csv_.reset(std::fopen(options_.loss_csv.c_str(), goes_on ? "a" : "w"));
  if (!loss_csv_) throw dist::PermissionDeniedError("cannot write --loss_csv=" + options_.loss_csv);
  if (!goes_on) std::fputs("step,loss,grad_norm\n", loss_csv_.get());
}

/// A full disk shows when the buffer is written.
void Trainer::check_loss_csv() const {
  if (!loss_csv_ || !std::ferror(loss_csv_.get())) return;
  throw dist::ResourceExhaustedError(dist::str_cat(
      "cannot write --loss_csv=", options_.loss_csv, ": ", std::generic_category().message(errno),
      "; the file ends before the training; is the disk full?"));
}

/// What did not reach the disk or the store is an error, not a shorter file.
void Trainer::close_outputs() {
  if (loss_csv_) std::fflush(loss_csv_.get());
  check_loss_csv();
  if (writer_) writer_->close();
}

void Trainer::log_scalar(const std::string& name, double value, int64_t step) const {
  if (!writer_) return;
  const auto scope = writer_->as_default();
  dist::summary::scalar(name, value, step);
}

void Trainer::log_input(int64_t step) const {
  if (!task_.statistics) return;
  for (const auto& [name, value] : task_.statistics->scalars()) log_scalar(name, value, step);
}

/// A coordinator has read nothing itself.
void Trainer::report_input(RunReport& report) const {
  if (!task_.statistics) return;
  for (const data::StageStatistics& stage : task_.statistics->stages())
    if (stage.name == "step") report.input_wait_share = stage.wait_share();
  if (report.input_wait_share) report.input = task_.statistics->summary();
}

/// All workers' share, from the number of steps that the job has made.
void Trainer::report_job(RunReport& report, int64_t first, double seconds) const {
  report.workers = place_of(*servers_, coordinated_).num_input_pipelines();
  report.replicas = report.workers * strategy_.num_replicas_in_sync();
  report.global_batch = options_.batch_size * std::max(options_.sync_replicas, 1);
  const auto steps = double(optimizer_->iterations() - first);
  report.images_per_second = seconds > 0 ? steps * double(report.global_batch) / seconds : 0;
}

}  // namespace examples
