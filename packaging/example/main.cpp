// Does an installed copy of the library compile, link and compute? scripts/check_package.sh asks.
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdio>

int main() {
  const distribute::Tensor x({1.0f, 2.0f, 3.0f});
  const float sum = distribute::reduce_sum(distribute::add(x, x)).item<float>();
  std::printf("%g\n", sum);
  return sum == 12.0f ? 0 : 1;
}
