#include "test_run.hpp"

#include "one_process.hpp"

#include <cmath>
#include <cstdio>
#include <utility>

namespace dist = distribute;
namespace data = distribute::data;

namespace examples {

using dist::train::RunReport;

TestBatch test_batch_of(Training& training) {
  return [&training](const data::Batch& batch) {
    const dist::Tensor logits = training.model(batch.x);
    const dist::Tensor losses =
        dist::nn::sparse_categorical_crossentropy(batch.y, logits, {.from_logits = true});
    const auto count = [&](const dist::Tensor& right) {
      return dist::reduce_sum(dist::cast(right, losses.dtype()));
    };
    return dist::stack(
        {dist::reduce_sum(losses), count(dist::equal(dist::argmax(logits, -1), batch.y)),
         training.task.top_5 ? count(dist::nn::in_top_k(batch.y, logits, 5)) : dist::Tensor(0.0f),
         dist::Tensor(float(losses.num_elements()))},
        0);
  };
}

void test_and_report(Training& training, Way& way, RunReport& report) {
  TestSums sums;
  training.with_averages([&] { sums = way.test(test_batch_of(training)); });
  const auto [loss, right, among_five, labels] = sums.values;
  report.test_loss = loss / labels;
  report.test_accuracy = right / labels;
  if (training.task.labels > 1) report.test_perplexity = std::exp(loss / labels);
  dist::train::check_finite_loss("test loss", *report.test_loss, report.steps,
                                 training.model.variables());
  if (training.task.top_5) report.test_top_5_accuracy = among_five / labels;
  training.outputs.scalar("test_loss", *report.test_loss, report.steps);
  training.outputs.scalar("test_accuracy", *report.test_accuracy, report.steps);
}

void print_test(const RunReport& report, const std::string& input_told, bool metric_lines) {
  std::printf("test loss %.4f  test accuracy %.4f", *report.test_loss, *report.test_accuracy);
  if (report.test_top_5_accuracy) std::printf("  top 5 %.4f", *report.test_top_5_accuracy);
  if (report.test_perplexity) std::printf("  perplexity %.3f", *report.test_perplexity);
  std::printf("\n%s", input_told.c_str());
  const dist::train::Logs logs{{"step", double(report.steps)},
                               {"test_loss", *report.test_loss},
                               {"test_accuracy", *report.test_accuracy}};
  if (metric_lines) std::printf("%s\n", dist::train::metric_line(logs).c_str());
  std::fflush(stdout);
  dist::train::report_hypertune(logs, report.steps);
}

namespace {

void follow(const std::string& directory, Training& training) {
  OneProcess way(training);
  training.build_model();
  training.outputs.open();
  RunReport report;
  dist::train::Checkpoint reader(
      {{"model", &training.model}, {"optimizer", &training.saved_optimizer()}});
  const auto restore = [&](const std::string& path) {
    try {
      reader.restore(path).expect_partial();
      return true;
    } catch (const dist::NotFoundError&) {  // the trainer keeps only the last few
      return false;
    }
  };
  const auto evaluate = [&](const std::string& path) {
    report.steps = training.optimizer->iterations();
    test_and_report(training, way, report);
    std::printf("evaluated %s at step %lld\n", path.c_str(), (long long)report.steps);
    print_test(report, training.input_told, training.options.metric_lines);
    return report.steps >= training.total_steps;
  };
  dist::train::CheckpointsIterator checkpoints(directory,
                                               {.timeout = training.options.eval_timeout});
  if (dist::train::follow_checkpoints(checkpoints, {restore, evaluate}))
    return training.outputs.close();
  throw dist::DeadlineExceededError(dist::str_cat(
      "evaluator: no further checkpoint has appeared in ", directory, " for ",
      training.options.eval_timeout, " s (--eval_timeout), and the last one is of step ",
      report.steps, " of ", training.total_steps, ". Does the chief save there?"));
}

}  // namespace

int run_evaluator(TrainerOptions options, const MakeTask& make_task) {
  const std::string checkpoint_dir = std::exchange(options.checkpoint_dir, "");
  if (checkpoint_dir.empty())
    return usage_error("evaluator: --checkpoint_dir must name the directory where the chief saves");
  options.loss_csv.clear();
  if (!options.logdir.empty()) options.logdir = dist::io::join_path(options.logdir, "eval");
  const dist::ReadyFile ready(dist::ready_file_path());
  dist::OneDeviceStrategy strategy("/cpu:0");
  Training training(options, strategy, make_task);
  follow(checkpoint_dir, training);
  return dist::kExitDone;
}

}  // namespace examples
