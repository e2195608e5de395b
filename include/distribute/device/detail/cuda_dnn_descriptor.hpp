#pragma once
/// Owner of one descriptor of cuDNN's backend API.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/cuda_dnn_library.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <cudnn_graph.h>

namespace distribute::cudnn_internal {

/// How cuDNN calls the type of an attribute's values.
template <typename T>
inline constexpr auto kCudnnType = nullptr;
template <>
inline constexpr auto kCudnnType<int64_t> = CUDNN_TYPE_INT64;
template <>
inline constexpr auto kCudnnType<bool> = CUDNN_TYPE_BOOLEAN;
template <>
inline constexpr auto kCudnnType<float> = CUDNN_TYPE_FLOAT;
template <>
inline constexpr auto kCudnnType<double> = CUDNN_TYPE_DOUBLE;
template <>
inline constexpr auto kCudnnType<cudnnDataType_t> = CUDNN_TYPE_DATA_TYPE;
template <>
inline constexpr auto kCudnnType<cudnnBackendDescriptor_t> = CUDNN_TYPE_BACKEND_DESCRIPTOR;

template <typename T>
concept CudnnScalar = !std::is_null_pointer_v<std::remove_cv_t<decltype(kCudnnType<T>)>>;

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
  template <CudnnScalar T>
  CudnnDescriptor& set(cudnnBackendAttributeName_t name, T value) {
    return set(name, kCudnnType<T>, 1, &value);
  }
  template <CudnnScalar T>
  CudnnDescriptor& set(cudnnBackendAttributeName_t name, std::span<const T> values) {
    return set(name, kCudnnType<T>, int64_t(values.size()), values.data());
  }
  CudnnDescriptor& set(cudnnBackendAttributeName_t name, const CudnnDescriptor& value) {
    return set(name, value.native_);
  }
  CudnnDescriptor& set(cudnnBackendAttributeName_t name, const std::string& text) {
    return set(name, CUDNN_TYPE_CHAR, int64_t(text.size()), text.data());
  }

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
  template <typename T>
  std::vector<T> get_all(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type) const;

  cudnnBackendDescriptor_t native_ = nullptr;
};

}  // namespace distribute::cudnn_internal
