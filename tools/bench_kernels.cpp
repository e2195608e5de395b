/// Prints what network_kernels.cpp measures, as a table or as one JSON object.
#include "bench_kernels.hpp"
#include "commands.hpp"

#include <distribute/base/ordered_json.hpp>
#include <distribute/device/detail/backend.hpp>

#include <cstdio>
#include <nlohmann/json.hpp>

namespace distribute_tools {

double KernelReport::total_us() const {
  double sum = 0;
  for (const KernelTime& kernel : kernels) sum += kernel.us;
  return sum;
}

double gflops_per_second(const KernelTime& kernel) { return kernel.flops / kernel.us * 1e-3; }

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
  if (options.policy == "mixed_bfloat16" &&
      !distribute::backend(distribute::DeviceType::Cpu).supports(distribute::DType::BFloat16))
    throw UsageProblem(
        "--policy=mixed_bfloat16: oneDNN's kernels for it need AVX-512, which this machine lacks "
        "or ONEDNN_MAX_CPU_ISA rules out");
  const KernelReport report = time_kernels(options);
  options.json ? print_json(options, report) : print_table(options, report);
  return 0;
}

Command bench_kernels_command() {
  using O = KernelBenchOptions;
  return make_command<O>(
      "bench kernels", "", "time of every kernel of one training step, each measured alone",
      {{"model=M", &O::model, one_of("book", "tutorial", "resnet50"), "network to measure"},
       {"batch_size=N", &O::batch_size, at_least(1).at_most(4096), "images per step"},
       {"policy=P", &O::policy, one_of("float32", "mixed_bfloat16"),
        "number format of the activations"},
       {"threads=N", &O::threads, at_least(0).at_most(1024), "0: OpenMP's own choice"},
       {"json", &O::json, "print JSON instead of a table"}},
      [](const O& options, const CommandLine&) { return bench_kernels(options); });
}

}  // namespace distribute_tools
