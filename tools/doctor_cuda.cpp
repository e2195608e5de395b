#include "doctor_host.hpp"

#include <distribute/base/error.hpp>
#include <distribute/collective/detail/nccl_library.hpp>
#include <distribute/device/detail/cuda_device.hpp>
#include <distribute/device/detail/cuda_library.hpp>
#include <distribute/device/detail/cuda_module.hpp>

#include <cstdio>

namespace distribute_tools {

using distribute::str_cat;

namespace {

constexpr const char* kCudaLibraries = "libraries";

/// NVIDIA numbers cuDNN 9.19.0 as 91900, NCCL 2.28.9 as 22809.
std::string version_text(size_t v) { return str_cat(v / 10000, ".", v / 100 % 100, ".", v % 100); }

/// The libraries that GPUs are used with; `missing` marks one that is not there.
class CudaLibraries {
 public:
  CudaLibraries(DoctorReport& report, Mark missing) : report_(report), missing_(missing) {}

  void driver() {
    const int version = distribute::cuda_driver_version();
    add("CUDA driver", version ? "" : str_cat("none that finds a GPU: ", distribute::gpu_problem()),
        str_cat(version / 1000, ".", version % 1000 / 10));
  }

  /// Compiles a kernel: NVRTC opens its builtins only then.
  void compiler() {
    distribute::CudaCompiler compiler;
    std::string problem =
        distribute::load_cuda_compiler(compiler, distribute::cuda_driver_version());
    std::string text;
    if (problem.empty()) {
      int major = 0, minor = 0;
      compiler.nvrtcVersion(&major, &minor);
      text = str_cat(major, ".", minor, from(compiler.nvrtcVersion));
      problem = compile(compiler);
    }
    add("NVRTC", problem, text + ", compiles with its builtins");
  }

  void blas() {
    opened({.what = "cuBLASLt",
            .files = distribute::files_for_driver({"libcublasLt.so.13", "libcublasLt.so.12"},
                                                  distribute::cuda_driver_version()),
            .package = "cuBLAS of the CUDA toolkit (nvidia-cublas)",
            .folders = {"cu13", "cublas"}},
           "cublasLtGetVersion");
  }
  void dnn() {
    opened({.what = "cuDNN",
            .files = {"libcudnn.so.9"},
            .package = "cuDNN 9 (nvidia-cudnn-cu13)",
            .folders = {"cudnn"}},
           "cudnnGetVersion");
  }

  void nccl() {
    distribute::collective::NcclTable nccl;
    const std::string problem = distribute::collective::load_nccl(nccl);
    int number = 0;
    if (problem.empty()) nccl.ncclGetVersion(&number);
    add("NCCL", problem, version_text(size_t(number)) + from(nccl.ncclGetVersion));
  }

 private:
  /// A library whose version one of its functions tells.
  void opened(const distribute::CudaLibraryName& name, const char* function) {
    std::string problem;
    void* const library = distribute::open_cuda_library(name, problem);
    const auto version =
        library ? reinterpret_cast<size_t (*)()>(distribute::cuda_symbol(library, function))
                : nullptr;
    if (library && !version) problem = str_cat(name.files[0], " has no function ", function);
    add(name.what, problem, version ? version_text(version()) + from(version) : "");
  }
  template <typename Function>
  static std::string from(Function* function) {
    return ", " + distribute::cuda_library_file(reinterpret_cast<const void*>(function));
  }

  static std::string compile(const distribute::CudaCompiler& compiler) {
    try {
      distribute::compile_kernels(
          compiler, str_cat(distribute::kernel_prelude(), "extern \"C\" __global__ void k() {}"),
          "doctor.cu", 90);
      return {};
    } catch (const distribute::Error& error) {
      return error.what();
    }
  }

  void add(const char* name, const std::string& problem, const std::string& text) {
    report_.add({kCudaLibraries, name, problem.empty() ? Mark::Ok : missing_,
                 problem.empty() ? text : problem});
  }

  DoctorReport& report_;
  const Mark missing_;
};

}  // namespace

void examine_cuda(DoctorReport& report, bool require_gpu) {
  if (!require_gpu && !distribute::built_for_cuda())
    return report.add(
        {kCudaLibraries, "CUDA", Mark::Note, "not built in: this program computes on the CPU", {}});
  CudaLibraries libraries(report, require_gpu ? Mark::Failure : Mark::Note);
  libraries.driver();
  libraries.compiler();
  libraries.blas();
  libraries.dnn();
  libraries.nccl();
}

void examine_gpus(DoctorReport& report, bool require_gpu) {
  const std::string problem = distribute::gpu_problem();
  if (!problem.empty())
    return report.add(
        {"GPU", "none", require_gpu ? Mark::Failure : Mark::Note, problem, {{"count", 0}}});
  for (const distribute::PhysicalGpu& gpu : distribute::physical_gpus())
    report.ok("GPU", str_cat("GPU ", gpu.number),
              str_cat(gpu.name, ", compute capability ", gpu.major, ".", gpu.minor, ", ",
                      bytes_text(double(gpu.memory_bytes)),
                      gpu.reads_pageable ? ", reads pageable host memory" : ""),
              {{"memory_bytes", gpu.memory_bytes}});
}

}  // namespace distribute_tools
