#pragma once
/// The test at the end of a run, and the evaluator that tests while another task trains.

#include "training.hpp"

#include <functional>
#include <string>

namespace examples {

class Way;

/// [sum of the losses, right answers, right ones among five, labels]
struct TestSums {
  double values[4] = {};
  void add(const distribute::Tensor& part) {
    for (size_t i = 0; i < 4; ++i) values[i] += double(part.data<float>()[i]);
  }
};

/// A replica's share of the TestSums.
using TestBatch = std::function<distribute::Tensor(const distribute::data::Batch&)>;
TestBatch test_batch_of(Training& training);

/// Loss and accuracy on the test data, with the weights' averages where they are kept.
/// Throws  FailedPreconditionError for a loss that is no number.
void test_and_report(Training& training, Way& way, distribute::train::RunReport& report);

/// The results, for people and for tuners of hyper-parameters.
void print_test(const distribute::train::RunReport& report, const std::string& input_told,
                bool metric_lines);

/// The evaluator's program: the same network on one device, beside the training. Tests every new
/// checkpoint of --checkpoint_dir, up to the last step's. Gives the exit status.
/// Throws  DeadlineExceededError when none has come for --eval_timeout seconds.
int run_evaluator(TrainerOptions options, const MakeTask& make_task);

}  // namespace examples
