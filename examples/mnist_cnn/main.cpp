/// Trains a small convolutional network on MNIST digits, on one or more devices.

#include "trainer.hpp"

#include "../common/process_stats.hpp"

#include <cstdio>
#include <exception>

namespace {

int run(const examples::TrainerOptions& options) {
  distribute::random::set_seed(options.seed);
  if (options.json && *options.json != "-") examples::require_writable("json", *options.json);
  if (!options.final_checkpoint.empty())
    examples::require_writable("final_checkpoint", options.final_checkpoint);
  const auto [cluster, strategy, name] = examples::make_strategy(options);
  examples::RunReport report;
  report.strategy = name;
  report.workers = strategy->extended().input_context().num_input_pipelines();
  report.device = examples::device_name(*strategy);
  report.policy = options.policy;
  report.replicas = strategy->num_replicas_in_sync();
  report.global_batch = options.batch_size;
  {
    mnist_cnn::Trainer trainer(options, *strategy);
    trainer.train(report);
    trainer.evaluate(report);
  }
  report.peak_rss_bytes = examples::peak_rss_bytes();
  report.peak_gpu_bytes = examples::peak_gpu_bytes(*strategy);
  if (!strategy->extended().should_checkpoint()) return 0;
  std::printf("test loss %.4f  test accuracy %.4f\n", *report.test_loss, *report.test_accuracy);
  if (options.json) examples::write_json(report, *options.json);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  auto options = examples::parse_options(argc, argv, "Trains on MNIST digits; see README.md.");
  if (options.model.empty()) options.model = "book";
  if (options.model != "book" && options.model != "tutorial")
    return examples::usage_error("--model=" + options.model +
                                 " is unknown; it takes book, tutorial");
  if (options.policy != "float32")
    return examples::usage_error("--policy=" + options.policy +
                                 " is not available yet; use float32");
  try {
    return run(options);
  } catch (const std::exception& error) {
    std::fflush(stdout);
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
