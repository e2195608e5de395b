#pragma once
#if DISTRIBUTE_HAS_CUDNN
#include <distribute/device/detail/cuda_device.hpp>
#include <distribute/device/detail/cuda_dnn_library.hpp>
#include <distribute/device/detail/cuda_library.hpp>

#include <type_traits>
#include <utility>

namespace distribute::cudnn_internal {

DISTRIBUTE_INLINE CudnnTable load_cudnn() {
  std::string problem;
  // Its engines open NVRTC by themselves, which then has to find its builtins: see
  // CudaLibraryName::companions. Without NVRTC such engines say so.
  CudaCompiler compiler;
  load_cuda_compiler(compiler, cuda_driver_version());
  void* library = open_cuda_library({.what = "cuDNN",
                                     .files = {"libcudnn.so.9"},
                                     .package = "cuDNN 9 (cudnn9-cuda-13 or nvidia-cudnn-cu13)",
                                     .folders = {"cudnn"}},
                                    problem);
  if (!library) throw UnavailableError(problem);
  CudnnTable t;
  const auto load = [&](auto& function, const char* name) {
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(cuda_symbol(library, name));
    if (!function) throw UnavailableError(str_cat("libcudnn.so.9 has no function ", name));
  };
  load(t.get_version, "cudnnGetVersion");
  load(t.get_error_string, "cudnnGetErrorString");
  load(t.get_last_error_string, "cudnnGetLastErrorString");
  load(t.create, "cudnnCreate");
  load(t.destroy, "cudnnDestroy");
  load(t.set_stream, "cudnnSetStream");
  load(t.create_descriptor, "cudnnBackendCreateDescriptor");
  load(t.destroy_descriptor, "cudnnBackendDestroyDescriptor");
  load(t.set_attribute, "cudnnBackendSetAttribute");
  load(t.get_attribute, "cudnnBackendGetAttribute");
  load(t.finalize, "cudnnBackendFinalize");
  load(t.execute, "cudnnBackendExecute");
  load(t.create_tensor, "cudnnCreateTensorDescriptor");
  load(t.destroy_tensor, "cudnnDestroyTensorDescriptor");
  load(t.set_tensor, "cudnnSetTensorNdDescriptor");
  load(t.create_dropout, "cudnnCreateDropoutDescriptor");
  load(t.destroy_dropout, "cudnnDestroyDropoutDescriptor");
  load(t.set_dropout, "cudnnSetDropoutDescriptor");
  load(t.create_rnn, "cudnnCreateRNNDescriptor");
  load(t.destroy_rnn, "cudnnDestroyRNNDescriptor");
  load(t.set_rnn, "cudnnSetRNNDescriptor_v8");
  load(t.create_rnn_data, "cudnnCreateRNNDataDescriptor");
  load(t.destroy_rnn_data, "cudnnDestroyRNNDataDescriptor");
  load(t.set_rnn_data, "cudnnSetRNNDataDescriptor");
  load(t.rnn_weight_bytes, "cudnnGetRNNWeightSpaceSize");
  load(t.rnn_weights, "cudnnGetRNNWeightParams");
  load(t.rnn_temp_bytes, "cudnnGetRNNTempSpaceSizes");
  load(t.rnn_forward, "cudnnRNNForward");
  load(t.rnn_backward_data, "cudnnRNNBackwardData_v8");
  load(t.rnn_backward_weights, "cudnnRNNBackwardWeights_v8");
  if (t.get_version() < kOldestVersion)
    throw UnavailableError(str_cat("cuDNN ", kOldestVersion,
                                   " or later is needed, libcudnn.so.9 is ", t.get_version()));
  return t;
}

/// The table of a test; null: the library's.
DISTRIBUTE_INLINE const CudnnTable*& cudnn_slot() {
  static const CudnnTable* table = nullptr;
  return table;
}

DISTRIBUTE_INLINE ScopedCudnn::ScopedCudnn(const CudnnTable& table)
    : previous_(std::exchange(cudnn_slot(), new CudnnTable(table))) {}
// The table stays: plans are kept by its address.
DISTRIBUTE_INLINE ScopedCudnn::~ScopedCudnn() { cudnn_slot() = previous_; }

DISTRIBUTE_INLINE const CudnnTable& cudnn() {
  if (const CudnnTable* scoped = cudnn_slot()) return *scoped;
  static const CudnnTable table = load_cudnn();
  return table;
}

DISTRIBUTE_INLINE std::string describe(cudnnStatus_t status, const std::string& call) {
  char last[512] = "";
  cudnn().get_last_error_string(last, sizeof last);
  return str_cat(call, ": ", cudnn().get_error_string(status), *last ? ": " : "", last);
}

DISTRIBUTE_INLINE void check_cudnn(cudnnStatus_t status, const std::string& call) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  const std::string message = describe(status, call);
  if (status >= 2000 && status < 3000) throw InvalidArgumentError(message);
  if (status >= 3000 && status < 4000) throw UnimplementedError(message);
  throw InternalError(message);
}

}  // namespace distribute::cudnn_internal
#endif
