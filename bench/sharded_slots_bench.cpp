// Steps of the book network with whole slots and with slots in slices (shard_optimizer_state), in
// turn, by workers that are threads of this process: over sockets, as between hosts, and through
// shared memory. Prints one JSON object a line: bytes of the slots of a worker, the median time of
// an update with ready gradients and of a whole step, and the median of the ratios.
// cmake --build --preset release --target sharded_slots_bench &&
// build/release/bin/sharded_slots_bench [workers] [rounds]
#include <distribute/base/parallel.hpp>
#include <distribute/collective/detail/tcp_transport.hpp>
#include <distribute/distribute.hpp>
#include <distribute/strategy/detail/multi_worker_extended.hpp>
#include <distribute/strategy/detail/sharded_slot.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sys/socket.h>

using namespace distribute;
using namespace distribute::collective;

namespace {

constexpr int kSteps = 4;  // of a round
constexpr int64_t kBatch = 32;

double now_ms() {
  using namespace std::chrono;
  return duration<double, std::milli>(steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + std::ptrdiff_t(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

/// Groups of workers with one replica each, connected by pairs of sockets.
std::vector<WorkerGroup> connect_by_sockets(int workers) {
  std::vector<TcpMesh> meshes(static_cast<size_t>(workers));
  for (int r = 0; r < workers; ++r) {
    meshes[size_t(r)].rank = r;
    meshes[size_t(r)].flows.resize(size_t(workers));
  }
  for (int a = 0; a < workers; ++a)
    for (int b = 0; b < a; ++b) {
      int ends[2];
      if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) throw InternalError("socketpair");
      meshes[size_t(a)].flows[size_t(b)].emplace_back(ends[0], str_cat("rank ", b));
      meshes[size_t(b)].flows[size_t(a)].emplace_back(ends[1], str_cat("rank ", a));
    }
  std::vector<WorkerGroup> groups = make_thread_workers(workers, 1, {});
  for (int r = 0; r < workers; ++r)
    groups[size_t(r)].workers = groups[size_t(r)].replicas[0] = std::make_shared<Communicator>(
        std::make_unique<TcpTransport>(std::move(meshes[size_t(r)])), CommunicatorOptions{});
  return groups;
}

/// The training of one worker in one of the two ways.
class Training {
 public:
  Training(WorkerGroup group, int worker, bool slices)
      : strategy_(std::make_unique<strategy_internal::MultiWorkerExtended>(
            std::vector<std::string>{"/cpu:0"}, std::move(group),
            strategy_internal::WorkerTask{"worker", worker, worker == 0}, CommunicationOptions{},
            nullptr, slices)) {
    const auto scope = strategy_.scope();
    model_ = std::make_unique<nn::Sequential>(
        nn::Conv2D({.filters = 32, .kernel_size = 5, .padding = Padding::Same}),
        nn::MaxPool2D({.pool_size = 2}),
        nn::Conv2D({.filters = 64, .kernel_size = 5, .padding = Padding::Same}),
        nn::MaxPool2D({.pool_size = 2}), nn::Flatten(),
        nn::Dense({.units = 1024, .activation = nn::relu}), nn::Dense({.units = 10}));
    optimizer_ = std::make_unique<optim::Adam>(optim::AdamOptions{});
    for (int i = 0; i < 6; ++i) step();  // the workers' one copy of the variables is made
  }

  /// Milliseconds of one step, forward and backward pass included.
  double step() {
    return timed([&] {
      GradientTape tape;
      const Tensor logits = (*model_)(ones({kBatch, 28, 28, 1}), {.training = true});
      optimizer_->minimize(reduce_mean(logits * logits), model_->trainable_variables(), tape);
    });
  }
  /// Milliseconds of one update with gradients that are ready.
  double update() {
    return timed([&] {
      std::vector<Tensor> gradients;
      for (const Variable& variable : model_->trainable_variables())
        gradients.push_back(fill(variable.shape(), 0.01f, DType::Float32, Device{}));
      optimizer_->apply_gradients(gradients, model_->trainable_variables());
    });
  }

  int64_t slot_bytes() const {
    int64_t elements = 0;
    for (const auto& slot : optimizer_->slot_variables()) {
      const auto* cut = dynamic_cast<strategy_internal::ShardedSlot*>(&slot.variable.impl());
      elements += cut ? cut->local_size() : slot.variable.shape().num_elements();
    }
    return elements * int64_t(sizeof(float));
  }

 private:
  double timed(const std::function<void()>& work) {
    const double start = now_ms();
    strategy_.run([&] { work(); });
    return now_ms() - start;
  }

  Strategy strategy_;
  std::unique_ptr<nn::Sequential> model_;
  std::unique_ptr<optim::Optimizer> optimizer_;
};

/// Figures of worker 0.
struct Figures {
  int64_t bytes[2] = {};
  std::vector<double> update[2], step[2], update_ratio, step_ratio;
};

double total(int steps, const std::function<double()>& one) {
  double sum = 0;
  for (int i = 0; i < steps; ++i) sum += one();
  return sum / steps;
}

void measure(std::vector<WorkerGroup>& whole, std::vector<WorkerGroup>& slices, int worker,
             int rounds, Figures* figures) {
  set_intra_op_threads(1);
  Training trainings[2] = {{std::move(whole[size_t(worker)]), worker, false},
                           {std::move(slices[size_t(worker)]), worker, true}};
  for (int round = 0; round < rounds; ++round) {
    double update[2], step[2];
    for (int i = 0; i < 2; ++i) {
      const int way = (i + round) % 2;
      update[way] = total(kSteps, [&] { return trainings[way].update(); });
      step[way] = total(kSteps, [&] { return trainings[way].step(); });
    }
    if (!figures) continue;
    for (int way = 0; way < 2; ++way) {
      figures->bytes[way] = trainings[way].slot_bytes();
      figures->update[way].push_back(update[way]);
      figures->step[way].push_back(step[way]);
    }
    figures->update_ratio.push_back(update[1] / update[0]);
    figures->step_ratio.push_back(step[1] / step[0]);
  }
}

void run(const char* transport, int workers, int rounds,
         const std::function<std::vector<WorkerGroup>()>& connect) {
  std::vector<WorkerGroup> whole = connect(), slices = connect();
  Figures figures;
  std::vector<std::thread> threads;
  for (int w = 0; w < workers; ++w)
    threads.emplace_back(
        [&, w] { measure(whole, slices, w, rounds, w == 0 ? &figures : nullptr); });
  for (std::thread& thread : threads) thread.join();
  std::printf(
      "{\"transport\": \"%s\", \"workers\": %d, \"slot_bytes\": [%lld, %lld], "
      "\"update_ms\": [%.2f, %.2f], \"update_ratio\": %.2f, \"step_ms\": [%.2f, %.2f], "
      "\"step_ratio\": %.3f}\n",
      transport, workers, static_cast<long long>(figures.bytes[0]),
      static_cast<long long>(figures.bytes[1]), median(figures.update[0]),
      median(figures.update[1]), median(figures.update_ratio), median(figures.step[0]),
      median(figures.step[1]), median(figures.step_ratio));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const int workers = argc > 1 ? std::atoi(argv[1]) : 3,
            rounds = argc > 2 ? std::atoi(argv[2]) : 15;
  run("sockets", workers, rounds, [&] { return connect_by_sockets(workers); });
  run("shared memory", workers, rounds, [&] { return make_thread_workers(workers, 1, {}); });
}
