#pragma once
#if DISTRIBUTE_HAS_CUDA
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/device/detail/cuda_activity.hpp>
#include <distribute/device/detail/cuda_library.hpp>
#include <distribute/device/detail/cuda_state.hpp>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <dlfcn.h>

namespace distribute {

namespace device_internal {

/// The folder of the toolkit's libraries; empty when the build found none.
DISTRIBUTE_INLINE std::string toolkit_folder() {
#ifdef DISTRIBUTE_CUDA_TOOLKIT_LIBRARIES
  return DISTRIBUTE_CUDA_TOOLKIT_LIBRARIES;
#else
  return {};
#endif
}

/// Lists the folders to search, in order; an empty name stands for the loader's own path.
DISTRIBUTE_INLINE std::vector<std::string> library_folders(const CudaLibraryName& name) {
  std::vector<std::string> folders;
  std::istringstream parts(Environment().text("DISTRIBUTE_CUDA_LIBRARY_PATH"));
  for (std::string folder; std::getline(parts, folder, ':');) {
    if (folder.empty()) continue;
    folders.push_back(folder + "/");
    for (const char* package : name.folders)
      folders.push_back(distribute::str_cat(folder, "/nvidia/", package, "/lib/"));
  }
  folders.emplace_back();
  if (const std::string toolkit = toolkit_folder(); !toolkit.empty())
    folders.push_back(toolkit + "/");
  return folders;
}

/// Opens the files that a library opens by name alone. NVRTC finds its builtins only on the
/// loader's path, which excludes the folders of Python packages and toolkits, or in the process if
/// they are loaded.
DISTRIBUTE_INLINE void open_companions(const std::string& folder, const std::string& beginning) {
  if (folder.empty() || beginning.empty()) return;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
    if (entry.path().filename().string().starts_with(beginning))
      dlopen(entry.path().c_str(), RTLD_NOW | RTLD_LOCAL);
}

}  // namespace device_internal

DISTRIBUTE_INLINE void* open_cuda_library(const CudaLibraryName& name, std::string& problem) {
  std::string reason;
  for (const std::string& folder : device_internal::library_folders(name))
    for (const char* file : name.files) {
      if (std::error_code ignored; std::filesystem::exists(folder + file, ignored))
        device_internal::open_companions(folder, name.companions);
      if (void* library = dlopen((folder + file).c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
      const char* text = dlerror();
      // The error of a library that exists but cannot be loaded says more than that of a missing
      // one.
      const std::string last = text ? text : "";
      if (reason.empty() || last.find("No such file") == std::string::npos) reason = last;
    }
  problem = str_cat(name.what, ": ", name.files[0], " cannot be loaded (", reason, "); install ",
                    name.package, ", or name its folder in DISTRIBUTE_CUDA_LIBRARY_PATH");
  return nullptr;
}

DISTRIBUTE_INLINE void* cuda_symbol(void* library, const char* name) {
  return dlsym(library, name);
}

DISTRIBUTE_INLINE std::string load_cuda_functions(const CudaLibraryName& name,
                                                  const std::vector<CudaFunction>& functions) {
  std::string problem;
  void* library = open_cuda_library(name, problem);
  if (!library) return problem;
  for (const CudaFunction& function : functions) {
    *function.place = cuda_symbol(library, function.name);
    if (!*function.place && problem.empty())
      problem = str_cat(name.what, ": ", name.files[0], " is too old, it lacks ", function.name,
                        "; install ", name.package);
  }
  return problem;
}

DISTRIBUTE_INLINE std::string cuda_library_file(const void* function) {
  Dl_info info{};
  return dladdr(function, &info) && info.dli_fname ? info.dli_fname : "";
}

DISTRIBUTE_INLINE bool built_for_cuda() { return !device_internal::toolkit_folder().empty(); }

DISTRIBUTE_INLINE bool device_internal::offer_gpu_spans() {
  return monitoring::register_span_source({record_gpus, flush_gpu_spans});
}

}  // namespace distribute
#endif
