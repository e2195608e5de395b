/// Validation data of fewer files than workers.

#include <distribute/data/files.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/regression_losses.hpp>
#include <distribute/optim/sgd.hpp>
#include <distribute/train/model.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/small_fit.hpp>
#include <tests/support/temporary_directory.hpp>
#include <tests/support/thread_workers.hpp>

using namespace distribute;

namespace {

/// Lines with a digit each; the target is the digit.
data::Dataset digits_of(const std::string& path) {
  return data::text_line_dataset({path})
      .map([](const data::Batch& line) {
        const float digit = float(data::bytes_of(line.x)[0] - '0');
        return data::Batch{Tensor(Shape{1}, std::vector<float>{digit}),
                           Tensor(Shape{1}, std::vector<float>{digit})};
      })
      .batch(4);
}

}  // namespace

TEST_CASE("validation data of one file is shared by its elements, unless a policy says otherwise",
          "[train][fit][multiproc]") {
  const TemporaryDirectory directory;
  std::ofstream(directory / "digits") << "1\n2\n3\n4\n5\n6\n7\n";
  const auto rows = data::Dataset::from_tensor_slices(ones({8, 1}), ones({8, 1})).batch(4);
  std::vector<double> losses(2), evaluated(2);
  const auto train = [&](Strategy& strategy, int worker, const data::Dataset& digits) {
    const auto scope = strategy.scope();
    nn::Sequential net(nn::Dense({.units = 1, .kernel_initializer = nn::initializers::zeros()}));
    optim::SGD optimizer({.learning_rate = 0});
    train::Model model(net);
    model.compile({.optimizer = optimizer, .loss = nn::MeanSquaredError()});
    const auto history = model.fit(
        rows, {.epochs = 1, .validation_data = digits, .verbose = train::Verbose::Silent});
    losses[size_t(worker)] = history.history.at("val_loss").back();
    evaluated[size_t(worker)] = model.evaluate(digits).at("loss");
  };
  run_clean(2, 1, [&](Strategy& strategy, int worker) {
    train(strategy, worker, digits_of(directory / "digits"));
  });
  for (int worker : {0, 1}) {  // the mean of the squares of 1 to 7
    CHECK(losses[size_t(worker)] == Approx(20));
    CHECK(evaluated[size_t(worker)] == Approx(20));
  }
  const auto by_files =
      digits_of(directory / "digits")
          .with_options(
              {.experimental_distribute = {.auto_shard_policy = data::AutoShardPolicy::File}});
  for (const std::string& error :
       run_workers(2, 1, [&](Strategy&strategy, int worker) { train(strategy, worker, by_files); }))
    CHECK_THAT(error, Catch::Matchers::Contains("not enough files for the required 2 shards"));
}
