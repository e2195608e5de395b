#include "trainer.hpp"

#include <cstdio>

namespace dist = distribute;
namespace data = distribute::data;

namespace examples {

void print_test(const RunReport& report, bool metric_lines) {
  std::printf("test loss %.4f  test accuracy %.4f", *report.test_loss, *report.test_accuracy);
  if (report.test_top_5_accuracy) std::printf("  top 5 %.4f", *report.test_top_5_accuracy);
  std::printf("\n%s", report.input.c_str());
  const dist::train::Logs logs{{"step", double(report.steps)},
                               {"test_loss", *report.test_loss},
                               {"test_accuracy", *report.test_accuracy}};
  if (metric_lines) std::printf("%s\n", dist::train::metric_line(logs).c_str());
  std::fflush(stdout);
  dist::train::report_hypertune(logs, report.steps);
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
  if (servers_ && !is_chief()) return;
  const bool averaged = options_.ema_decay > 0;
  if (averaged) optimizer_->swap_averages(model_.trainable_variables());
  double sums[4] = {};
  const bool any_ranks = may_change_chief();  // more than there are files, maybe
  const data::Dataset test = horovod_ && !any_ranks ? horovod_->share(task_.test) : task_.test;
  const auto add = [&](const dist::Tensor& part) {
    for (size_t i = 0; i < 4; ++i) sums[i] += double(part.data<float>()[i]);
  };
  if (coordinated_) {  // which has no replicas: it reads the test set itself
    for (const Batch& batch : test) add(test_batch(batch));
  } else {
    for (const auto& whole : strategy_.experimental_distribute_dataset(test)) {
      const auto batch = any_ranks ? horovod_->share(whole) : whole;
      add(strategy_.reduce(
          dist::ReduceOp::Sum,
          strategy_.run([this](const Batch& part) { return test_batch(part); }, batch)));
    }
  }
  if (horovod_) {
    const dist::Tensor all =
        horovod_->sum(dist::Tensor(dist::Shape{4}, std::vector<float>(sums, sums + 4)));
    for (size_t i = 0; i < 4; ++i) sums[i] = double(all.data<float>()[i]);
  }
  if (averaged) optimizer_->swap_averages(model_.trainable_variables());
  report.test_loss = sums[0] / sums[3];
  report.test_accuracy = sums[1] / sums[3];
  check_finite("test loss", *report.test_loss, report.steps);
  if (task_.top_5) report.test_top_5_accuracy = sums[2] / sums[3];
  log_scalar("test_loss", *report.test_loss, report.steps);
  log_scalar("test_accuracy", *report.test_accuracy, report.steps);
}

void Trainer::follow(const std::string& directory, RunReport& report) {
  dist::train::Checkpoint reader({{"model", &model_}, {"optimizer", saved_optimizer()}});
  dist::train::CheckpointsIterator checkpoints(directory, {.timeout = options_.eval_timeout});
  while (const auto path = checkpoints.next()) {
    try {
      reader.restore(*path).expect_partial();
    } catch (const dist::NotFoundError&) {  // the trainer keeps only so many
      checkpoints.retry();
      continue;
    }
    report.steps = optimizer_->iterations();
    evaluate(report);
    std::printf("evaluated %s at step %lld\n", path->c_str(), (long long)report.steps);
    print_test(report, options_.metric_lines);
    if (report.steps >= total_steps_) return close_outputs();
  }
  throw dist::DeadlineExceededError(
      dist::str_cat("evaluator: no further checkpoint has appeared in ", directory, " for ",
                    options_.eval_timeout, " s (--eval_timeout), and the last one is of step ",
                    report.steps, " of ", total_steps_, ". Does the chief save there?"));
}

/// Images are float32 of the size that the network was trained with.
void Trainer::export_model() {
  if ((servers_ || horovod_) && !is_chief()) return;
  const bool averaged = options_.ema_decay > 0;
  if (averaged) optimizer_->swap_averages(model_.trainable_variables());
  const data::TensorSpec input{{-1, task_.image[0], task_.image[1], task_.image[2]}};
  if (!options_.export_dir.empty())
    dist::saved_model::save(model_, options_.export_dir, {.input = input});
  if (!options_.export_onnx.empty())
    dist::saved_model::export_onnx(model_, options_.export_onnx, {.input = input});
  if (averaged) optimizer_->swap_averages(model_.trainable_variables());
}

}  // namespace examples
