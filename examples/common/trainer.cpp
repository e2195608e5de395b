#include "trainer.hpp"

#include "managed_job.hpp"
#include "process_stats.hpp"

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <exception>

namespace dist = distribute;
namespace data = distribute::data;

namespace examples {

namespace {

int64_t total_steps(const TrainerOptions& o, int64_t images) {
  if (o.batch_size > images)
    throw dist::InvalidArgumentError(
        dist::concat("--batch_size=", o.batch_size, " is larger than the training data, ", images,
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

/// Adds gradients of a further part of the batch.
void accumulate(std::vector<dist::Tensor>& sums, std::vector<dist::Tensor> gradients) {
  if (sums.empty()) {
    sums = std::move(gradients);
    return;
  }
  for (size_t i = 0; i < sums.size(); ++i)
    if (gradients[i]) sums[i] = sums[i] ? dist::add(sums[i], gradients[i]) : gradients[i];
}

/// The servers of a strategy that has some, elsewhere than in this process.
dist::strategy_internal::ParameterServerExtended* servers_of(const dist::Strategy& strategy) {
  auto* servers = dist::strategy_internal::parameter_server_extended(strategy);
  return servers && servers->link() ? servers : nullptr;
}

/// Whether the chief gives out the steps: where there is one beside the workers, or as asked.
bool is_coordinated(const TrainerOptions& o,
                    const dist::strategy_internal::ParameterServerExtended* servers) {
  if (!servers) return false;
  const bool has_chief = servers->job().cluster.has_job("chief");
  if (o.coordinator == "true" && !has_chief)
    throw dist::InvalidArgumentError(
        "--coordinator=true: the cluster has no chief that could give out the steps");
  return has_chief && o.coordinator != "false" && o.sync_replicas == 0;
}

/// This task's number among those that train, and how many there are.
dist::InputContext place_of(const dist::strategy_internal::ParameterServerExtended& servers,
                            bool coordinated) {
  const auto& job = servers.job();
  const int chiefs = job.cluster.has_job("chief") && !coordinated ? 1 : 0;
  const int number = job.type == "chief" ? 0 : job.index + chiefs;
  return dist::InputContext(job.cluster.num_tasks("worker") + chiefs, number);
}

double seconds_now() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
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
      checkpoint_(checkpoint_parts()) {
  check_same_data();
  if (coordinated_) register_functions();
  if (serves()) {
    agree_on_options();
    return;
  }
  build_model();
  if (!servers_ || is_chief()) {
    if (!options_.init_checkpoint.empty())
      dist::train::load_variables(options_.init_checkpoint, model_.variables());
    restore();
  }
  if (servers_) agree_on_options();
  if (horovod_) horovod_->wrap(*optimizer_), horovod_->start_alike(model_, *optimizer_, *iterator_);
  open_loss_csv();
  if (!options_.logdir.empty() && is_chief())
    writer_ = dist::summary::create_file_writer(options_.logdir);
}

/// What a checkpoint holds; here the iterator is made, too.
dist::train::CheckpointParts Trainer::checkpoint_parts() {
  dist::train::CheckpointParts all{{"model", &model_}, {"optimizer", optimizer_.get()}};
  if (options_.elastic) {
    if (!elastic_iterator_) elastic_iterator_.emplace(strategy_, task_.training);
    all.emplace_back("iterator", dist::train::state_of(*elastic_iterator_));
    return all;
  }
  iterator_.emplace(strategy_.experimental_distribute_dataset(training_data()).iterator());
  all.emplace_back("iterator", horovod_ ? horovod_->places() : dist::train::state_of(*iterator_));
  return all;
}

/// The wait counts as that of a stage "step": all that the training loop loses to its input.
dist::PerReplica<data::Batch> Trainer::next_batch() {
  const double begin = seconds_now();
  auto batch = elastic_iterator_ ? elastic_iterator_->get_next() : iterator_->get_next();
  if (const auto& statistics = task_.statistics)
    statistics->add(statistics->stage("step"), begin, seconds_now(), true);
  return batch;
}

/// Workers with other images would take another number of steps.
void Trainer::check_same_data() {
  if (horovod_) return horovod_->check_same_data(task_.training_images);
  if (strategy_.extended().input_context().num_input_pipelines() == 1) return;
  const auto mine = strategy_.run([count = task_.training_images] {
    return dist::Tensor(dist::Shape{1}, std::vector<int64_t>{count});
  });
  const dist::Tensor all = strategy_.gather(mine, 0);
  const auto counts = all.data<int64_t>();
  for (size_t r = 1; r < counts.size(); ++r)
    if (counts[r] != counts[0])
      throw dist::InvalidArgumentError(dist::concat("--data_dir: replica ", r, " has ", counts[r],
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
  const auto& job = servers_->job();
  const auto [here, there] = first_difference(mine, chiefs);
  throw dist::InvalidArgumentError(
      dist::concat("the tasks were started with different flags: ", job.type, ' ', job.index,
                   " has ", here, ", the chief ", there));
}

void Trainer::restore() {
  if (options_.checkpoint_dir.empty() || (horovod_ && !is_chief())) return;
  manager_.emplace(
      checkpoint_,
      dist::train::CheckpointManagerOptions{
          .directory = options_.checkpoint_dir, .max_to_keep = 3, .max_failed_saves = 3});
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
    throw dist::FailedPreconditionError(dist::concat(
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
  if (servers_ || notice_)
    told_ = std::make_unique<dist::base_internal::TerminationSignal>(std::vector{SIGTERM});
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
  dist::log_info("trainer", dist::concat("preempted: saving a checkpoint after ", step, " steps"));
  manager_->save(step);
  std::fflush(nullptr);
  std::quick_exit(dist::kExitPreempted);
}

void Trainer::open_loss_csv() {
  if (options_.loss_csv.empty() || !is_chief()) return;
  const bool goes_on = elastic_loop_ && elastic_loop_->members().generation > 1;
  loss_csv_.reset(std::fopen(options_.loss_csv.c_str(), goes_on ? "a" : "w"));
  if (!loss_csv_) throw dist::PermissionDeniedError("cannot write --loss_csv=" + options_.loss_csv);
  if (!goes_on) std::fputs("step,loss,grad_norm\n", loss_csv_.get());
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

Trainer::Loss Trainer::loss_of(const Batch& batch) {
  const dist::Tensor logits = model_(batch.x, {.training = true});
  const dist::Tensor losses = dist::nn::sparse_categorical_crossentropy(
      batch.y, logits, {.from_logits = true, .label_smoothing = float(options_.label_smoothing)});
  Loss result{dist::nn::compute_average_loss(losses, options_.batch_size), {}};
  if (servers_) {
    const dist::Tensor right = dist::equal(dist::argmax(logits, -1), batch.y);
    result.right =
        dist::reduce_sum(dist::cast(right, dist::DType::Float32)) / float(options_.batch_size);
  }
  const auto penalties = model_.losses();
  if (!penalties.empty())
    result.loss = result.loss +
                  dist::nn::scale_regularization_loss(penalties) / float(options_.accumulate_steps);
  return result;
}

dist::Tensor Trainer::with_right(const Loss& loss) const {
  return servers_ ? dist::stack({loss.loss, loss.right}, 0) : dist::reshape(loss.loss, {1});
}

Trainer::ReplicaStep Trainer::replica_step(const Batch& batch) {
  const int64_t parts = options_.accumulate_steps, rows = data::batch_size(batch);
  if (parts == 1 && options_.loss_csv.empty()) {
    dist::GradientTape tape;
    const Loss loss = loss_of(batch);  // a coordinator's workers build the layers here
    const int64_t number = minimize(loss.loss, tape);
    return {with_right(loss), number};
  }
  std::vector<dist::Tensor> gradients;
  Loss sum{dist::zeros({}), dist::zeros({})};
  for (int64_t part = 0; part < parts; ++part) {
    dist::GradientTape tape;
    const Loss share = loss_of(data::rows(batch, rows * part / parts, rows * (part + 1) / parts));
    sum.loss = sum.loss + share.loss;
    if (servers_) sum.right = sum.right + share.right;
    accumulate(gradients, tape.gradient(share.loss, model_.trainable_variables()));
  }
  const auto variables = model_.trainable_variables();
  if (options_.loss_csv.empty() && !horovod_) {
    const int64_t number = optimizer_->apply_gradients(gradients, variables);
    return {with_right(sum), number};
  }
  gradients = all_reduce(gradients);
  const dist::Tensor norm =
      dist::global_norm(gradients) / float(num_replicas());  // every replica has it
  const int64_t number =
      optimizer_->apply_gradients(gradients, variables, {.skip_gradients_aggregation = true});
  return {dist::stack({sum.loss, norm}, 0), number};
}

/// The job's sums, on every replica.
std::vector<dist::Tensor> Trainer::all_reduce(const std::vector<dist::Tensor>& gradients) const {
  return horovod_ ? horovod_->sum(gradients)
                  : dist::get_replica_context()->all_reduce(dist::ReduceOp::Sum, gradients);
}

int64_t Trainer::minimize(const dist::Tensor& loss, dist::GradientTape& tape) {
  const auto variables = model_.trainable_variables();
  return horovod_ ? horovod_->minimize(loss, variables, tape)
                  : optimizer_->minimize(loss, variables, tape);
}

Trainer::Step Trainer::step(const dist::PerReplica<Batch>& batch) {
  const auto results =
      strategy_.run([this](const Batch& part) { return replica_step(part); }, batch);
  std::vector<dist::Tensor> sums;
  for (const ReplicaStep& one : results.values()) sums.push_back(one.sums);
  dist::Tensor sum = strategy_.reduce(dist::ReduceOp::Sum, dist::PerReplica(std::move(sums)));
  if (horovod_) sum = horovod_->sum(sum);
  const auto values = sum.data<float>();
  return {values[0], values.size() > 1 ? values[1] : 0.0, results[0].number};
}

/// What follows a step, whoever has made it.
void Trainer::step_done(const Step& step, const std::string& worker) {
  last_loss_ = step.loss;
  if (loss_csv_)
    std::fprintf(loss_csv_.get(), "%lld,%.9g,%.9g\n", (long long)(step.number - 1), step.loss,
                 step.second);
  check_finite(step.loss, step.number - 1);
  if (step.number % 100 == 0) {
    log_scalar("loss", step.loss, step.number);
    log_input(step.number);
    if (servers_ && options_.loss_csv.empty())
      std::printf("%s  step %lld  accuracy %.4f  loss %.4f\n", worker.c_str(),
                  (long long)step.number, step.second, step.loss);
    if (options_.metric_lines && is_chief())
      std::printf(
          "%s\n",
          dist::train::metric_line({{"step", double(step.number)}, {"loss", step.loss}}).c_str());
    std::fflush(stdout);
  }
  const bool due = step.number / options_.save_steps > last_saved_ / options_.save_steps;
  if (due || step.number >= total_steps_) save(step.number);
}

void Trainer::save(int64_t step) {
  if (options_.checkpoint_dir.empty()) return;
  last_saved_ = step;
  if (horovod_) horovod_->remember(*iterator_);
  if (!manager_) return;
  // A chief that has come back to servers that have kept the variables has restored no counter.
  const auto number = servers_ ? std::optional(step) : std::nullopt;
  const auto saved = manager_->save(number, true, {.enable_async = options_.async_checkpoint});
  if (!saved && step >= total_steps_)
    throw dist::UnavailableError(dist::concat("the weights of the last step could not be saved in ",
                                              options_.checkpoint_dir));
}

void Trainer::check_finite(double loss, int64_t step) const {
  if (std::isfinite(loss)) return;
  std::string culprit = "all variables are finite, so the forward pass overflowed";
  for (const dist::Variable& variable : model_.variables()) {
    const auto values = dist::train::value_to_save(variable).to_vector();
    if (std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); }))
      continue;
    culprit = "the first variable with such values is '" + variable.name() + "'";
    break;
  }
  throw dist::FailedPreconditionError(
      dist::concat("the loss became ", loss, " at step ", step, "; ", culprit,
                   "; try a smaller --learning_rate or --clip_norm"));
}

void Trainer::train_loop(int64_t first, Progress& progress) {
  const std::string worker =
      servers_ ? dist::concat(servers_->job().type, " ", servers_->job().index) : "";
  for (int64_t done = first; done < total_steps_;) {
    if (preemption_) preemption_->save_checkpoint_if_preempted();
    leave_if_told();
    const Step made = step(next_batch());
    if (made.number < 0) continue;  // the weights were too old
    done = made.number;
    progress.step_done(done, made.loss);
    step_done(made, worker);
    if (elastic_loop_) elastic_loop_->commit();
  }
}

/// Every member says it, since any of them may be lost.
void Trainer::members_changed(const dist::train::ElasticMembers& members) {
  std::string names;
  for (const std::string& name : members.names) names += (names.empty() ? "" : ", ") + name;
  std::printf("generation %lld  from step %lld  %zu workers: %s%s\n", (long long)members.generation,
              (long long)members.step, members.names.size(), names.c_str(),
              members.lost.empty() ? "" : (" (" + members.lost + ")").c_str());
  std::fflush(stdout);
  if (!loss_csv_) open_loss_csv();
}

bool Trainer::train_and_evaluate_elastically(RunReport& report) {
  auto state = checkpoint_parts();
  state.emplace_back("save_counter", *checkpoint_.part("save_counter"));
  elastic_loop_ = std::make_unique<dist::train::ElasticLoop>(
      strategy_, std::move(state), optimizer_->iterations_variable(),
      dist::train::ElasticLoopOptions{
          .on_change = [this](const auto& members) { members_changed(members); },
          .on_last_leave =
              [this] {
                if (manager_) manager_->save();
              }});
  const auto end = elastic_loop_->run([&] {
    train(report);
    report.workers = strategy_.extended().input_context().num_input_pipelines();
    report.replicas = strategy_.num_replicas_in_sync();
    evaluate(report);
  });
  if (end == dist::train::ElasticEnd::TooLate)
    std::printf("the others have finished; nothing is left to do\n");
  return end != dist::train::ElasticEnd::Left;
}

/// Some steps are always waiting, so that no worker does.
void Trainer::coordinate(int64_t first, Progress& progress) {
  dist::ClusterCoordinator coordinator(strategy_);
  const auto images = coordinator.create_per_worker_dataset(*remote_data_);
  std::deque<dist::RemoteValue<std::vector<double>>> under_way;
  int64_t scheduled = first;
  for (int64_t done = first; done < total_steps_; ++done) {
    leave_if_told();
    for (; scheduled < total_steps_ && int(under_way.size()) < 4 * coordinator.num_workers();
         ++scheduled)
      under_way.push_back(coordinator.schedule(*remote_step_, images));
    const std::vector<double> made = under_way.front().fetch();
    under_way.pop_front();
    progress.step_done(done + 1, made[0]);
    step_done({made[0], made[1], int64_t(made[2])}, dist::concat("worker ", int(made[3])));
  }
  coordinator.join();
}

void Trainer::train(RunReport& report) {
  const int64_t first = optimizer_->iterations();
  // A chief that has come back does not know what was saved.
  last_saved_ = servers_ && !servers_->variables_are_new() ? 0 : first;
  Progress progress(first, total_steps_, options_.batch_size, is_chief() && !servers_);
  const double began = seconds_now();
  coordinated_ ? coordinate(first, progress) : train_loop(first, progress);
  if (servers_ && last_saved_ < total_steps_) save(total_steps_);  // others have made the last step
  if (manager_) manager_->sync();
  progress.finish();
  progress.fill(report);
  report.loss = last_loss_;
  report.steps = total_steps_;
  log_input(total_steps_);
  report_input(report);
  if (servers_) report_job(report, first, seconds_now() - began);
  report.parameters = model_.count_params();
  if (!options_.final_checkpoint.empty() && ((!servers_ && !horovod_) || is_chief()))
    dist::train::save_variables(options_.final_checkpoint, model_.variables());
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
