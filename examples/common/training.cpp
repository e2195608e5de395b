#include "trainer.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <deque>
#include <string>

namespace dist = distribute;
namespace data = distribute::data;

namespace examples {

namespace {

/// Adds gradients of a further part of the batch.
void accumulate(std::vector<dist::Tensor>& sums, std::vector<dist::Tensor> gradients) {
  if (sums.empty()) {
    sums = std::move(gradients);
    return;
  }
  for (size_t i = 0; i < sums.size(); ++i)
    if (gradients[i]) sums[i] = sums[i] ? dist::add(sums[i], gradients[i]) : gradients[i];
}

double seconds_now() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

/// As "%.9g" of a program that sets no locale: with a decimal point.
std::string csv_number(double value) {
  char text[40];
  return {text, std::to_chars(text, text + sizeof text, value, std::chars_format::general, 9).ptr};
}

}  // namespace

/// The wait counts as that of a stage "step": all that the training loop loses to its input.
dist::PerReplica<data::Batch> Trainer::next_batch() {
  const double begin = seconds_now();
  auto batch = elastic_iterator_ ? elastic_iterator_->get_next() : iterator_->get_next();
  if (may_change_chief()) batch = horovod_->share(batch);
  if (const auto& statistics = task_.statistics)
    statistics->add(statistics->stage("step"), begin, seconds_now(), true);
  return batch;
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
    const dist::Tensor scaled = loss_scale_ ? loss_scale_->scale_loss(share.loss) : share.loss;
    accumulate(gradients, tape.gradient(scaled, model_.trainable_variables()));
  }
  if (options_.loss_csv.empty() && !horovod_) return {with_right(sum), apply(gradients, false)};
  gradients = all_reduce(gradients);
  const float scale = loss_scale_ ? loss_scale_->loss_scale() : 1;
  const dist::Tensor norm =
      dist::global_norm(gradients) / (scale * float(num_replicas()));  // every replica has it
  const int64_t number = apply(gradients, true);
  return {dist::stack({sum.loss, norm}, 0), number};
}

/// The job's sums, on every replica.
std::vector<dist::Tensor> Trainer::all_reduce(const std::vector<dist::Tensor>& gradients) const {
  return horovod_ ? horovod_->sum(gradients)
                  : dist::get_replica_context()->all_reduce(dist::ReduceOp::Sum, gradients);
}

int64_t Trainer::minimize(const dist::Tensor& loss, dist::GradientTape& tape) {
  const auto variables = model_.trainable_variables();
  if (horovod_) return horovod_->minimize(loss, variables, tape);
  if (!loss_scale_) return optimizer_->minimize(loss, variables, tape);
  const int64_t number = loss_scale_->minimize(loss, variables, tape);
  return number == 0 ? -1 : number;
}

int64_t Trainer::apply(const std::vector<dist::Tensor>& gradients, bool are_summed) {
  const dist::optim::ApplyOptions options{.skip_gradients_aggregation = are_summed};
  const auto variables = model_.trainable_variables();
  if (!loss_scale_) return optimizer_->apply_gradients(gradients, variables, options);
  const int64_t number = loss_scale_->apply_gradients(gradients, variables, options);
  return number == 0 ? -1 : number;
}

/// Its gradients overflowed, as they may until the loss scale is small enough.
void Trainer::step_left_out(double loss) const {
  const int64_t step = optimizer_->iterations() + 1;
  check_finite("loss", loss, step);
  if (loss_scale_->loss_scale() > 1) return;
  throw dist::FailedPreconditionError(dist::str_cat(
      "the gradients of step ", step, " overflow float16 whatever the loss scale; try ",
      "a smaller --learning_rate, --clip_norm or --policy=mixed_bfloat16"));
}

Trainer::Step Trainer::step(const dist::PerReplica<Batch>& batch) {
  if (recorded_) {
    const auto sums = strategy_.run(*recorded_, batch);
    return {sums[0].data<float>()[0], 0.0, optimizer_->iterations()};
  }
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
    std::fprintf(loss_csv_.get(), "%lld,%s,%s\n", (long long)(step.number - 1),
                 csv_number(step.loss).c_str(), csv_number(step.second).c_str());
  check_loss_csv();
  check_finite("loss", step.loss, step.number);
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
  if (horovod_ && iterator_) horovod_->remember(*iterator_);
  if (!manager_ || (horovod_ && !is_chief())) return;
  check_worth_saving(step);
  // A chief that has come back to servers that have kept the variables has restored no counter, and
  // a rank that became the chief has none.
  const auto number = servers_ || may_change_chief() ? std::optional(step) : std::nullopt;
  const auto saved = manager_->save(number, true, {.enable_async = options_.async_checkpoint});
  if (!saved && step >= total_steps_)
    throw dist::UnavailableError(dist::str_cat(
        "the weights of the last step could not be saved in ", options_.checkpoint_dir));
}

/// Of all variables; empty: their values are numbers.
std::string Trainer::first_without_numbers() const {
  for (const dist::Variable& variable : model_.variables()) {
    const auto values = dist::train::value_to_save(variable).to_vector();
    if (!std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); }))
      return variable.name();
  }
  return "";
}

void Trainer::check_finite(const char* what, double loss, int64_t step) const {
  if (std::isfinite(loss)) return;
  const std::string name = first_without_numbers();
  const std::string culprit = name.empty()
                                  ? "all variables are finite, so the forward pass overflowed"
                                  : "the first variable with such values is '" + name + "'";
  throw dist::FailedPreconditionError(
      dist::str_cat("the ", what, " became ", std::isnan(loss) ? "nan" : "infinite", " at step ",
                    step, "; ", culprit, "; try a smaller --learning_rate or --clip_norm"));
}

/// The last update may have spoiled what no loss has shown yet.
void Trainer::check_worth_saving(int64_t step) const {
  const std::string name = first_without_numbers();
  if (name.empty()) return;
  throw dist::FailedPreconditionError(
      dist::str_cat("variable '", name, "' became nan or infinite at step ", step,
                    "; nothing was saved; try a smaller --learning_rate or --clip_norm"));
}

void Trainer::train_loop(int64_t first, Progress& progress) {
  const std::string worker =
      servers_ ? dist::str_cat(servers_->task_type(), " ", servers_->task_id()) : "";
  for (int64_t done = first; done < total_steps_;) {
    if (preemption_) preemption_->save_checkpoint_if_preempted();
    leave_if_told();
    const Step made = step(next_batch());
    if (made.number < 0 && loss_scale_) step_left_out(made.loss);
    if (made.number < 0) continue;  // the weights were too old, or the gradients overflowed
    done = made.number;
    progress.step_done(done, made.loss);
    step_done(made, worker);
    if (elastic_loop_) elastic_loop_->commit();
    if (horovod_) horovod_->commit(done);
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

/// The chief may be another rank than before: it goes on with the files.
bool Trainer::train_and_evaluate_as_ranks(RunReport& report) {
  const std::string alike =
      dist::str_cat(agreed_options(options_), "training images=", task_.training_images, "\n");
  const auto body = [&] {
    if (!options_.checkpoint_dir.empty() && is_chief()) open_manager();
    open_outputs();
    train(report);
    report.workers = report.replicas = dist::hvd::size();
    evaluate(report);
  };
  const auto end = horovod_->run_elastically(model_, *optimizer_, *elastic_iterator_, alike, body);
  if (end == dist::ElasticEnd::TooLate) report.test_loss.reset();
  // Nobody may be left that could save.
  if (end == dist::ElasticEnd::Left && manager_ && horovod_->was_chief())
    manager_->save(optimizer_->iterations());
  return end != dist::ElasticEnd::Left;
}

bool Trainer::train_and_evaluate_elastically(RunReport& report) {
  if (horovod_) return train_and_evaluate_as_ranks(report);
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
  if (end == dist::ElasticEnd::TooLate) report.test_loss.reset();
  return end != dist::ElasticEnd::Left;
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
    step_done({made[0], made[1], int64_t(made[2])}, dist::str_cat("worker ", int(made[3])));
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
  if (options_.final_checkpoint.empty() || ((servers_ || horovod_) && !is_chief())) return;
  check_worth_saving(total_steps_);
  dist::train::save_weights(options_.final_checkpoint, model_.variables());
}

}  // namespace examples
