#pragma once
/// Reads a case of the reference runs, trains it with this library, compares.

#include "networks.hpp"

#include "support/catch.hpp"
#include "support/file_text.hpp"
#include "support/shared_data.hpp"

#include <distribute/distribute.hpp>
#include <tests/support/source_dir.hpp>

#include <nlohmann/json.hpp>

namespace parity {

namespace dist = distribute;
namespace optim = distribute::optim;

/// What the reference run wrote down.
struct Reference {
  std::string folder;
  std::vector<double> loss, grad_norm;            // by step
  std::map<std::string, double> step0_gradients;  // L2 norms by variable
  int64_t batch = 0;
  double test_accuracy = 0;
};

inline nlohmann::json read_json(const std::string& path) {
  return nlohmann::json::parse(file_text(path));
}

/// The columns of losses.csv.
inline void read_curves(Reference& r, const char* loss_column, const char* norm_column) {
  std::ifstream csv(r.folder + "/losses.csv");
  std::string line, cell;
  std::getline(csv, line);
  std::vector<std::string> header;
  for (std::istringstream names(line); std::getline(names, cell, ',');) header.push_back(cell);
  while (std::getline(csv, line)) {
    std::istringstream cells(line);
    for (size_t i = 0; std::getline(cells, cell, ','); ++i) {
      if (header[i] == loss_column) r.loss.push_back(std::stod(cell));
      if (header[i] == norm_column) r.grad_norm.push_back(std::stod(cell));
    }
  }
}

inline Reference read_reference(const std::string& folder, const char* loss_column,
                                const char* norm_column) {
  Reference r;
  r.folder = folder;
  r.batch = read_json(folder + "/case.json")["batch"];
  r.test_accuracy = read_json(folder + "/eval.json")["test_accuracy"];
  const auto step0 = read_json(folder + "/step0.json");
  for (const auto& [name, gradient] : step0["float32"]["gradients"].items())
    r.step0_gradients[name] = gradient["l2_norm"];
  read_curves(r, loss_column, norm_column);
  return r;
}

/// A folder of the reference runs beside MNIST's digits; ends the test where they are not there.
inline std::string reference_folder(const std::string& data, const std::string& name) {
  const auto folder = shared_data(data);
  if (!folder || !shared_data("mnist")) SKIP("the parity data are not there");
  return *folder + "/" + name;
}

/// What this library's run gave.
struct Run {
  std::vector<double> loss;
  std::map<std::string, double> step0_gradients;
  std::map<std::string, std::vector<float>> final_weights;
  double test_accuracy = 0;
};

struct Task {
  std::function<std::unique_ptr<nn::Module>()> network;
  std::function<std::unique_ptr<dist::optim::Optimizer>()> optimizer;
  size_t steps = 0;
  std::function<void(nn::Module& network)> first_weights = {};  // unset: those of the files
};

/// While it lives convolutions do without Winograd's algorithm.
struct HighestPrecision {
  HighestPrecision() { dist::config::set_float32_matmul_precision("highest"); }
  ~HighestPrecision() { dist::config::set_float32_matmul_precision("high"); }
};

inline double l2_norm(const std::vector<float>& values) {
  double sum = 0;
  for (float v : values) sum += double(v) * double(v);
  return std::sqrt(sum);
}

/// Trains with `replicas` replicas; parts of a batch in order, the gradients summed.
/// Products are direct sums in float32, as TensorFlow's.
inline Run train(const Reference& reference, const Task& task, int replicas) {
  const HighestPrecision precision;
  dist::MirroredStrategy<> strategy(dist::MirroredOptions{.num_replicas = replicas});
  const auto scope = strategy.scope();
  const auto network = task.network();
  const auto optimizer = task.optimizer();
  (*network)(dist::zeros({1, 28, 28, 1}));
  if (task.first_weights)
    task.first_weights(*network);
  else
    dist::train::load_weights(reference.folder + "/init", network->variables());
  const std::string images = distribute::testing::source_dir() + "/examples/mnist_cnn/data";
  Run run;
  std::vector<dist::Tensor> gradients;
  const auto step = [&](const dist::data::Batch& part) {
    dist::GradientTape tape;
    const Tensor logits = (*network)(part.x, {.training = true});
    Tensor loss = nn::compute_average_loss(
        nn::sparse_categorical_crossentropy(part.y, logits, {.from_logits = true}),
        reference.batch);
    if (const auto terms = network->losses(); !terms.empty())
      loss = loss + nn::scale_regularization_loss(terms);
    const auto variables = network->trainable_variables();
    auto* context = dist::get_replica_context();
    const auto summed = context->all_reduce(dist::ReduceOp::Sum, tape.gradient(loss, variables));
    if (context->replica_id_in_sync_group() == 0) gradients = summed;
    optimizer->apply_gradients(summed, variables, {.skip_gradients_aggregation = true});
    return loss;
  };
  auto data = dist::data::load_mnist(images).repeat().batch(reference.batch).iterator();
  for (size_t s = 0; s < task.steps; ++s) {
    const dist::data::Batch batch = data.next();
    std::vector<dist::data::Batch> parts;
    for (int r = 0; r < replicas; ++r)
      parts.push_back(dist::data::rows(batch, reference.batch * r / replicas,
                                       reference.batch * (r + 1) / replicas));
    const auto losses = strategy.run(step, dist::PerReplica<dist::data::Batch>(parts));
    run.loss.push_back(double(strategy.reduce(dist::ReduceOp::Sum, losses).item<float>()));
    if (s == 0)
      for (size_t i = 0; i < gradients.size(); ++i)
        run.step0_gradients[network->trainable_variables()[i].name()] =
            l2_norm(gradients[i].to_vector());
  }
  for (const auto& variable : network->variables())
    run.final_weights[variable.name()] = dist::train::value_to_save(variable).to_vector();
  int64_t right = 0;
  for (const auto& batch :
       dist::data::load_mnist(images, {.split = dist::data::Split::Test}).batch(500)) {
    const Tensor predicted = dist::argmax((*network)(batch.x), -1);
    for (size_t i = 0; i < predicted.data<int64_t>().size(); ++i)
      right += predicted.data<int64_t>()[i] == batch.y.data<int64_t>()[i];
  }
  run.test_accuracy = double(right) / 1000;
  return run;
}

inline double relative(double actual, double expected) {
  return std::abs(actual - expected) / std::abs(expected);
}

/// Largest relative difference of the losses of steps [begin, end).
inline double loss_difference(const Run& run, const Reference& reference, size_t begin,
                              size_t end) {
  double worst = 0;
  for (size_t s = begin; s < std::min(end, run.loss.size()); ++s)
    worst = std::max(worst, relative(run.loss[s], reference.loss[s]));
  return worst;
}

inline double last_mean_difference(const Run& run, const Reference& reference) {
  double ours = 0, theirs = 0;
  const size_t steps = run.loss.size();
  for (size_t s = steps - 20; s < steps; ++s) ours += run.loss[s], theirs += reference.loss[s];
  return relative(ours, theirs);
}

inline void check_step0_gradients(const Run& run, const Reference& reference, double tolerance) {
  REQUIRE(run.step0_gradients.size() == reference.step0_gradients.size());
  for (const auto& [name, norm] : reference.step0_gradients) {
    INFO(name);
    CHECK(relative(run.step0_gradients.at(name), norm) < tolerance);
  }
}

/// L2 norm of the difference of all trained weights over the norm of the weights.
inline double final_difference(const Run& run, const Reference& reference) {
  dist::train::BundleReader reader(reference.folder + "/final");
  double difference = 0, size = 0;
  for (const std::string& name : reader.keys()) {
    const auto expected = reader.read_values<float>(name);
    const auto& actual = run.final_weights.at(name);
    for (size_t i = 0; i < expected.size(); ++i) {
      difference += std::pow(double(actual[i]) - double(expected[i]), 2);
      size += std::pow(double(expected[i]), 2);
    }
  }
  return std::sqrt(difference / size);
}

}  // namespace parity
