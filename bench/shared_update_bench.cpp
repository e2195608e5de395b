// Gradients of the book network (6.65 MB) in shared memory: sum over two processes and Adam in one
// pass, by MultiWorkerMirroredStrategy's own path and by the bare loops. Prints one JSON object.
// cmake --build --preset release --target shared_update_bench &&
// build/release/bin/shared_update_bench
#include <distribute/base/detail/simd_sqrt.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/collective/detail/window_transport.hpp>
#include <distribute/distribute.hpp>
#include <distribute/strategy/detail/multi_worker_extended.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

using namespace distribute;
using namespace distribute::collective;

namespace {

constexpr int kRanks = 2, kRounds = 400;
const std::vector<Shape> kBookNetwork{{5, 5, 1, 32}, {32},  {5, 5, 32, 64}, {64},
                                      {3136, 500},   {500}, {500, 10},      {10}};

double now_us() {
  using namespace std::chrono;
  return duration<double, std::micro>(steady_clock::now().time_since_epoch()).count();
}

double median_us(const std::function<void()>& round) {
  std::vector<double> times;
  for (int i = 0; i < kRounds; ++i) {
    const double start = now_us();
    round();
    times.push_back(now_us() - start);
  }
  std::nth_element(times.begin(), times.begin() + kRounds / 2, times.end());
  return times[kRounds / 2];
}

void adam_block(float* w, float* m, float* v, const float* a, const float* b, int64_t count) {
  float root[1024];
  simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) {
      const float g = a[i] + b[i];
      m[i] += (g - m[i]) * 0.1f;
      v[i] += (g * g - v[i]) * 0.001f;
    }
  });
  simd_sqrt(v, root, count);
  simd_call([=, &root]() DISTRIBUTE_ALWAYS_INLINE {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) w[i] -= 1e-4f * m[i] / (root[i] + 1e-7f);
  });
}

void adam(float* w, float* m, float* v, const float* const* gradients, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i += 1024)
    adam_block(w + i, m + i, v + i, gradients[0] + i, gradients[kRanks - 1] + i,
               std::min<int64_t>(1024, end - i));
}

/// Gradients, weights and moments lie in the window; every rank sums and updates its half.
double bare_us(const std::shared_ptr<Window>& window, int rank) {
  int64_t count = 0;
  for (const Shape& shape : kBookNetwork) count += shape.num_elements();
  Communicator group(std::make_unique<WindowTransport>(window, rank, "shm"));
  auto* shared = reinterpret_cast<float*>(group.shared_memory(0).data());
  const auto place = [&](int i) { return shared + (count + 1024) * i; };
  const float* gradients[kRanks];
  for (int r = 0; r < kRanks; ++r)
    gradients[r] = reinterpret_cast<float*>(group.shared_memory(r).data() + (512 << 20));
  std::fill_n(const_cast<float*>(gradients[rank]), count, 1e-3f);
  const int64_t begin = count * rank / kRanks, end = count * (rank + 1) / kRanks;
  return median_us([&] {
    group.barrier();
    adam(place(0), place(1), place(2), gradients, begin, end);
    group.barrier();
  });
}

double adam_alone_us() {
  int64_t count = 0;
  for (const Shape& shape : kBookNetwork) count += shape.num_elements();
  std::vector<float> w(size_t(count), 0.1f), m(w), v(w), g(w);
  const float* gradients[] = {g.data(), g.data()};
  return median_us([&] { adam(w.data(), m.data(), v.data(), gradients, 0, count); });
}

/// The library's path: gradients appear in the slots, then the optimizer's step.
double library_us(const std::shared_ptr<Window>& window, int rank) {
  WorkerGroup group;
  group.worker = rank;
  group.num_workers = kRanks;
  group.replicas.push_back(
      std::make_shared<Communicator>(std::make_unique<WindowTransport>(window, rank, "shm")));
  group.workers = group.replicas[0];
  Strategy strategy(std::make_unique<strategy_internal::MultiWorkerExtended>(
      std::vector<std::string>{"/cpu:0"}, std::move(group),
      strategy_internal::WorkerTask{"worker", rank, rank == 0}, CommunicationOptions{}));
  const auto scope = strategy.scope();
  std::vector<Variable> variables;
  for (const Shape& shape : kBookNetwork) variables.emplace_back(zeros(shape));
  optim::Adam optimizer({.learning_rate = 1e-4f});
  double result = 0;
  strategy.run([&] {
    std::vector<Tensor> gradients;
    const auto compute = [&] {
      gradients.clear();
      for (const Variable& variable : variables) {
        std::vector<BufferOffer> offers;
        if (auto offer = gradient_placer()->place(variable)) offers.push_back(*std::move(offer));
        const BufferOffers scope_of_offers(std::move(offers));
        gradients.push_back(fill(variable.shape(), 1e-3f));
      }
    };
    for (int i = 0; i < 5; ++i) {
      compute();
      optimizer.apply_gradients(gradients, variables);
    }
    compute();
    result = median_us([&] { optimizer.apply_gradients(gradients, variables); });
  });
  return result;
}

}  // namespace

int main() {
  const auto window = Window::create(kRanks), other = Window::create(kRanks);
  pid_t child = ::fork();
  const int rank = child == 0 ? 1 : 0;
  set_intra_op_threads(1);
  const double bare = bare_us(window, rank), library = library_us(other, rank);
  if (rank == 1) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  std::printf(
      "{\"library_us\": %.1f, \"bare_us\": %.1f, \"adam_alone_us\": %.1f, \"ratio\": %.3f}\n",
      library, bare, adam_alone_us(), library / bare);
}
