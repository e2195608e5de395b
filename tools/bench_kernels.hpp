#pragma once
/// `distribute bench kernels`: the time of every kernel of one training step, each measured alone.

#include <cstdint>
#include <string>
#include <vector>

namespace distribute_tools {

/// The flags of the command, which its table explains.
struct KernelBenchOptions {
  std::string model = "book", policy = "float32";
  int64_t batch_size = 50;
  int threads = 0;
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

}  // namespace distribute_tools
