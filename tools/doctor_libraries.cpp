#include "doctor_host.hpp"

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/collective/detail/fabric.hpp>
#include <distribute/collective/engine.hpp>
#include <distribute/device/detail/cpu_onednn.hpp>

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
    return report.ok(kLibraries, "oneDNN",
                     str_cat(v.major, ".", v.minor, ".", v.patch, ", products of ",
                             distribute::cpu_products_of_half()));
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
  const auto ports = collective::fabric_ports();
  const auto advice = collective::fabric_advice(ports, collective::installed_engines());
  for (const collective::FabricPort& port : ports)
    report.ok(kLibraries, "fabric", str_cat(port.text(), ": ", *advice));
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
  examine_engines(report);
}

}  // namespace distribute_tools
