#include <distribute/distribute.hpp>

#include <tests/coordinator/processes.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/source_dir.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

// The trainer of a cluster as users write it, all roles in one program.
#define main parameter_server_main
// [trainer]
#include <cstdio>
#include <distribute/distribute.hpp>
namespace dist = distribute;
namespace nn = dist::nn;

int main() {
  dist::TFConfigClusterResolver cluster;
  dist::ParameterServerStrategy strategy(
      cluster, {.variable_partitioner = {.min_shard_bytes = 256 << 10, .max_shards = 2}});
  const auto scope = strategy.scope();
  nn::Sequential model(nn::Flatten(), nn::Dense({.units = 10}));
  dist::optim::SGD optimizer({.learning_rate = 0.05f});

  dist::RemoteFunction train_step("train_step", [&](dist::data::Iterator& it) {
    auto [x, y] = it.next();
    dist::GradientTape tape;
    auto loss = nn::compute_average_loss(
        nn::sparse_categorical_crossentropy(y, model(x), {.from_logits = true}), 64);
    optimizer.apply_gradients(tape.gradient(loss, model.trainable_variables()),
                              model.trainable_variables());
    return loss;
  });

  if (cluster.task_type() != dist::TaskType::Chief) return dist::Server(strategy).join();

  dist::ClusterCoordinator coordinator(strategy);
  auto data = coordinator.create_per_worker_dataset([](const dist::InputContext&) {
    return dist::data::load_mnist("examples/mnist_cnn/data").shuffle(60'000).batch(64).repeat();
  });
  for (int epoch = 0; epoch < 5; ++epoch) {
    for (int step = 0; step < 150; ++step) coordinator.schedule(train_step, data);
    coordinator.join();
    std::printf("epoch %d loss %.4f\n", epoch,
                coordinator.schedule(train_step, data).fetch().item<float>());
  }
  return 0;
}
// [trainer]
#undef main

using distribute::testing::ProcessCluster;

DISTRIBUTE_CLUSTER_MAIN(parameter_server_trainer) {
  std::filesystem::current_path(distribute::testing::source_dir());
  task.set_result(std::to_string(parameter_server_main()));
}

TEST_CASE("the parameter server trainer learns with 1 chief, 3 workers and 2 servers",
          "[coordinator][trainer][multiproc]") {
  ProcessCluster cluster({.workers = 3,
                          .parameter_servers = 2,
                          .chief = true,
                          .function = "parameter_server_trainer",
                          .environment = {{"OMP_NUM_THREADS", "1"}},
                          .deadline_seconds = 300});
  const auto outcomes = cluster.join();
  REQUIRE(outcomes.size() == 6);
  for (const auto& outcome : outcomes) {
    INFO(outcome.name << "\n" << outcome.err);
    CHECK(outcome.result == "0");
  }
  float last = 10;
  const size_t at = outcomes[0].out.find("epoch 4 loss ");
  REQUIRE(at != std::string::npos);
  REQUIRE(std::sscanf(outcomes[0].out.c_str() + at, "epoch 4 loss %f", &last) == 1);
  CHECK(last < 0.8f);  // 2.3 without knowledge
}

TEST_CASE("The documentation shows the trainer that is tested", "[coordinator][trainer]") {
  const auto between = [](const std::string& path, const std::string& begin,
                          const std::string& end) {
    std::ifstream file(distribute::testing::source_dir() + "/" + path);
    std::string text, line;
    while (std::getline(file, line) && line != begin) continue;
    while (std::getline(file, line) && line != end) text += line + "\n";
    return text;
  };
  const std::string mark = "// [trainer]";
  const std::string tested = between("tests/coordinator/trainer_test.cpp", mark, mark);
  CHECK(!tested.empty());
  CHECK(between("docs/coordinator.md", "<!-- trainer -->", "```") == "```cpp\n" + tested);
}
