#include "doctor_host.hpp"

#include <distribute/base/error.hpp>
#include <distribute/base/version.hpp>
#include <distribute/collective/engine.hpp>
#include <distribute/collective/nccl_library.hpp>
#include <distribute/device/cuda_device.hpp>
#include <distribute/device/cuda_library.hpp>

#include <cstdio>

#include <absl/base/config.h>
#include <dlfcn.h>
#include <asio/version.hpp>
#include <Eigen/Core>
#if __has_include(<jconfig.h>)
#include <jconfig.h>
#endif
#include <zlib.h>
#include <nlohmann/json.hpp>

namespace distribute_tools {

using distribute::kVersion;
using distribute::str_cat;

namespace {

constexpr const char* kLibraries = "libraries";
#ifdef __clang__
constexpr const char* kCompiler = "";  // __VERSION__ names it
#else
constexpr const char* kCompiler = "g++ ";
#endif

#define DISTRIBUTE_TEXT_OF(x) #x
#define DISTRIBUTE_TEXT(x) DISTRIBUTE_TEXT_OF(x)
#ifdef LIBJPEG_TURBO_VERSION
constexpr const char* kJpeg = "libjpeg-turbo " DISTRIBUTE_TEXT(LIBJPEG_TURBO_VERSION);
#else
constexpr const char* kJpeg = "libjpeg";
#endif
#undef DISTRIBUTE_TEXT
#undef DISTRIBUTE_TEXT_OF

/// A function of a library that this program may be linked with.
template <typename Function>
Function* linked(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
}

void missing(DoctorReport& report, const char* name, const std::string& consequence) {
  report.add({kLibraries, name, Mark::Note, "not built in: " + consequence, {}});
}

void examine_onednn(DoctorReport& report) {
  struct Version {  // the beginning of dnnl_version_t, the same in 2.x and 3.x
    int major, minor, patch;
  };
  if (const auto version = linked<const Version*()>("dnnl_version")) {
    const Version& v = *version();
    return report.ok(kLibraries, "oneDNN", str_cat(v.major, ".", v.minor, ".", v.patch));
  }
  missing(report, "oneDNN", "training on the CPU is slower (libdnnl-dev)");
}

void examine_texts(DoctorReport& report) {
  if (const auto version = linked<const char*(int)>("OpenSSL_version"))
    report.ok(kLibraries, "OpenSSL", version(0));
  else
    missing(report, "OpenSSL", "no proof of the job's token between tasks (libssl-dev)");
  if (const auto version = linked<const char*()>("curl_version"))
    report.ok(kLibraries, "curl", version());
  if (linked<void()>("jpeg_start_decompress"))
    report.ok(kLibraries, "JPEG", kJpeg);
  else
    missing(report, "JPEG", "no pictures in JPEG format (libjpeg-dev)");
  if (const auto version = linked<const char*(const void*)>("png_get_libpng_ver"))
    report.ok(kLibraries, "PNG", str_cat("libpng ", version(nullptr)));
  else
    missing(report, "PNG", "no pictures in PNG format (libpng-dev)");
}

/// Modules that a job may take in place of TCP; opening one starts nothing.
void examine_engines(DoctorReport& report) {
  namespace collective = distribute::collective;
  for (const collective::EngineKind kind : collective::kEngineKinds) {
    std::string problem;
    const collective::Engine* engine = collective::find_engine(kind, problem);
    const std::string name = str_cat("engine ", collective::name_of(kind));
    report.add(
        {kLibraries, name, engine ? Mark::Ok : Mark::Note, engine ? engine->text() : problem, {}});
  }
}

/// NVIDIA numbers 9.19.0 as 91900, 12.8 as 12080.
std::string cudnn_version(size_t v) { return str_cat(v / 10000, ".", v / 100 % 100, ".", v % 100); }

void examine_cuda(DoctorReport& report) {
  if (!distribute::built_for_cuda())
    return missing(report, "CUDA", "this program computes on the CPU");
  int version = 0;
  if (distribute::gpu_problem().empty()) distribute::cuda_driver().cuDriverGetVersion(&version);
  if (version > 0)
    report.ok(kLibraries, "CUDA driver", str_cat(version / 1000, ".", version % 1000 / 10));
  std::string problem;
  void* const cudnn = distribute::open_cuda_library(
      {.what = "cuDNN", .files = {"libcudnn.so.9"}, .package = "cuDNN 9", .folders = {"cudnn"}},
      problem);
  const auto get =
      cudnn ? reinterpret_cast<size_t (*)()>(distribute::cuda_symbol(cudnn, "cudnnGetVersion"))
            : nullptr;
  report.add(
      {kLibraries, "cuDNN", get ? Mark::Ok : Mark::Note, get ? cudnn_version(get()) : problem, {}});
  distribute::collective::NcclTable nccl;
  problem = distribute::collective::load_nccl(nccl);
  int number = 0;
  if (problem.empty()) nccl.ncclGetVersion(&number);
  report.add(
      {kLibraries,
       "NCCL",
       number ? Mark::Ok : Mark::Note,
       number ? str_cat(number / 10000, ".", number / 100 % 100, ".", number % 100) : problem,
       {}});
}

}  // namespace

void examine_libraries(DoctorReport& report) {
  report.ok(kLibraries, "distribute", str_cat(kVersion, ", built with ", kCompiler, __VERSION__));
  report.ok(kLibraries, "Eigen",
            str_cat(EIGEN_WORLD_VERSION, ".", EIGEN_MAJOR_VERSION, ".", EIGEN_MINOR_VERSION));
  examine_onednn(report);
  examine_texts(report);
  report.ok(kLibraries, "zlib", ::zlibVersion());
  report.ok(kLibraries, "Abseil", str_cat(ABSL_LTS_RELEASE_VERSION));
  report.ok(
      kLibraries, "Asio",
      str_cat(ASIO_VERSION / 100000, ".", ASIO_VERSION / 100 % 1000, ".", ASIO_VERSION % 100));
  examine_cuda(report);
  examine_engines(report);
}

void examine_gpus(DoctorReport& report) {
  const std::string problem = distribute::gpu_problem();
  if (!problem.empty()) return report.add({"GPU", "none", Mark::Note, problem, {{"count", 0}}});
  for (const distribute::PhysicalGpu& gpu : distribute::physical_gpus())
    report.ok("GPU", str_cat("GPU ", gpu.number),
              str_cat(gpu.name, ", compute capability ", gpu.major, ".", gpu.minor, ", ",
                      bytes_text(double(gpu.memory_bytes))),
              {{"memory_bytes", gpu.memory_bytes}});
}

}  // namespace distribute_tools
