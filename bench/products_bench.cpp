// GFLOP/s of the matrix products of a decoder's training step, each the best of 30 runs: matmul()
// and, beside it, oneDNN's gemm called directly. bench/peers/products.py has PyTorch and NumPy,
// too.
// ./products_bench [width tokens threads]
#include <distribute/base/parallel.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/random.hpp>

#include <dnnl.h>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

using namespace distribute;

namespace {

struct Product {  // of the stored matrices a and b
  const char* name;
  int64_t m, k, n;
  MatmulOptions options;
};

/// y = x w, dx = dy w^T and dw = x^T dy of a dense layer.
void add_layer(std::vector<Product>& all, int64_t tokens, int64_t inputs, int64_t units) {
  all.push_back({"y", tokens, inputs, units, {}});
  all.push_back({"dx", tokens, units, inputs, {.transpose_b = true}});
  all.push_back({"dw", inputs, tokens, units, {.transpose_a = true}});
}

double seconds(const std::function<void()>& run) {
  double best = 1e30;
  for (int i = 0; i < 30; ++i) {
    const auto start = std::chrono::steady_clock::now();
    run();
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count());
  }
  return best;
}

void print_rates(const Product& p) {
  const bool ta = p.options.transpose_a, tb = p.options.transpose_b;
  const Tensor a = random::normal(ta ? Shape{p.k, p.m} : Shape{p.m, p.k}, 1);
  const Tensor b = random::normal(tb ? Shape{p.n, p.k} : Shape{p.k, p.n}, 2);
  Tensor c = matmul(a, b, p.options);
  const double ours = seconds([&] { c = matmul(a, b, p.options); });
  std::vector<float> out(size_t(p.m * p.n));
  const double direct = seconds([&] {
    dnnl_sgemm(ta ? 'T' : 'N', tb ? 'T' : 'N', p.m, p.n, p.k, 1, a.data<float>().data(),
               ta ? p.m : p.k, b.data<float>().data(), tb ? p.k : p.n, 0, out.data(), p.n);
  });
  const double flops = 2e-9 * double(p.m * p.k * p.n);
  std::printf("%s %lld %lld %lld %.1f %.1f\n", p.name, (long long)p.m, (long long)p.k,
              (long long)p.n, flops / ours, flops / direct);
}

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int i, int64_t otherwise) {
    return argc > i ? int64_t(std::atoll(argv[i])) : otherwise;
  };
  const int64_t width = argument(1, 256), tokens = argument(2, 4096);
  set_intra_op_threads(int(argument(3, 2)));
  std::vector<Product> products;
  add_layer(products, tokens, width, 3 * width);
  add_layer(products, tokens, width, width);
  add_layer(products, tokens, width, 4 * width);
  add_layer(products, tokens, 4 * width, width);
  for (const Product& product : products) print_rates(product);
}
