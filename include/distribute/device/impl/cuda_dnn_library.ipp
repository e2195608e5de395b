#pragma once
#if DISTRIBUTE_HAS_CUDNN
#include <distribute/base/process_state.hpp>
#include <distribute/device/detail/cuda_device.hpp>
#include <distribute/device/detail/cuda_dnn_library.hpp>
#include <distribute/device/detail/cuda_library.hpp>

#include <utility>

namespace distribute::cudnn_internal {

DISTRIBUTE_INLINE CudnnTable load_cudnn() {
  // cuDNN's engines open NVRTC themselves, which must then find its builtins: see
  // CudaLibraryName::companions. Without NVRTC such engines report an error.
  // CudaLibraryName::companions. Without NVRTC such engines say so.
  CudaCompiler compiler;
  load_cuda_compiler(compiler, cuda_driver_version());
  CudnnTable t;
  const std::string problem =
      load_cuda_functions({.what = "cuDNN",
                           .files = {"libcudnn.so.9"},
                           .package = "cuDNN 9 (cudnn9-cuda-13 or nvidia-cudnn-cu13)",
                           .folders = {"cudnn"}},
                          {{"cudnnGetVersion", t.get_version},
                           {"cudnnGetErrorString", t.get_error_string},
                           {"cudnnGetLastErrorString", t.get_last_error_string},
                           {"cudnnCreate", t.create},
                           {"cudnnDestroy", t.destroy},
                           {"cudnnSetStream", t.set_stream},
                           {"cudnnBackendCreateDescriptor", t.create_descriptor},
                           {"cudnnBackendDestroyDescriptor", t.destroy_descriptor},
                           {"cudnnBackendSetAttribute", t.set_attribute},
                           {"cudnnBackendGetAttribute", t.get_attribute},
                           {"cudnnBackendFinalize", t.finalize},
                           {"cudnnBackendExecute", t.execute},
                           {"cudnnCreateTensorDescriptor", t.create_tensor},
                           {"cudnnDestroyTensorDescriptor", t.destroy_tensor},
                           {"cudnnSetTensorNdDescriptor", t.set_tensor},
                           {"cudnnCreateDropoutDescriptor", t.create_dropout},
                           {"cudnnDestroyDropoutDescriptor", t.destroy_dropout},
                           {"cudnnSetDropoutDescriptor", t.set_dropout},
                           {"cudnnCreateRNNDescriptor", t.create_rnn},
                           {"cudnnDestroyRNNDescriptor", t.destroy_rnn},
                           {"cudnnSetRNNDescriptor_v8", t.set_rnn},
                           {"cudnnCreateRNNDataDescriptor", t.create_rnn_data},
                           {"cudnnDestroyRNNDataDescriptor", t.destroy_rnn_data},
                           {"cudnnSetRNNDataDescriptor", t.set_rnn_data},
                           {"cudnnGetRNNWeightSpaceSize", t.rnn_weight_bytes},
                           {"cudnnGetRNNWeightParams", t.rnn_weights},
                           {"cudnnGetRNNTempSpaceSizes", t.rnn_temp_bytes},
                           {"cudnnRNNForward", t.rnn_forward},
                           {"cudnnRNNBackwardData_v8", t.rnn_backward_data},
                           {"cudnnRNNBackwardWeights_v8", t.rnn_backward_weights}});
  if (!problem.empty()) throw UnavailableError(problem);
  if (t.get_version() < kOldestVersion)
    throw UnavailableError(str_cat("cuDNN ", kOldestVersion,
                                   " or later is needed, libcudnn.so.9 is ", t.get_version()));
  return t;
}

struct TestTable {
  const CudnnTable* table = nullptr;
};

/// The table that a test has set; null: the library's.
DISTRIBUTE_INLINE const CudnnTable*& cudnn_slot() { return in_process<TestTable>().table; }

DISTRIBUTE_INLINE ScopedCudnn::ScopedCudnn(const CudnnTable& table)
    : previous_(std::exchange(cudnn_slot(), new CudnnTable(table))) {}
// The table itself stays, as plans are found by its address.
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
