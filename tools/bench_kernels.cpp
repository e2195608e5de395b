/// Prints what network_kernels.cpp measures, as a table or as one JSON object.
#include "bench_kernels.hpp"

#include <distribute/base/json.hpp>
#include <distribute/base/parallel.hpp>

#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>

namespace distribute_tools {

double KernelReport::total_us() const {
  double sum = 0;
  for (const KernelTime& kernel : kernels) sum += kernel.us;
  return sum;
}

double gflops_per_second(const KernelTime& kernel) { return kernel.flops / kernel.us * 1e-3; }

std::string complaint(const KernelBenchOptions& options) {
  if (options.model != "book" && options.model != "tutorial" && options.model != "resnet50")
    return "--model must be book, tutorial or resnet50, not '" + options.model + "'";
  if (options.policy == "mixed_float16") return "--policy=mixed_float16 needs a GPU";
  if (options.policy == "mixed_bfloat16" && distribute::simd_level() < 2)
    return "--policy=mixed_bfloat16: oneDNN's kernels for it need AVX-512, which this machine "
           "lacks";
  if (options.policy != "float32" && options.policy != "mixed_bfloat16")
    return "--policy must be float32 or mixed_bfloat16, not '" + options.policy + "'";
  if (options.batch_size < 1 || options.batch_size > 4096)
    return "--batch_size must be from 1 to 4096, not " + std::to_string(options.batch_size);
  if (options.threads < 0 || options.threads > 1024)
    return "--threads must be from 0 to 1024, not " + std::to_string(options.threads);
  return "";
}

void print_json(const KernelBenchOptions& options, const KernelReport& report) {
  nlohmann::ordered_json root = {
      {"model", options.model},
      {"threads", report.threads},
      {"kernel_us", report.total_us()},
      {"images_per_second", 1e6 * static_cast<double>(options.batch_size) / report.total_us()},
      {"kernels", nlohmann::ordered_json::array()}};
  for (const KernelTime& kernel : report.kernels)
    root["kernels"].push_back({{"name", kernel.name},
                               {"us", kernel.us},
                               {"gflops_per_second", gflops_per_second(kernel)}});
  std::printf("%s\n", distribute::json_text(root, 2).c_str());
}

void print_table(const KernelBenchOptions& options, const KernelReport& report) {
  std::printf("%s network, batch %lld, %s, %d thread(s): best time of each kernel alone\n\n",
              options.model.c_str(), static_cast<long long>(options.batch_size),
              options.policy.c_str(), report.threads);
  std::printf("%-44s %10s %9s  %-22s %s\n", "kernel", "us", "GFLOP/s", "implementation", "layouts");
  bool slow_path = false;
  for (const KernelTime& kernel : report.kernels) {
    const bool reference = kernel.implementation.find("ref") != std::string::npos;
    slow_path = slow_path || reference;
    std::printf("%-44s %10.1f %9.1f  %-22s %s%s\n", kernel.name.c_str(), kernel.us,
                gflops_per_second(kernel), kernel.implementation.c_str(), kernel.layouts.c_str(),
                reference ? "  <-- reference implementation, slow" : "");
  }
  std::printf("\n%-44s %10.1f            %.0f images/s\n", "sum", report.total_us(),
              1e6 * static_cast<double>(options.batch_size) / report.total_us());
  if (slow_path) std::printf("warning: some kernels fell back to a reference implementation\n");
}

int bench_kernels(const KernelBenchOptions& options) {
  if (const std::string problem = complaint(options); !problem.empty()) {
    std::fprintf(stderr, "distribute bench kernels: %s\n", problem.c_str());
    return 2;
  }
  try {
    const KernelReport report = time_kernels(options);
    options.json ? print_json(options, report) : print_table(options, report);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "distribute bench kernels: %s\n", error.what());
    return 1;
  }
}

}  // namespace distribute_tools
