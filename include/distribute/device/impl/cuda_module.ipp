#pragma once
#if DISTRIBUTE_HAS_CUDA
#include <distribute/base/error.hpp>
#include <distribute/device/detail/cuda_device.hpp>
#include <distribute/device/detail/cuda_module.hpp>
#include <distribute/device/detail/cuda_state.hpp>
#include <distribute/device/detail/cuda_stream.hpp>
#include <distribute/device/detail/kernel_arguments.hpp>
#include <distribute/device/detail/kernel_files.hpp>

#include <algorithm>
#include <cstdio>
#include <vector>

namespace distribute {

namespace device_internal {

inline constexpr char kPrelude[] =
#include <distribute/device/kernels/prelude.cu.inc>
    ;

/// The name of an element type in kernel text.
DISTRIBUTE_INLINE const char* kernel_type(DType dtype) {
  switch (dtype) {
    case DType::Float32: return "float";
    case DType::BFloat16: return "bfloat16";
    case DType::Float16: return "float16";
    case DType::Int32: return "int32_t";
    case DType::Int64: return "int64_t";
    case DType::UInt8: return "uint8_t";
    case DType::Bool: return "bool";
  }
  return "float";
}

DISTRIBUTE_INLINE std::string compiler_log(const CudaCompiler& compiler, CudaHandle program) {
  size_t size = 0;
  if (compiler.nvrtcGetProgramLogSize(program, &size) != kCudaSuccess || size == 0) return {};
  std::string log(size, '\0');
  compiler.nvrtcGetProgramLog(program, log.data());
  return log.c_str();
}

/// A compiler's program that is destroyed with the object.
class CompilerProgram {
 public:
  CompilerProgram(const CudaCompiler& compiler, const std::string& text, const std::string& name)
      : compiler_(compiler) {
    check(compiler.nvrtcCreateProgram(&native_, text.c_str(), name.c_str(), 0, nullptr, nullptr),
          "nvrtcCreateProgram");
  }
  ~CompilerProgram() { compiler_.nvrtcDestroyProgram(&native_); }
  CompilerProgram(const CompilerProgram&) = delete;
  CompilerProgram& operator=(const CompilerProgram&) = delete;
  CudaHandle native() const { return native_; }
  void check(CudaResult result, const char* call) const {
    if (result != kCudaSuccess)
      throw InternalError(str_cat(call, ": ", compiler_.nvrtcGetErrorString(result)));
  }

 private:
  const CudaCompiler& compiler_;
  CudaHandle native_ = nullptr;
};

/// Gives machine code that is part of the program, if there is any.
DISTRIBUTE_INLINE std::string_view embedded_code(const std::string& file) {
  const auto kernels = gpu_state().embedded;
  const auto found = std::lower_bound(
      kernels.begin(), kernels.end(), file,
      [](const EmbeddedKernel& kernel, const std::string& name) { return kernel.name < name; });
  if (found == kernels.end() || found->name != file) return {};
  return {found->begin, size_t(found->end - found->begin)};
}

/// Gets machine code from the program, the disk or the compiler.
DISTRIBUTE_INLINE std::string code_of(const std::string& text, const std::string& name,
                                      int capability) {
  const std::string file = kernel_file(text, capability);
  if (const auto code = embedded_code(file); !code.empty()) return std::string(code);
  const std::string folder = gpu_state().keeps_kernels_on_disk ? kernel_folder() : std::string();
  if (folder.empty()) return compile_kernels(cuda_compiler(), text, name, capability);
  const std::string path = str_cat(folder, "/", file);
  std::string code = read_kernel(path);
  if (!code.empty()) return code;
  code = compile_kernels(cuda_compiler(), text, name, capability);
  keep_kernel(path, code);
  return code;
}

DISTRIBUTE_INLINE KernelKey kernel_key(CudaHandle context, const KernelName& kernel) {
  uint32_t types = 0;
  for (DType type : kernel.types) types = types * 16 + uint32_t(type);
  return {context,           kernel.body.data(), kernel.rows.data(),
          kernel.row.data(), kernel.function,    types};
}

/// Loads the module of a kernel; several functions may share it. Call it with the context's loading
/// mutex locked and no other one: the driver may wait for all work of the GPU, such as a collective
/// that waits for another GPU whose thread needs a kernel.
DISTRIBUTE_INLINE CudaHandle load_module(Device device, const KernelName& kernel) {
  GpuState& state = gpu_state();
  KernelName whole = kernel;
  whole.function = "";
  const KernelKey key = kernel_key(cuda_context(device), whole);
  {
    std::shared_lock lock(state.kernel_mutex);
    if (const auto found = state.modules.find(key); found != state.modules.end())
      return found->second;
  }
  const PhysicalGpu& gpu = gpu_info(device);
  const std::string name = str_cat(kernel.function, "_", kernel.row, ".cu");
  std::string code;
  {
    std::lock_guard lock(state.compile_mutex);  // meanwhile no thread waits for a GPU
    code = code_of(kernel_text(kernel), name, gpu.major * 10 + gpu.minor);
  }
  CudaHandle module = nullptr;
  check_cuda(cuda_driver().cuModuleLoadData(&module, code.data()), "cuModuleLoadData",
             str_cat(name, " on ", to_string(device)));
  std::lock_guard lock(state.kernel_mutex);
  return state.modules[key] = module;
}

DISTRIBUTE_INLINE CudaHandle known_kernel(GpuState& state, const KernelKey& key) {
  std::shared_lock lock(state.kernel_mutex);
  const auto found = state.kernels.find(key);
  return found == state.kernels.end() ? nullptr : found->second;
}

DISTRIBUTE_INLINE std::mutex& loading_mutex(GpuState& state, CudaHandle context) {
  std::lock_guard lock(state.kernel_mutex);
  return state.loading[context];
}

DISTRIBUTE_INLINE CudaHandle find_kernel(Device device, const KernelName& kernel) {
  GpuState& state = gpu_state();
  const CudaHandle context = cuda_context(device);
  const KernelKey key = kernel_key(context, kernel);
  if (const CudaHandle known = known_kernel(state, key)) return known;
  std::lock_guard loading(loading_mutex(state, context));
  if (const CudaHandle known = known_kernel(state, key)) return known;
  const CudaHandle module = load_module(device, kernel);
  CudaHandle function = nullptr;
  check_cuda(cuda_driver().cuModuleGetFunction(&function, module, kernel.function),
             "cuModuleGetFunction", str_cat(kernel.function, " on ", to_string(device)));
  std::lock_guard lock(state.kernel_mutex);
  return state.kernels[key] = function;
}

}  // namespace device_internal

DISTRIBUTE_INLINE std::string kernel_file(std::string_view text, int capability) {
  const uint64_t first = device_internal::hash_text(text, 0xcbf29ce484222325ull),
                 second = device_internal::hash_text(text, first);
  char file[64];
  std::snprintf(file, sizeof file, "%016llx%016llx.sm_%d", static_cast<unsigned long long>(first),
                static_cast<unsigned long long>(second), capability);
  return file;
}

DISTRIBUTE_INLINE std::string_view kernel_prelude() { return device_internal::kPrelude; }

DISTRIBUTE_INLINE std::string kernel_text(const KernelName& kernel) {
  std::string text = str_cat(kernel_prelude(), kernels::kArguments, "\n");
  for (size_t i = 0; i < kernel.types.size(); ++i)
    text += str_cat("#define T", i, " ", device_internal::kernel_type(kernel.types[i]), "\n");
  if (!kernel.row.empty()) text += str_cat("#define ROW ", kernel.row, "\n");
  return text + std::string(kernel.rows) + "\n" + std::string(kernel.body);
}

namespace device_internal {

/// The newest compute capability that the compiler makes machine code for.
DISTRIBUTE_INLINE int newest_capability(const CudaCompiler& compiler) {
  int count = 0;
  if (compiler.nvrtcGetNumSupportedArchs(&count) != kCudaSuccess || count <= 0) return 0;
  std::vector<int> all(static_cast<size_t>(count));
  if (compiler.nvrtcGetSupportedArchs(all.data()) != kCudaSuccess) return 0;
  return *std::max_element(all.begin(), all.end());
}

/// Gives the code that `size` and `read` return for a compiled program.
DISTRIBUTE_INLINE std::string compiled(const CompilerProgram& program,
                                       CudaResult (*size)(CudaHandle, size_t*),
                                       CudaResult (*read)(CudaHandle, char*), const char* what) {
  size_t bytes = 0;
  program.check(size(program.native(), &bytes), what);
  std::string code(bytes, '\0');
  program.check(read(program.native(), code.data()), what);
  return code;
}

}  // namespace device_internal

DISTRIBUTE_INLINE std::string compile_kernels(const CudaCompiler& compiler, std::string_view text,
                                              const std::string& name, int capability) {
  const device_internal::CompilerProgram program(compiler, std::string(text), name);
  const int newest = device_internal::newest_capability(compiler);
  const bool is_newer = newest > 0 && capability > newest;
  const std::string architecture =
      str_cat("--gpu-architecture=", is_newer ? "compute_" : "sm_", is_newer ? newest : capability);
  const char* const options[] = {architecture.c_str(), "--std=c++20", "-default-device"};
  const CudaResult result =
      compiler.nvrtcCompileProgram(program.native(), int(std::size(options)), options);
  if (result != kCudaSuccess)
    throw InternalError(str_cat("NVRTC cannot compile ", name, " for ", architecture, ": ",
                                compiler.nvrtcGetErrorString(result), "\n",
                                device_internal::compiler_log(compiler, program.native())));
  if (is_newer)
    return device_internal::compiled(program, compiler.nvrtcGetPTXSize, compiler.nvrtcGetPTX,
                                     "nvrtcGetPTX");
  return device_internal::compiled(program, compiler.nvrtcGetCUBINSize, compiler.nvrtcGetCUBIN,
                                   "nvrtcGetCUBIN");
}

DISTRIBUTE_INLINE LaunchShape launch_for(int64_t count, int64_t per_thread) {
  constexpr int64_t kBlock = 256, kMostBlocks = 4096;
  const int64_t threads = (count + per_thread - 1) / per_thread;
  LaunchShape shape;
  shape.block = kBlock;
  shape.grid_x = unsigned(std::clamp<int64_t>((threads + kBlock - 1) / kBlock, 1, kMostBlocks));
  return shape;
}

DISTRIBUTE_INLINE void launch_kernel_untyped(Device device, const KernelName& kernel,
                                             const LaunchShape& shape, const void* arguments) {
  const CudaHandle stream = current_stream(device).native();
  const GpuGuard guard(device);
  const CudaHandle function = device_internal::find_kernel(device, kernel);
  void* parameters[] = {const_cast<void*>(arguments)};
  const CudaResult result =
      cuda_driver().cuLaunchKernel(function, shape.grid_x, shape.grid_y, shape.grid_z, shape.block,
                                   1, 1, 0, stream, parameters, nullptr);
  if (result != kCudaSuccess)
    check_cuda(result, "cuLaunchKernel",
               str_cat(kernel.function, kernel.row.empty() ? "" : "<", kernel.row,
                       kernel.row.empty() ? "" : ">", " with ", shape.grid_x, " x ", shape.grid_y,
                       " x ", shape.grid_z, " blocks of ", shape.block, " on ", to_string(device)));
}

}  // namespace distribute
#endif
