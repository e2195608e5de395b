// Times of a convolution's three passes, by oneDNN and by our own kernels (Winograd's for 5x5 and
// 3x3, direct ones), and their distance.
// g++ -std=c++20 -O2 -Iinclude -I/usr/include/eigen3 -fopenmp -DDISTRIBUTE_HAS_ONEDNN=1
//     bench/winograd_bench.cpp -o winograd_bench -ldnnl
// ./winograd_bench [batch] [threads] [repetitions] [size] [in channels] [out channels] [kernel] ..
//     .. [stride]
// With one thread it counts the thread's CPU time, which other programs disturb less. COLD=1 in the
// environment: caches hold something else before every pass.
#include <distribute/base/parallel.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/device/detail/cpu_direct_conv.hpp>
#include <distribute/device/detail/cpu_onednn.hpp>
#include <distribute/device/detail/cpu_winograd.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <random>
#include <vector>

using namespace distribute;

namespace {

Array normal(int64_t count, unsigned seed, float scale) {
  Array array = make_array(count * 4, Device{});
  std::mt19937 engine(seed);
  std::normal_distribution<float> distribution(0, scale);
  for (int64_t i = 0; i < count; ++i) array.data<float>()[i] = distribution(engine);
  return array;
}

double now_us(bool cpu) {
  timespec time;
  clock_gettime(cpu ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return double(time.tv_sec) * 1e6 + double(time.tv_nsec) * 1e-3;
}

/// Fills the caches with something else.
void sweep() {
  static std::vector<int64_t> memory(size_t(12) << 20);
  for (size_t i = 0; i < memory.size(); i += 8) ++memory[i];
}

struct Result {
  double best_us, median_us;
  std::vector<float> values;
};

Result measure(const std::function<Array()>& pass, int repetitions) {
  const bool cpu = intra_op_threads() == 1;
  Array result = pass();
  std::vector<double> times;
  for (int i = 0; i < repetitions; ++i) {
    if (std::getenv("COLD")) sweep();
    const double start = now_us(cpu);
    result = pass();
    times.push_back(now_us(cpu) - start);
  }
  std::sort(times.begin(), times.end());
  const int64_t count = result.buffer->bytes() / 4;
  std::vector<float> values(static_cast<size_t>(count));
  if (result.layout)
    result.layout->to_row_major(result.bytes(), values.data());
  else
    std::copy_n(result.data<float>(), count, values.begin());
  return {times[0], times[times.size() / 2], values};
}

void compare(const char* name, const std::function<Array()>& pass, int repetitions) {
  device_state().allow_winograd = false;
  const Result direct = measure(pass, repetitions);
  device_state().allow_winograd = true;
  const Result fast = measure(pass, repetitions);
  double distance = 0, largest = 0;
  for (size_t i = 0; i < std::min(direct.values.size(), fast.values.size()); ++i) {
    distance = std::max(distance, std::abs(double(direct.values[i]) - double(fast.values[i])));
    largest = std::max(largest, std::abs(double(direct.values[i])));
  }
  std::printf("%-16s %9.0f (%.0f) %9.0f (%.0f) %6.2f %12.1e\n", name, direct.best_us,
              direct.median_us, fast.best_us, fast.median_us, direct.best_us / fast.best_us,
              distance / largest);
}

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int i, int otherwise) {
    return argc > i ? std::atoi(argv[i]) : otherwise;
  };
  const int repetitions = argument(3, 20), size = argument(4, 14);
  set_intra_op_threads(argument(2, 1));
  Conv2DShape s;
  s.batch = argument(1, 50);
  s.in_channels = argument(5, 32);
  s.out_channels = argument(6, 64);
  s.in = {size, size};
  const int64_t kernel = argument(7, 5), taps = kernel * kernel, stride = argument(8, 1);
  s.stride = {stride, stride};
  s.out = {(size + stride - 1) / stride, (size + stride - 1) / stride};
  s.kernel = {kernel, kernel};
  s.pad_before = s.pad_after = {kernel / 2, kernel / 2};
  Backend* engine = onednn_backend();
  if (!engine || !(winograd_suits(s) || direct_gradient_suits(s)))
    return std::puts("none of our kernels takes this shape here"), 1;

  const Array w = normal(taps * s.in_channels * s.out_channels, 2, 0.05f);
  const Array bias = normal(s.out_channels, 3, 0.1f);
  // A pass through the network gives images in groups of channels, so make them that way.
  const auto grouped = [&](Conv2DShape::Pair pixels, int64_t channels, unsigned seed) {
    Conv2DShape same = s;
    same.stride = {1, 1};
    same.in = same.out = pixels;
    same.in_channels = same.out_channels = channels;
    return engine->conv2d(same, normal(s.batch * pixels[0] * pixels[1] * channels, seed, 1),
                          normal(taps * channels * channels, seed + 1, 0.02f), nullptr,
                          Epilogue::None);
  };
  const Array x = grouped(s.in, s.in_channels, 4), dy = grouped(s.out, s.out_channels, 6);
  Array bias_gradient;
  std::printf("%-16s %16s %16s %6s %12s\n", "us, best (median)", "oneDNN", "ours", "ratio",
              "distance");
  compare(
      "forward", [&] { return engine->conv2d(s, x, w, &bias, Epilogue::Relu); }, repetitions);
  compare(
      "backprop input", [&] { return engine->conv2d_backprop_input(s, dy, w); }, repetitions);
  compare(
      "backprop filter", [&] { return engine->conv2d_backprop_filter(s, x, dy, &bias_gradient); },
      repetitions);
}
