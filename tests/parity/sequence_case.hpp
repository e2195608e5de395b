#pragma once
/// Batches of the cases of sequences, and a run of one network over them.

#include <tests/support/source_dir.hpp>
#include "parity_case.hpp"
#include "sequence_networks.hpp"

#include <algorithm>
#include <array>

namespace parity {

using dist::data::Batch;

/// The characters of the corpus as numbers: its bytes in the order of their values.
struct Corpus {
  std::string text;
  std::array<int64_t, 256> code{};
  std::vector<std::string> lines;
  std::vector<int64_t> section;  // of each line

  explicit Corpus(const std::string& folder) {
    text = file_text(folder + "/corpus.txt");
    std::array<bool, 256> there{};
    for (const char c : text) there[static_cast<unsigned char>(c)] = true;
    for (int64_t byte = 0, next = 0; byte < 256; ++byte)
      if (there[size_t(byte)]) code[size_t(byte)] = next++;
    std::istringstream all(text);
    for (std::string line; std::getline(all, line);) lines.push_back(line);
    std::ifstream table(folder + "/sections.csv");
    std::string row, cell;
    std::getline(table, row);
    while (std::getline(table, row)) {
      std::istringstream cells(row);
      std::vector<std::string> fields;
      while (std::getline(cells, cell, ',')) fields.push_back(cell);
      section.insert(section.end(), std::stoul(fields[3]), std::stoll(fields[0]));
    }
  }
  int64_t code_of(char c) const { return code[static_cast<unsigned char>(c)]; }

  /// 64 characters from each position, and for each the one behind it.
  Batch windows(const std::vector<int64_t>& positions) const {
    std::vector<int64_t> x, y;
    for (const int64_t p : positions)
      for (int64_t i = p; i < p + 64; ++i) {
        x.push_back(code_of(text[size_t(i)]));
        y.push_back(code_of(text[size_t(i) + 1]));
      }
    const Shape shape{int64_t(positions.size()), 64};
    return {Tensor(shape, x), Tensor(shape, y)};
  }
  /// Lines as 112 numbers above 0, zeros behind; their sections.
  Batch padded(const std::vector<int64_t>& numbers) const {
    std::vector<int64_t> x, y;
    for (const int64_t number : numbers) {
      const std::string& line = lines[size_t(number)];
      for (size_t i = 0; i < 112; ++i) x.push_back(i < line.size() ? code_of(line[i]) + 1 : 0);
      y.push_back(section[size_t(number)]);
    }
    return {Tensor(Shape{int64_t(numbers.size()), 112}, x),
            Tensor(Shape{int64_t(numbers.size())}, y)};
  }
};

inline std::vector<Batch> text_batches(const Corpus& corpus, int64_t steps, Batch& test) {
  std::vector<Batch> batches;
  for (int64_t s = 0; s < steps; ++s) {
    std::vector<int64_t> at;
    for (int64_t i = 0; i < 16; ++i) at.push_back((s * 16 + i) * 7919 % 926270);
    batches.push_back(corpus.windows(at));
  }
  std::vector<int64_t> at;
  for (int64_t j = 0; j < 32; ++j) at.push_back(926334 + 3000 * j);
  test = corpus.windows(at);
  return batches;
}

inline std::vector<Batch> line_batches(const Corpus& corpus, int64_t steps, Batch& test) {
  std::vector<int64_t> train, held_out;
  for (int64_t i = 0; i < int64_t(corpus.lines.size()); ++i)
    (i % 10 == 9 ? held_out : train).push_back(i);
  std::vector<Batch> batches;
  for (int64_t s = 0; s < steps; ++s) {
    std::vector<int64_t> numbers;
    for (int64_t i = 0; i < 16; ++i)
      numbers.push_back(train[size_t((s * 16 + i) * 1009) % train.size()]);
    batches.push_back(corpus.padded(numbers));
  }
  std::vector<int64_t> numbers;
  for (size_t j = 0; j < 100; ++j) numbers.push_back(held_out[7 * j]);
  test = corpus.padded(numbers);
  return batches;
}

/// Digits as 28 steps of 28 numbers.
inline std::vector<Batch> row_batches(int64_t batch, int64_t steps, Batch& test) {
  const std::string images = distribute::testing::source_dir() + "/examples/mnist_cnn/data";
  const auto as_rows = [](Batch b) {
    b.x = dist::reshape(b.x, {b.x.shape()[0], 28, 28});
    return b;
  };
  std::vector<Batch> batches;
  auto data = dist::data::load_mnist(images).repeat().batch(batch).iterator();
  for (int64_t s = 0; s < steps; ++s) batches.push_back(as_rows(data.next()));
  test = as_rows(dist::data::load_mnist(images, {.split = dist::data::Split::Test})
                     .batch(1000)
                     .iterator()
                     .next());
  return batches;
}

struct SequenceTask {
  std::function<std::unique_ptr<nn::Module>()> network;
  std::function<std::unique_ptr<dist::optim::Optimizer>()> optimizer;
  std::vector<Batch> batches;
  Batch test;
};

struct SequenceRun : Run {
  std::vector<double> grad_norm;
  double test_loss = 0;
  int64_t test_correct = 0;
};

inline dist::PerReplica<Batch> cut(const Batch& batch, int replicas) {
  const int64_t size = batch.x.shape()[0];
  std::vector<Batch> parts;
  for (int r = 0; r < replicas; ++r)
    parts.push_back(dist::data::rows(batch, size * r / replicas, size * (r + 1) / replicas));
  return dist::PerReplica<Batch>(parts);
}

/// Gradients of tables as plain tensors: every use of a row added up.
inline std::vector<Tensor> dense(std::vector<Tensor> gradients) {
  for (Tensor& gradient : gradients) gradient = gradient.row_major();
  return gradients;
}

inline double norm_of_all(const std::vector<Tensor>& gradients) {
  double squares = 0;
  for (const Tensor& gradient : gradients) squares += std::pow(l2_norm(gradient.to_vector()), 2);
  return std::sqrt(squares);
}

inline void keep_norms(const std::vector<Tensor>& gradients,
                       const std::vector<dist::Variable>& variables,
                       std::map<std::string, double>& norms) {
  for (size_t i = 0; i < gradients.size(); ++i)
    norms[variables[i].name()] = l2_norm(gradients[i].to_vector());
}

inline void keep_weights(const nn::Module& network, Run& run) {
  for (const auto& variable : network.variables())
    run.final_weights[variable.name()] = dist::train::value_to_save(variable).to_vector();
}

inline void evaluate(nn::Module& network, const Batch& test, SequenceRun& run) {
  const Tensor logits = network(test.x);
  const Tensor losses = nn::sparse_categorical_crossentropy(test.y, logits, {.from_logits = true});
  run.test_loss = double(dist::reduce_mean(losses).item<float>());
  const Tensor predicted = dist::argmax(logits, -1);
  for (size_t i = 0; i < predicted.data<int64_t>().size(); ++i)
    run.test_correct +=
        predicted.data<int64_t>()[i] == dist::cast(test.y, dist::DType::Int64).data<int64_t>()[i];
}

inline SequenceRun train(const Reference& reference, const SequenceTask& task, int replicas) {
  dist::MirroredStrategy<> strategy(dist::MirroredOptions{.num_replicas = replicas});
  const auto scope = strategy.scope();
  const auto network = task.network();
  const auto optimizer = task.optimizer();
  (*network)(task.batches[0].x);
  dist::train::load_weights(reference.folder + "/init", network->variables());
  SequenceRun run;
  std::vector<Tensor> gradients;
  const int64_t targets = task.batches[0].y.num_elements();
  const auto step = [&](const Batch& part) {
    dist::GradientTape tape;
    const Tensor logits = (*network)(part.x, {.training = true});
    const Tensor loss = nn::compute_average_loss(
        nn::sparse_categorical_crossentropy(part.y, logits, {.from_logits = true}), targets);
    const auto variables = network->trainable_variables();
    auto* context = dist::get_replica_context();
    const auto summed =
        context->all_reduce(dist::ReduceOp::Sum, dense(tape.gradient(loss, variables)));
    if (context->replica_id_in_sync_group() == 0) gradients = summed;
    optimizer->apply_gradients(summed, variables, {.skip_gradients_aggregation = true});
    return loss;
  };
  for (const Batch& batch : task.batches) {
    const auto losses = strategy.run(step, cut(batch, replicas));
    run.loss.push_back(double(strategy.reduce(dist::ReduceOp::Sum, losses).item<float>()));
    if (run.grad_norm.empty())
      keep_norms(gradients, network->trainable_variables(), run.step0_gradients);
    run.grad_norm.push_back(norm_of_all(gradients));
  }
  keep_weights(*network, run);
  evaluate(*network, task.test, run);
  return run;
}

/// Of gradients that are 0 in exact arithmetic rounding alone is left.
inline bool is_rounding(const std::string& name) {
  return name.size() > 9 && name.ends_with("/key/bias");
}

inline void check_gradients(const Run& run, const Reference& reference, double tolerance) {
  REQUIRE(run.step0_gradients.size() == reference.step0_gradients.size());
  for (const auto& [name, norm] : reference.step0_gradients) {
    INFO(name);
    REQUIRE(run.step0_gradients.contains(name));
    const double ours = run.step0_gradients.at(name);
    if (is_rounding(name))
      CHECK(std::abs(ours - norm) < 1e-6);
    else
      CHECK(relative(ours, norm) < tolerance);
  }
}

inline double norm_difference(const std::vector<double>& ours, const std::vector<double>& theirs) {
  double worst = 0;
  for (size_t s = 0; s < ours.size(); ++s) worst = std::max(worst, relative(ours[s], theirs[s]));
  return worst;
}

/// As final_difference, without what is rounding alone.
inline double trained_difference(const Run& run, const std::string& bundle) {
  dist::train::BundleReader reader(bundle);
  double difference = 0, size = 0;
  for (const std::string& name : reader.keys()) {
    if (is_rounding(name)) continue;
    INFO(name);
    REQUIRE(run.final_weights.contains(name));
    const auto expected = reader.read_values<float>(name);
    const auto& actual = run.final_weights.at(name);
    REQUIRE(actual.size() == expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      difference += std::pow(double(actual[i]) - double(expected[i]), 2);
      size += std::pow(double(expected[i]), 2);
    }
  }
  return std::sqrt(difference / size);
}

}  // namespace parity
