// What a program whose threads meet many times a second gets of a machine that it shares: the CPU
// seconds of work done in each second, without any code of the library. A thread computes parts of
// equal length; at the end of a region all wait for the last one.
//
//   thread_share_bench THREADS PARTS MICROSECONDS SECONDS
// THREADS       of OpenMP, whose variables say how they wait and share: OMP_SCHEDULE=static divides
//               the parts beforehand, as oneDNN does; with dynamic,1 a free thread takes one
// PARTS         of each thread in a region
// MICROSECONDS  of work of each thread in a region
// SECONDS       of the whole
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace {

double cpu_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

void compute(int64_t turns) {
  volatile double value = 1;
  for (int64_t i = 0; i < turns; ++i) value = value * 1.0000001;
}

/// Turns of the loop in a second of CPU time, neighbours or not; the best of several looks.
double turns_per_second() {
  double best = 0;
  for (int look = 0; look < 20; ++look) {
    constexpr int64_t kTurns = 1 << 22;
    const double begin = cpu_seconds();
    compute(kTurns);
    const double speed = double(kTurns) / (cpu_seconds() - begin);
    best = speed > best ? speed : best;
  }
  return best;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 5) return std::puts("usage: see the head of the file"), 2;
  const int threads = std::atoi(arguments[1]), parts = std::atoi(arguments[2]);
  const double region = 1e-6 * std::atof(arguments[3]), seconds = std::atof(arguments[4]);
  const auto turns = int64_t(turns_per_second() * region / parts);
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  double passed = 0;
  int64_t regions = 0;
  for (; passed < seconds; ++regions) {
#pragma omp parallel for schedule(runtime) num_threads(threads)
    for (int part = 0; part < threads * parts; ++part) compute(turns);
    passed = std::chrono::duration<double>(Clock::now() - begin).count();
  }
  std::printf("%.3f CPU seconds a second\n", double(regions) * region * threads / passed);
}
