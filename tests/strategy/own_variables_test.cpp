/// What each worker of parameter servers has for itself.

#include <distribute/distribute.hpp>

#include <tests/strategy/server_cluster.hpp>
#include <tests/support/catch.hpp>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

using namespace distribute;
using strategy_test::ServerCluster;

// TensorFlow 1's metrics are LOCAL_VARIABLES. On the servers the counts of two workers
// raced: 1.025.
TEST_CASE("workers that make their own steps count their own right answers",
          "[strategy][parameter_server]") {
  ServerCluster cluster(3, 2, true);
  const Tensor labels{int64_t{0}, int64_t{1}}, logits({2, 2}, std::vector{2.0f, 1.0f, 1.0f, 2.0f});
  std::vector<std::string> wrong(4);
  std::vector<std::thread> tasks;
  const auto run = [&](size_t number, const std::string& type, int index) {
    ParameterServerStrategy strategy(cluster.resolver(type, index));
    const auto scope = strategy.scope();
    nn::metrics::SparseCategoricalAccuracy accuracy;
    nn::metrics::Mean mean;
    for (int step = 0; step < 60; ++step) {
      strategy.run([&] {
        accuracy.update_state(labels, logits);
        mean.update_state(Tensor(float(number)));
      });
      if (accuracy.result().item<float>() != 1) wrong[number] += "accuracy ";
      if (mean.result().item<float>() != float(number)) wrong[number] += "mean ";
    }
    accuracy.reset_state();
    if (accuracy.result().item<float>() != 0) wrong[number] += "reset ";
    if (!strategy.extended().variable_created_in_scope(mean.variables()[0]))
      wrong[number] += "scope ";
  };
  tasks.emplace_back(run, 0, "chief", 0);
  for (int w = 0; w < 3; ++w) tasks.emplace_back(run, size_t(w + 1), "worker", w);
  for (std::thread& task : tasks) task.join();
  for (const std::string& text : wrong) CHECK(text == "");
}

TEST_CASE("a coordinator's metric counts what all its workers see",
          "[strategy][parameter_server]") {
  ServerCluster cluster(2, 1, true);
  ParameterServerStrategy chief(cluster.resolver("chief", 0));
  const auto scope = chief.scope();
  nn::metrics::Mean mean;  // which the chief reads
  std::vector<std::thread> workers;
  for (int w = 0; w < 2; ++w)
    workers.emplace_back([&, w] {
      ParameterServerStrategy strategy(cluster.resolver("worker", w));
      const auto own_scope = strategy.scope();
      nn::metrics::Mean same;
      auto& extended = *strategy_internal::parameter_server_extended(strategy);
      for (int step = 0; step < 5; ++step)
        extended.run_closure([&] { same.update_state(Tensor(float(w + 1))); });
      same.update_state(Tensor(7.0f));  // in its own loop
    });
  for (std::thread& worker : workers) worker.join();
  CHECK(mean.result().item<float>() == 1.5f);
}

namespace {

/// A row of Keras 3.15 with TensorFlow 2.21 (OneDeviceStrategy): an Embedding(3, 1) of zeros and a
/// number `w`, loss sum(rows) + w, one step of SGD of rate 1.
struct ClippedStep {
  const char* clip;
  std::vector<int64_t> ids;
  std::vector<float> rows;
  float w;
};

optim::SGD clipping(const std::string& clip) {
  if (clip == "global_clipnorm") return optim::SGD({.learning_rate = 1.0, .global_clipnorm = 1.0});
  if (clip == "clipnorm") return optim::SGD({.learning_rate = 1.0, .clipnorm = 1.0});
  return optim::SGD({.learning_rate = 1.0, .clipvalue = 1.0});
}

void check_step(Strategy& strategy, const ClippedStep& want) {
  const auto scope = strategy.scope();
  const Variable table(zeros({3, 1})), w(Tensor{0.0f});
  optim::SGD optimizer = clipping(want.clip);
  strategy.run([&] {
    GradientTape tape;
    const Tensor ids(Shape{int64_t(want.ids.size())}, want.ids);
    const Tensor loss = reduce_sum(nn::embedding_lookup(table, ids)) + reduce_sum(w.value());
    optimizer.minimize(loss, {table, w}, tape);
  });
  const std::vector<float> rows = table.value().to_vector();
  for (size_t i = 0; i < rows.size(); ++i) CHECK(rows[i] == Approx(want.rows[i]).margin(1e-6));
  CHECK(w.value().to_vector()[0] == Approx(want.w));
}

}  // namespace

TEST_CASE("gradients of looked-up rows are clipped alike wherever the table is",
          "[strategy][parameter_server]") {
  const std::vector<ClippedStep> steps{
      {"global_clipnorm", {0, 0}, {-1.154701f, 0, 0}, -0.577350f},
      {"global_clipnorm", {0}, {-0.707107f, 0, 0}, -0.707107f},
      {"global_clipnorm", {0, 1}, {-0.577350f, -0.577350f, 0}, -0.577350f},
      {"global_clipnorm", {0, 0, 0, 1}, {-1.341641f, -0.447214f, 0}, -0.447214f},
      {"clipnorm", {0, 0}, {-1.414214f, 0, 0}, -1},
      {"clipnorm", {0, 0, 0, 1}, {-1.5f, -0.5f, 0}, -1},
      {"clipvalue", {0, 0, 0, 1}, {-3, -1, 0}, -1}};
  ServerCluster cluster(1, 2, true);
  ParameterServerStrategy servers(cluster.resolver("chief", 0));
  ParameterServerStrategy here({.num_replicas = 1});
  OneDeviceStrategy one("/cpu:0");
  MirroredStrategy mirrored({.num_replicas = 1});
  for (const ClippedStep& step : steps)
    for (Strategy* strategy : std::vector<Strategy*>{&servers, &here, &one, &mirrored}) {
      INFO(to_string(*strategy) << ", " << step.clip << ", " << step.ids.size() << " ids");
      check_step(*strategy, step);
    }
}
