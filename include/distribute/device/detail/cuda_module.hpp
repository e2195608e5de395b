#pragma once
/// Kernels: text that NVRTC compiles for the GPU at hand. The machine code is cached in memory and
/// on disk.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/cuda_driver.hpp>
#include <distribute/device/device_spec.hpp>
#include <distribute/device/dtype.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace distribute {

/// The kernel text that precedes every other text: types, conversions, mathematics.
std::string_view kernel_prelude();

/// Compiles a whole text for a compute capability such as 90. For a GPU that is newer than the
/// compiler the result is PTX of the newest capability that it knows, which the driver turns into
/// machine code. Needs no GPU.
/// Throws  InternalError with the compiler's message.
std::string compile_kernels(const CudaCompiler& compiler, std::string_view text,
                            const std::string& name, int capability);

/// The name of the file with a text's machine code, in the cache and in programs that contain it: a
/// hash of the text, then ".sm_90".
std::string kernel_file(std::string_view text, int capability);

/// Grid and block of a launch.
struct LaunchShape {
  unsigned grid_x = 1, grid_y = 1, grid_z = 1;
  unsigned block = 256;
};

/// Gives enough blocks for `count` elements, up to a limit; kernels loop over the remaining
/// elements.
LaunchShape launch_for(int64_t count, int64_t per_thread = 1);

/// Names a kernel in a text, and the types that the text is compiled for. All text is in static
/// storage: its address is part of the cache's key.
struct KernelName {
  std::string_view body = {};  // the text with the kernel; it may use ROW, T0, T1 and T2
  const char* function = "";
  std::string_view rows = {};       // text in front of the body, with structures it may name
  std::string_view row = {};        // the text that replaces ROW
  std::array<DType, 3> types = {};  // the types that replace T0, T1 and T2
};

/// Launches a kernel on the current stream of `device`, and compiles it at first use. Every kernel
/// takes one structure by value; `arguments` points to it.
/// Throws  FailedPreconditionError without a compiler, InternalError with the compiler's or
///         driver's message.
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
