// Nanoseconds an element of functions that networks apply to every number, with one thread, best of
// many runs; bench/peers/functions_peer.py measures the same in TensorFlow and PyTorch.
// ./functions_bench [elements]
#include <distribute/base/parallel.hpp>
#include <distribute/ops/activation.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/random.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>

using namespace distribute;

namespace {

double nanoseconds(const std::function<Tensor(const Tensor&)>& function, const Tensor& x) {
  double best = 1e30;
  for (int run = 0; run < 50; ++run) {
    const auto start = std::chrono::steady_clock::now();
    const Tensor y = function(x);
    const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count());
  }
  return best / double(x.num_elements());
}

}  // namespace

int main(int argc, char** argv) {
  set_intra_op_threads(1);
  const int64_t size = argc > 1 ? std::atoll(argv[1]) : 1 << 18;
  const Tensor x = random::normal({size / 256, 256}, 7);
  const std::pair<const char*, std::function<Tensor(const Tensor&)>> functions[] = {
      {"exp", [](const Tensor& t) { return exp(t); }},
      {"tanh", [](const Tensor& t) { return tanh(t); }},
      {"sigmoid", [](const Tensor& t) { return sigmoid(t); }},
      {"erf", [](const Tensor& t) { return erf(t); }},
      {"gelu", [](const Tensor& t) { return nn::gelu(t); }},
      {"silu", [](const Tensor& t) { return nn::silu(t); }},
      {"softplus", [](const Tensor& t) { return nn::softplus(t); }},
      {"elu", [](const Tensor& t) { return nn::elu(t); }},
      {"softmax", [](const Tensor& t) { return nn::softmax(t, -1); }},
  };
  for (const auto& [name, function] : functions)
    std::printf("%-10s %6.2f\n", name, nanoseconds(function, x));
}
