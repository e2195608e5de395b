// Uses each kind that this project adds, through the library's own functions; prints what it saw
// and ends with 1 where one of them was not taken.
#include <distribute/base/status.hpp>
#include <distribute/collective/communicator.hpp>
#include <distribute/collective/engine.hpp>
#include <distribute/strategy.hpp>

#include "memory_file_system.hpp"
#include "nomad_resolver.hpp"
#include "sign_sgd.hpp"

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

namespace dist = distribute;
namespace nn = dist::nn;

namespace {

bool resolver_is_taken() {
  register_nomad();
  const dist::Environment variables(std::map<std::string, std::string>{
      {"NOMAD_TASKS", R"({"addresses": ["a:1", "b:2", "c:3"], "own": 2})"}});
  const dist::ImpliedResolver implied = dist::default_resolver(variables);
  return implied.reason == "NOMAD_TASKS" && implied.resolver->task_id() == 2 &&
         implied.resolver->cluster_spec().num_tasks("worker") == 3;
}

/// Trains with the optimizer and saves in the file system.
bool optimizer_and_file_system_are_taken() {
  register_sign_sgd();
  dist::throw_if_error(
      dist::io::register_file_system("memory", std::make_unique<MemoryFileSystem>()));
  const auto optimizer =
      dist::optim::deserialize(R"({"class_name": "SignSGD", "config": {"learning_rate": 0.25}})");
  nn::Sequential model(nn::Dense({.units = 1, .kernel_initializer = nn::initializers::ones()}));
  dist::GradientTape tape;
  const dist::Tensor loss = dist::reduce_sum(model(dist::ones({1, 2})));
  optimizer->minimize(loss, model.trainable_variables(), tape);
  dist::train::Checkpoint(model, *optimizer).write("memory://saved/model");

  nn::Sequential other(nn::Dense({.units = 1}));
  other(dist::ones({1, 2}));
  dist::train::Checkpoint(other).restore("memory://saved/model").expect_partial();
  return other.trainable_variables()[0].value().to_vector() == std::vector<float>{0.75f, 0.75f};
}

/// Sums the ranks' numbers over the engine beside this program.
bool engine_is_taken(const std::string& folder) {
  ::setenv("DISTRIBUTE_ENGINE_PATH", folder.c_str(), 1);
  auto transports = dist::collective::make_ucx_transports(3);
  std::vector<float> sums(3);
  std::vector<std::thread> ranks;
  for (size_t rank = 0; rank < 3; ++rank)
    ranks.emplace_back([&, rank] {
      dist::collective::Communicator group(std::move(transports[rank]));
      sums[rank] = float(rank + 1);
      group.all_reduce(&sums[rank], 1, dist::DType::Float32);
    });
  for (std::thread& rank : ranks) rank.join();
  return sums == std::vector<float>{6, 6, 6};
}

bool told(const char* kind, bool good) {
  std::printf("%s: %s\n", kind, good ? "taken" : "NOT taken");
  return good;
}

}  // namespace

int main(int, char** argv) {
  try {
    const std::string program = argv[0];
    const bool resolver = told("resolver", resolver_is_taken());
    const bool saved = told("optimizer and file system", optimizer_and_file_system_are_taken());
    const bool engine =
        told("engine", engine_is_taken(program.substr(0, program.find_last_of('/') + 1) + "."));
    return resolver && saved && engine ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
