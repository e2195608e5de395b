#include "trainer.hpp"

#include "process_stats.hpp"

#include <cmath>
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
  return std::max<int64_t>(std::llround(o.epochs * double(images) / double(o.batch_size)), 1);
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

}  // namespace

Trainer::Trainer(const TrainerOptions& options, dist::Strategy& strategy, const MakeTask& make_task)
    : options_(options),
      strategy_(strategy),
      scope_(strategy),
      task_(make_task()),
      model_(*task_.model),
      total_steps_(total_steps(options, task_.training_images)),
      optimizer_(make_optimizer(with_warmup(options, task_, total_steps_), total_steps_)),
      iterator_(strategy.experimental_distribute_dataset(task_.training).iterator()),
      checkpoint_({{"model", &model_},
                   {"optimizer", optimizer_.get()},
                   {"iterator", dist::train::state_of(iterator_)}}) {
  check_same_data();
  build_model();
  if (!options_.init_checkpoint.empty())
    dist::train::load_variables(options_.init_checkpoint, model_.variables());
  restore();
  open_loss_csv();
  if (!options_.logdir.empty() && is_chief())
    writer_ = dist::summary::create_file_writer(options_.logdir);
}

/// Workers with other images would take another number of steps.
void Trainer::check_same_data() {
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

/// Weights exist before the first step, so that they can be loaded and counted.
void Trainer::build_model() { model_(dist::zeros(with_batch(1, task_.image))); }

void Trainer::restore() {
  if (options_.checkpoint_dir.empty()) return;
  manager_.emplace(checkpoint_, dist::train::CheckpointManagerOptions{
                                    .directory = options_.checkpoint_dir, .max_to_keep = 3});
  preemption_.emplace(strategy_.cluster_resolver(), *manager_);  // restores the newest
  const auto& path = manager_->latest_checkpoint();
  if (path && is_chief())
    std::printf("restored %s at step %lld\n", path->c_str(), (long long)optimizer_->iterations());
}

void Trainer::open_loss_csv() {
  if (options_.loss_csv.empty() || !is_chief()) return;
  loss_csv_.reset(std::fopen(options_.loss_csv.c_str(), "w"));
  if (!loss_csv_) throw dist::PermissionDeniedError("cannot write --loss_csv=" + options_.loss_csv);
  std::fputs("step,loss,grad_norm\n", loss_csv_.get());
}

void Trainer::log_scalar(const char* name, double value, int64_t step) const {
  if (!writer_) return;
  const auto scope = writer_->as_default();
  dist::summary::scalar(name, value, step);
}

/// This part's share of the mean over the global batch, and of the penalties on weights.
dist::Tensor Trainer::loss_of(const Batch& batch) {
  const dist::Tensor logits = model_(batch.x, {.training = true});
  const dist::Tensor losses = dist::nn::sparse_categorical_crossentropy(
      batch.y, logits, {.from_logits = true, .label_smoothing = float(options_.label_smoothing)});
  const dist::Tensor loss = dist::nn::compute_average_loss(losses, options_.batch_size);
  const auto penalties = model_.losses();
  if (penalties.empty()) return loss;
  return loss + dist::nn::scale_regularization_loss(penalties) / float(options_.accumulate_steps);
}

/// One replica's share of a step: [loss], or [loss, norm of the summed gradients].
dist::Tensor Trainer::replica_step(const Batch& batch) {
  const auto variables = model_.trainable_variables();
  const int64_t parts = options_.accumulate_steps, rows = data::batch_size(batch);
  if (parts == 1 && options_.loss_csv.empty()) {
    dist::GradientTape tape;
    const dist::Tensor loss = loss_of(batch);
    optimizer_->minimize(loss, variables, tape);
    return dist::reshape(loss, {1});
  }
  std::vector<dist::Tensor> gradients;
  dist::Tensor loss = dist::zeros({});
  for (int64_t part = 0; part < parts; ++part) {
    dist::GradientTape tape;
    const dist::Tensor share =
        loss_of(data::rows(batch, rows * part / parts, rows * (part + 1) / parts));
    loss = loss + share;
    accumulate(gradients, tape.gradient(share, variables));
  }
  if (options_.loss_csv.empty()) {
    optimizer_->apply_gradients(gradients, variables);
    return dist::reshape(loss, {1});
  }
  gradients = dist::get_replica_context()->all_reduce(dist::ReduceOp::Sum, gradients);
  const dist::Tensor norm = dist::global_norm(gradients) /
                            float(strategy_.num_replicas_in_sync());  // every replica has it
  optimizer_->apply_gradients(gradients, variables, {.skip_gradients_aggregation = true});
  return dist::stack({loss, norm}, 0);
}

double Trainer::step(const dist::PerReplica<Batch>& batch, int64_t step) {
  const auto results =
      strategy_.run([this](const Batch& part) { return replica_step(part); }, batch);
  const auto sums = strategy_.reduce(dist::ReduceOp::Sum, results).data<float>();
  const double loss = double(sums[0]);
  if (loss_csv_)
    std::fprintf(loss_csv_.get(), "%lld,%.9g,%.9g\n", (long long)step, loss, double(sums[1]));
  check_finite(loss, step);
  return loss;
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

void Trainer::train(RunReport& report) {
  const int64_t first = optimizer_->iterations();
  Progress progress(first, total_steps_, options_.batch_size, is_chief());
  for (int64_t done = first; done < total_steps_; ++done) {
    if (preemption_) preemption_->save_checkpoint_if_preempted();
    report.loss = step(iterator_.get_next(), done);
    progress.step_done(done + 1, report.loss);
    if ((done + 1) % 100 == 0) log_scalar("loss", report.loss, done + 1);
    const bool last = done + 1 == total_steps_;
    if (manager_ && ((done + 1) % options_.save_steps == 0 || last)) manager_->save();
  }
  progress.finish();
  progress.fill(report);
  report.steps = total_steps_;
  report.parameters = model_.count_params();
  if (!options_.final_checkpoint.empty())
    dist::train::save_variables(options_.final_checkpoint, model_.variables());
}

/// One replica's share of the test: [sum of the losses, right answers, among five, pictures].
dist::Tensor Trainer::test_batch(const Batch& batch) {
  const dist::Tensor logits = model_(batch.x);
  const dist::Tensor losses =
      dist::nn::sparse_categorical_crossentropy(batch.y, logits, {.from_logits = true});
  const auto count = [&](int k) {
    const dist::Tensor right = dist::nn::in_top_k(batch.y, logits, k);
    return dist::reduce_sum(dist::cast(right, losses.dtype()));
  };
  const dist::Tensor right = dist::equal(dist::argmax(logits, -1), batch.y);
  return dist::stack(
      {dist::reduce_sum(losses), dist::reduce_sum(dist::cast(right, losses.dtype())),
       task_.top_5 ? count(5) : dist::Tensor(0.0f), dist::Tensor(float(data::batch_size(batch)))},
      0);
}

/// Every picture once, whatever the number of workers: those without data get empty batches.
void Trainer::evaluate(RunReport& report) {
  const bool averaged = options_.ema_decay > 0;
  if (averaged) optimizer_->swap_averages(model_.trainable_variables());
  double sums[4] = {};
  for (const auto& batch : strategy_.experimental_distribute_dataset(task_.test)) {
    const auto parts = strategy_.run([this](const Batch& part) { return test_batch(part); }, batch);
    const auto part = strategy_.reduce(dist::ReduceOp::Sum, parts).data<float>();
    for (size_t i = 0; i < 4; ++i) sums[i] += double(part[i]);
  }
  if (averaged) optimizer_->swap_averages(model_.trainable_variables());
  report.test_loss = sums[0] / sums[3];
  report.test_accuracy = sums[1] / sums[3];
  if (task_.top_5) report.test_top_5_accuracy = sums[2] / sums[3];
  log_scalar("test_loss", *report.test_loss, total_steps_);
  log_scalar("test_accuracy", *report.test_accuracy, total_steps_);
}

namespace {

int run(const TrainerOptions& options, const MakeTask& make_task) {
  dist::random::set_seed(options.seed);
  if (options.policy == "mixed_float16")
    throw dist::UnimplementedError(
        "--policy=mixed_float16 needs a GPU, which this build does not support; use "
        "mixed_bfloat16");
  dist::nn::set_global_policy(options.policy);
  if (options.json && *options.json != "-") require_writable("json", *options.json);
  if (!options.final_checkpoint.empty())
    require_writable("final_checkpoint", options.final_checkpoint);
  const auto [cluster, strategy, name] = make_strategy(options);
  RunReport report;
  report.strategy = name;
  report.workers = strategy->extended().input_context().num_input_pipelines();
  report.device = "cpu";
  report.policy = options.policy;
  report.replicas = strategy->num_replicas_in_sync();
  report.global_batch = options.batch_size;
  {
    Trainer trainer(options, *strategy, make_task);
    trainer.train(report);
    trainer.evaluate(report);
    if (const std::string text = trainer.complaints(); !text.empty())
      std::fprintf(stderr, "warning: %s\n", text.c_str());
  }
  report.peak_rss_bytes = peak_rss_bytes();
  if (!strategy->extended().should_checkpoint()) return 0;
  std::printf("test loss %.4f  test accuracy %.4f", *report.test_loss, *report.test_accuracy);
  if (report.test_top_5_accuracy) std::printf("  top 5 %.4f", *report.test_top_5_accuracy);
  std::printf("\n");
  if (options.json) write_json(report, *options.json);
  return 0;
}

}  // namespace

int run_trainer(const TrainerOptions& options, const MakeTask& make_task) {
  try {
    return run(options, make_task);
  } catch (const std::exception& error) {
    std::fflush(stdout);
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}

}  // namespace examples
