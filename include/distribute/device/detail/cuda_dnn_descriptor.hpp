#pragma once
/// Owner of one descriptor of cuDNN's backend API.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/cuda_dnn_library.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <cudnn_graph.h>

namespace distribute::cudnn_internal {

/// Attributes are set, then the descriptor is finalised and does not change any more. Moved-from is
/// empty. Thread-compatible.
class CudnnDescriptor {
 public:
  explicit CudnnDescriptor(cudnnBackendDescriptorType_t type);
  CudnnDescriptor(std::nullptr_t) = delete;
  CudnnDescriptor(int) = delete;
  CudnnDescriptor(CudnnDescriptor&& other) noexcept : native_(other.release()) {}
  CudnnDescriptor& operator=(CudnnDescriptor&& other) noexcept {
    std::swap(native_, other.native_);
    return *this;
  }
  ~CudnnDescriptor();

  cudnnBackendDescriptor_t native() const { return native_; }
  cudnnBackendDescriptor_t release() { return std::exchange(native_, nullptr); }

  CudnnDescriptor& set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                       int64_t count, const void* values);
  CudnnDescriptor& set(cudnnBackendAttributeName_t name, int64_t value);
  CudnnDescriptor& set(cudnnBackendAttributeName_t name, std::span<const int64_t> values);
  CudnnDescriptor& set(cudnnBackendAttributeName_t name, bool value);
  CudnnDescriptor& set(cudnnBackendAttributeName_t name, float value);
  CudnnDescriptor& set(cudnnBackendAttributeName_t name, double value);
  CudnnDescriptor& set(cudnnBackendAttributeName_t name, cudnnDataType_t value);
  CudnnDescriptor& set(cudnnBackendAttributeName_t name, const CudnnDescriptor& value);
  CudnnDescriptor& set(cudnnBackendAttributeName_t name, const std::string& text);
  CudnnDescriptor& set(cudnnBackendAttributeName_t name,
                       std::span<const cudnnBackendDescriptor_t> values);

  /// Throws  as check_cudnn; `what` says what was being made.
  CudnnDescriptor& finalize(const std::string& what);
  /// For engines and plans, where "not supported" is an answer.
  cudnnStatus_t try_finalize();

  int64_t get_int64(cudnnBackendAttributeName_t name) const;
  std::string get_text(cudnnBackendAttributeName_t name) const;
  /// All values of a list of enumerators.
  std::vector<int> get_enumerators(cudnnBackendAttributeName_t name,
                                   cudnnBackendAttributeType_t type) const;

 private:
  cudnnBackendDescriptor_t native_ = nullptr;
};

}  // namespace distribute::cudnn_internal
