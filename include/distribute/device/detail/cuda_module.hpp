#pragma once
/// Kernels: text compiled by NVRTC for the GPU at hand, cached in memory and on disk, launched.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/cuda_driver.hpp>
#include <distribute/device/device_spec.hpp>
#include <distribute/device/dtype.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace distribute {

/// The kernel text that is put before every other: types, conversions, mathematics.
std::string_view kernel_prelude();

/// Machine code of a whole text for a compute capability such as 90; for a GPU that is newer than
/// the compiler, PTX of the newest that it knows, which the driver makes machine code of. Needs no
/// GPU.
/// Throws  InternalError with the compiler's words.
std::string compile_kernels(const CudaCompiler& compiler, std::string_view text,
                            const std::string& name, int capability);

/// What the file of a text's machine code is called, in the cache and in programs that contain it:
/// a hash of the text, then ".sm_90".
std::string kernel_file(std::string_view text, int capability);

/// Grid and block of a launch.
struct LaunchShape {
  unsigned grid_x = 1, grid_y = 1, grid_z = 1;
  unsigned block = 256;
};

/// Enough blocks for `count` threads of one element, limited: kernels stride over the rest.
LaunchShape launch_for(int64_t count, int64_t per_thread = 1);

/// A kernel inside a text, and what the text is to be compiled for. All text is in static storage:
/// its address is part of the cache's key.
struct KernelName {
  std::string_view body = {};  // the text with the kernel; it may use ROW, T0, T1 and T2
  const char* function = "";
  std::string_view rows = {};       // text put before the body: structures it may name
  std::string_view row = {};        // what ROW becomes
  std::array<DType, 3> types = {};  // what T0, T1 and T2 become
};

/// Launches on the current stream of `device`, compiling at first use. Every kernel takes ONE
/// structure by value: `arguments` points to it.
/// Throws  FailedPreconditionError without a compiler, InternalError with compiler's or driver's
///         words.
void launch_kernel_untyped(Device device, const KernelName& kernel, const LaunchShape& shape,
                           const void* arguments);

template <typename Arguments>
void launch_kernel(Device device, const KernelName& kernel, const LaunchShape& shape,
                   const Arguments& arguments) {  // queues a kernel on a stream
  static_assert(sizeof(Arguments) <= 4096, "the parameters of a kernel have 4 KiB");
  launch_kernel_untyped(device, kernel, shape, &arguments);
}

/// The whole text that a kernel is compiled from.
std::string kernel_text(const KernelName& kernel);

}  // namespace distribute
