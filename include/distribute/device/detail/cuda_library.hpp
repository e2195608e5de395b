#pragma once
/// Opens CUDA's libraries at run time. Programs do not link them; a missing one gives a message,
/// and the program still starts.

#include <distribute/base/config.hpp>

#include <string>
#include <vector>

namespace distribute {

/// The file names of a library and the packages that have it.
struct CudaLibraryName {
  const char* what = "";           // "cuDNN"
  std::vector<const char*> files;  // tried in this order, such as "libcudnn.so.9"
  const char* package = "";        // what to install when no file is found
  /// of NVIDIA's Python packages, below nvidia/, such as "cudnn"
  std::vector<const char*> folders = {};
  /// The beginning of the names of files that this library opens by name alone, such as
  /// "libnvrtc-builtins.so.". Those in the library's own folder are opened before it.
  const char* companions = "";
};

/// Gives the files of `newest_first` that a driver of this version, such as 12080 for CUDA 12.8,
/// can run. Files of a later major version of CUDA, such as "libnvrtc.so.13", are left out. Without
/// a driver (0) all files are given.
std::vector<const char*> files_for_driver(std::vector<const char*> newest_first, int driver);

/// Opens the first file found in these places: the folders of DISTRIBUTE_CUDA_LIBRARY_PATH
/// (separated by colons; for a Python's site-packages the nvidia/<folder>/lib inside), the loader's
/// own path, the toolkit that the build found. The library is never closed. The result is null when
/// no file is found; `problem` then says where it looked and which package has the library.
void* open_cuda_library(const CudaLibraryName& name, std::string& problem);

/// The file that an opened library came from, found by one of its functions; empty when unknown.
std::string cuda_library_file(const void* function);

/// The address of a function; null when the library lacks it.
void* cuda_symbol(void* library, const char* name);

/// The exported name of a function, and the pointer to fill.
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

/// True when the build found a CUDA toolkit, so that a GPU is expected.
bool built_for_cuda();

/// The reason that builds without GPUs give.
inline constexpr char kWithoutGpus[] =
    "this build has no GPU support (with CMake DISTRIBUTE_CUDA=OFF, elsewhere "
    "-DDISTRIBUTE_HAS_CUDA=1 is missing)";

}  // namespace distribute
