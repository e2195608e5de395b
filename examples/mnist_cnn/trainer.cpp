#include "trainer.hpp"

#include "model.hpp"

#include <cmath>

namespace dist = distribute;
namespace data = distribute::data;

namespace mnist_cnn {

namespace {

std::string data_dir(const examples::TrainerOptions& options) {
  return options.data_dir.empty() ? EXAMPLE_DATA_DIR : options.data_dir;
}

dist::nn::Sequential make_model(const std::string& name) {
  if (name == "tutorial") return tutorial_model();
  return book_model();
}

int64_t total_steps(const examples::TrainerOptions& o, const data::Dataset& images) {
  const int64_t count = images.cardinality();
  if (o.batch_size > count)
    throw dist::InvalidArgumentError(dist::concat("--batch_size=", o.batch_size,
                                                  " is larger than the training data, ", count,
                                                  " images in ", data_dir(o)));
  if (o.steps > 0) return o.steps;
  return std::max<int64_t>(std::llround(o.epochs * double(count) / double(o.batch_size)), 1);
}

}  // namespace

Trainer::Trainer(const examples::TrainerOptions& options, dist::Strategy& strategy)
    : options_(options),
      strategy_(strategy),
      scope_(strategy),
      images_(data::load_mnist(data_dir(options))),
      total_steps_(total_steps(options, images_)),
      model_(make_model(options.model)),
      optimizer_(examples::make_optimizer(options, total_steps_)),
      iterator_(strategy.experimental_distribute_dataset(training_data()).iterator()),
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
  const auto mine = strategy_.run([count = images_.cardinality()] {
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

/// In file order round and round, or shuffled anew each time round; no short batch.
data::Dataset Trainer::training_data() const {
  data::Dataset images = images_;
  if (options_.shuffle) images = images.shuffle(images.cardinality(), {.seed = options_.seed});
  return images.repeat().batch(options_.batch_size);
}

/// Weights exist before the first step, so that they can be loaded and counted.
void Trainer::build_model() { model_(dist::zeros({1, 28, 28, 1})); }

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

/// One replica's share of a step: [loss], or [loss, norm of the summed gradients].
dist::Tensor Trainer::replica_step(const Batch& batch) {
  dist::GradientTape tape;
  const dist::Tensor logits = model_(batch.x, {.training = true});
  const dist::Tensor losses = dist::nn::sparse_categorical_crossentropy(
      batch.y, logits, {.from_logits = true, .label_smoothing = float(options_.label_smoothing)});
  const dist::Tensor loss = dist::nn::compute_average_loss(losses, options_.batch_size);
  const auto variables = model_.trainable_variables();
  if (options_.loss_csv.empty()) {
    optimizer_->minimize(loss, variables, tape);
    return dist::reshape(loss, {1});
  }
  const auto gradients =
      dist::get_replica_context()->all_reduce(dist::ReduceOp::Sum, tape.gradient(loss, variables));
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

void Trainer::train(examples::RunReport& report) {
  const int64_t first = optimizer_->iterations();
  examples::Progress progress(first, total_steps_, options_.batch_size, is_chief());
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

/// One replica's share of the test: [sum of the losses, right answers].
dist::Tensor Trainer::test_batch(const Batch& batch) {
  const dist::Tensor logits = model_(batch.x);
  const dist::Tensor losses =
      dist::nn::sparse_categorical_crossentropy(batch.y, logits, {.from_logits = true});
  const dist::Tensor right = dist::equal(dist::argmax(logits, -1), batch.y);
  return dist::stack(
      {dist::reduce_sum(losses), dist::reduce_sum(dist::cast(right, losses.dtype()))}, 0);
}

/// Every image once, whatever the number of workers: those without data left get empty batches.
void Trainer::evaluate(examples::RunReport& report) {
  const auto images = data::load_mnist(data_dir(options_), {.split = data::Split::Test});
  double loss = 0, right = 0;
  for (const auto& batch : strategy_.experimental_distribute_dataset(images.batch(500))) {
    const auto parts = strategy_.run([this](const Batch& part) { return test_batch(part); }, batch);
    const auto sums = strategy_.reduce(dist::ReduceOp::Sum, parts).data<float>();
    loss += double(sums[0]);
    right += double(sums[1]);
  }
  const double count = double(images.cardinality());
  report.test_loss = loss / count;
  report.test_accuracy = right / count;
  log_scalar("test_loss", *report.test_loss, total_steps_);
  log_scalar("test_accuracy", *report.test_accuracy, total_steps_);
}

}  // namespace mnist_cnn
