#pragma once
/// Opens the libraries of CUDA at run time: nothing of them is linked, and a missing one is a
/// message, not a program that does not start.

#include <distribute/base/config.hpp>

#include <string>
#include <vector>

namespace distribute {

/// How a library is called and where it comes from.
struct CudaLibraryName {
  const char* what = "";                  // "cuDNN"
  std::vector<const char*> files;         // tried in this order, such as "libcudnn.so.9"
  const char* package = "";               // what to install when there is none
  std::vector<const char*> folders = {};  // of NVIDIA's Python packages: "cudnn", below nvidia/
  /// The beginning of file names that this library opens by itself without saying where they are,
  /// such as "libnvrtc-builtins.so.": those in its own folder are opened before it.
  const char* companions = "";
};

/// The files of `newest_first` that a driver of this version can run, such as 12080 for CUDA 12.8:
/// what belongs to a later major version of CUDA, "libnvrtc.so.13", is left out. 0: no driver, all.
std::vector<const char*> files_for_driver(std::vector<const char*> newest_first, int driver);

/// Opens the first file that is found in: the folders of DISTRIBUTE_CUDA_LIBRARY_PATH (separated by
/// colons; of a Python's site-packages, the nvidia/<folder>/lib inside), the loader's own path, the
/// toolkit that the build found. Never closed. Null when there is none; `problem` then tells what
/// was looked for and which package brings it.
void* open_cuda_library(const CudaLibraryName& name, std::string& problem);

/// The file that an opened library came from, by one of its functions; empty when it is not known.
std::string cuda_library_file(const void* function);

/// The address of a function, null when the library lacks it.
void* cuda_symbol(void* library, const char* name);

/// A function by its exported name, and the pointer for it.
struct CudaFunction {
  template <typename Function>
  CudaFunction(const char* exported, Function*& pointer)
      : name(exported), place(reinterpret_cast<void**>(&pointer)) {}
  const char* name;
  void** place;
};

/// Opens a library and fills the pointers.
/// Returns  an empty string, or what is missing and how to get it; the pointers are then unusable.
std::string load_cuda_functions(const CudaLibraryName& name,
                                const std::vector<CudaFunction>& functions);

/// True when the build found a CUDA toolkit, so that its user expects a GPU.
bool built_for_cuda();

/// What stubs say in builds without GPUs.
inline constexpr char kWithoutGpus[] =
    "this build has no GPU support (with CMake DISTRIBUTE_CUDA=OFF, elsewhere "
    "-DDISTRIBUTE_HAS_CUDA=1 is missing)";

}  // namespace distribute
