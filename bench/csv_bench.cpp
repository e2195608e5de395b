// Rows a second of CPU time of make_csv_dataset(), on one core.
// g++ -std=c++20 -O2 -Iinclude -I/usr/include/eigen3 -fopenmp bench/csv_bench.cpp -o csv_bench
//     -lz -labsl_...
// ./csv_bench <CSV file with a header> [batch size] [0 or 1: shuffle] [repetitions]
// bench/peers/csv_peer.py makes a file and runs it beside tf.data.
#include <distribute/strategy.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "cpu_seconds.hpp"

using namespace distribute;

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const int64_t batch_size = argc > 2 ? std::atoll(argv[2]) : 256;
  const bool shuffle = argc > 3 && std::atoi(argv[3]) == 1;
  const int repetitions = argc > 4 ? std::atoi(argv[4]) : 3;
  double best = 0;
  for (int i = 0; i < repetitions; ++i) {
    const double begin = cpu_seconds();
    int64_t rows = 0;
    for (const data::Batch& batch : data::make_csv_dataset(std::string(argv[1]), batch_size,
                                                           {.num_epochs = 1, .shuffle = shuffle}))
      rows += batch.x.shape()[0];
    best = std::max(best, double(rows) / (cpu_seconds() - begin));
  }
  std::printf("{\"rows_per_cpu_second\": %.0f}\n", best);
}
