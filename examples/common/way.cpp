#include "way.hpp"

#include "replica_step.hpp"

#include <algorithm>
#include <cstdio>

namespace dist = distribute;
namespace data = distribute::data;

namespace examples {

Way::Way(Training& training) : training_(training) {}
Way::~Way() = default;

void Way::prepare() {
  step_ = std::make_unique<StepRunner>(training_, *this);
  begin();
}

std::string Way::why_not_recorded() const {
  return training_.strategy.cluster_resolver() ? "gradients go to other tasks in every step" : "";
}

int64_t Way::minimize(const dist::Tensor& loss, dist::GradientTape& tape) {
  const auto variables = training_.model.trainable_variables();
  if (!training_.loss_scale) return training_.optimizer->minimize(loss, variables, tape);
  const int64_t number = training_.loss_scale->minimize(loss, variables, tape);
  return number == 0 ? -1 : number;
}

std::vector<dist::Tensor> Way::sum(const std::vector<dist::Tensor>& gradients) {
  return dist::get_replica_context()->all_reduce(dist::ReduceOp::Sum, gradients);
}

namespace {

int64_t apply_gradients(Training& training, const std::vector<dist::Tensor>& gradients,
                        bool are_summed) {
  const dist::optim::ApplyOptions options{.skip_gradients_aggregation = are_summed};
  const auto variables = training.model.trainable_variables();
  if (!training.loss_scale)
    return training.optimizer->apply_gradients(gradients, variables, options);
  const int64_t number = training.loss_scale->apply_gradients(gradients, variables, options);
  return number == 0 ? -1 : number;
}

}  // namespace

int64_t Way::apply(const std::vector<dist::Tensor>& gradients) {
  return apply_gradients(training_, gradients, false);
}

int64_t Way::apply_summed(const std::vector<dist::Tensor>& gradients) {
  return apply_gradients(training_, gradients, true);
}

/// Workers without data get empty batches.
TestSums Way::test(const TestBatch& of_batch) {
  TestSums sums;
  for (const auto& batch : training_.strategy.experimental_distribute_dataset(training_.task.test))
    sums.add(
        training_.strategy.reduce(dist::ReduceOp::Sum, training_.strategy.run(of_batch, batch)));
  return sums;
}

std::optional<int> Way::run(dist::train::RunReport& report) {
  train(report);
  if (tests()) test_and_report(training_, *this, report);
  return std::nullopt;
}

/// Its gradients overflowed, as they may until the loss scale is small enough.
void Way::step_left_out(double loss) const {
  const int64_t step = training_.optimizer->iterations() + 1;
  dist::train::check_finite_loss("loss", loss, step, training_.model.variables());
  if (training_.loss_scale->loss_scale() > 1) return;
  throw dist::FailedPreconditionError(dist::str_cat(
      "the gradients of step ", step, " overflow float16 whatever the loss scale; try ",
      "a smaller --learning_rate, --clip_norm or --policy=mixed_bfloat16"));
}

void Way::make_steps(int64_t first, dist::train::Progress& progress) {
  const std::string worker = name_of_own_steps();
  for (int64_t done = first; done < training_.total_steps;) {
    before_step();
    const Step made = (*step_)(next_batch());
    if (made.number < 0 && training_.loss_scale) step_left_out(made.loss);
    if (made.number < 0) continue;  // the weights were too old, or the gradients overflowed
    done = made.number;
    progress.step_done(done, {{"loss", made.loss}});
    step_done(made, worker);
    after_step(done);
  }
}

/// What follows a step of this task or of a worker.
void Way::step_done(const Step& step, const std::string& worker) {
  if (first_step_seconds_ == 0) first_step_seconds_ = dist::seconds_since_process_start();
  last_loss_ = step.loss;
  training_.outputs.loss(step.number, step.loss, step.second);
  dist::train::check_finite_loss("loss", step.loss, step.number, training_.model.variables());
  if (step.number % 100 == 0) {
    training_.outputs.scalar("loss", step.loss, step.number);
    training_.log_input(step.number);
    if (has_own_steps() && training_.options.loss_csv.empty())
      std::printf("%s  step %lld  accuracy %.4f  loss %.4f\n", worker.c_str(),
                  (long long)step.number, step.second, step.loss);
    if (training_.options.metric_lines && is_chief())
      std::printf(
          "%s\n",
          dist::train::metric_line({{"step", double(step.number)}, {"loss", step.loss}}).c_str());
    std::fflush(stdout);
  }
  const bool due =
      step.number / training_.options.save_steps > last_saved_ / training_.options.save_steps;
  if (!due && step.number < training_.total_steps) return;
  save(step.number);
  last_saved_ = step.number;
}

void Way::describe_job(dist::train::RunReport& report, int64_t, double) {
  report.workers = training_.strategy.extended().input_context().num_input_pipelines();
  report.replicas = replicas_in_sync();
}

void Way::train(dist::train::RunReport& report) {
  const int64_t first = training_.optimizer->iterations();
  last_saved_ = saved_before(first);
  dist::train::Progress progress(
      {.first_step = first,
       .total_steps = training_.total_steps,
       .batch_size = training_.options.batch_size * training_.task.labels,
       .unit = training_.task.labels > 1 ? "tokens" : training_.task.examples,
       .prints = is_chief() && !has_own_steps()});
  const double began = seconds_now();
  make_steps(first, progress);
  if (last_saved_ < training_.total_steps)
    save(training_.total_steps);  // others have made the last step
  saving_->sync();
  progress.finish();
  add_speed(report, progress);
  report.images_per_second /= double(training_.task.labels);
  report.seconds_to_first_step = first_step_seconds_;
  report.loss = last_loss_;
  report.steps = training_.total_steps;
  training_.log_input(training_.total_steps);
  training_.report_input(report);
  describe_job(report, first, seconds_now() - began);
  if (training_.task.labels > 1)
    report.tokens_per_second = report.images_per_second * double(training_.task.labels);
  report.parameters = training_.model.count_params();
  if (training_.options.final_checkpoint.empty() || !saves()) return;
  dist::train::check_worth_saving(training_.model.variables(), training_.total_steps);
  dist::train::save_weights(training_.options.final_checkpoint, training_.model.variables());
}

}  // namespace examples
