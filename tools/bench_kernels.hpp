#pragma once
/// `distribute bench kernels`: the time of every kernel of one training step, each measured alone.

#include <cstdint>
#include <string>
#include <vector>

namespace distribute_tools {

struct KernelBenchOptions {
  std::string model = "book";      // book | tutorial | resnet50
  std::string policy = "float32";  // float32 | mixed_bfloat16
  int64_t batch_size = 50;
  int threads = 0;  // 0: what OpenMP takes by itself
  bool json = false;
};

/// One kernel: its best time with hot caches, and what oneDNN chose for it.
struct KernelTime {
  std::string name, implementation, layouts;
  double us = 0;
  double flops = 0;  // 0 for kernels that only move memory
};

struct KernelReport {
  int threads = 0;
  std::vector<KernelTime> kernels;
  double total_us() const;
};

/// Times the kernels of one step of `options.model`.
/// Throws  std::exception with oneDNN's message.
KernelReport time_kernels(const KernelBenchOptions& options);

/// The command: checks the options, measures, prints. Returns the exit status (0, 1 or 2).
int bench_kernels(const KernelBenchOptions& options);

}  // namespace distribute_tools
