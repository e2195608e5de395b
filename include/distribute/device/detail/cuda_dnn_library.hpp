#pragma once
/// The functions of libcudnn, loaded at first use: nothing links cuDNN.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>

#include <string>

#include <cudnn_adv.h>
#include <cudnn_graph.h>

namespace distribute::cudnn_internal {

/// The oldest version that has CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, which plans need.
inline constexpr size_t kOldestVersion = 90800;

/// One pointer for each function used. Tests replace them.
struct CudnnTable {
  decltype(&cudnnGetVersion) get_version = nullptr;
  decltype(&cudnnGetErrorString) get_error_string = nullptr;
  decltype(&cudnnGetLastErrorString) get_last_error_string = nullptr;
  decltype(&cudnnCreate) create = nullptr;
  decltype(&cudnnDestroy) destroy = nullptr;
  decltype(&cudnnSetStream) set_stream = nullptr;
  decltype(&cudnnBackendCreateDescriptor) create_descriptor = nullptr;
  decltype(&cudnnBackendDestroyDescriptor) destroy_descriptor = nullptr;
  decltype(&cudnnBackendSetAttribute) set_attribute = nullptr;
  decltype(&cudnnBackendGetAttribute) get_attribute = nullptr;
  decltype(&cudnnBackendFinalize) finalize = nullptr;
  decltype(&cudnnBackendExecute) execute = nullptr;
  // Recurrent layers, which graphs do not have.
  decltype(&cudnnCreateTensorDescriptor) create_tensor = nullptr;
  decltype(&cudnnDestroyTensorDescriptor) destroy_tensor = nullptr;
  decltype(&cudnnSetTensorNdDescriptor) set_tensor = nullptr;
  decltype(&cudnnCreateDropoutDescriptor) create_dropout = nullptr;
  decltype(&cudnnDestroyDropoutDescriptor) destroy_dropout = nullptr;
  decltype(&cudnnSetDropoutDescriptor) set_dropout = nullptr;
  decltype(&cudnnCreateRNNDescriptor) create_rnn = nullptr;
  decltype(&cudnnDestroyRNNDescriptor) destroy_rnn = nullptr;
  decltype(&cudnnSetRNNDescriptor_v8) set_rnn = nullptr;
  decltype(&cudnnCreateRNNDataDescriptor) create_rnn_data = nullptr;
  decltype(&cudnnDestroyRNNDataDescriptor) destroy_rnn_data = nullptr;
  decltype(&cudnnSetRNNDataDescriptor) set_rnn_data = nullptr;
  decltype(&cudnnGetRNNWeightSpaceSize) rnn_weight_bytes = nullptr;
  decltype(&cudnnGetRNNWeightParams) rnn_weights = nullptr;
  decltype(&cudnnGetRNNTempSpaceSizes) rnn_temp_bytes = nullptr;
  decltype(&cudnnRNNForward) rnn_forward = nullptr;
  decltype(&cudnnRNNBackwardData_v8) rnn_backward_data = nullptr;
  decltype(&cudnnRNNBackwardWeights_v8) rnn_backward_weights = nullptr;
};

/// The loaded table. Thread-safe.
/// Throws  UnavailableError that names library and package when there is none or it is too old.
const CudnnTable& cudnn();

/// During tests, this table replaces cuDNN for the life of the object. Not thread-safe.
class [[nodiscard]] ScopedCudnn {
 public:
  explicit ScopedCudnn(const CudnnTable& table);
  ~ScopedCudnn();
  ScopedCudnn(const ScopedCudnn&) = delete;
  ScopedCudnn& operator=(const ScopedCudnn&) = delete;

 private:
  const CudnnTable* previous_;
};

/// Formats an error as "cudnnBackendFinalize of a plan: NOT_SUPPORTED: what cuDNN said last".
std::string describe(cudnnStatus_t status, const std::string& call);

/// Checks the status of a call.
/// Throws  InvalidArgumentError, UnimplementedError or InternalError unless it is a success.
void check_cudnn(cudnnStatus_t status, const std::string& call);

}  // namespace distribute::cudnn_internal
