#pragma once
#if DISTRIBUTE_HAS_CUDNN
#include <distribute/device/detail/cuda_dnn_graph.hpp>

#include <algorithm>

namespace distribute::cudnn_internal {

DISTRIBUTE_INLINE CudnnDescriptor::CudnnDescriptor(cudnnBackendDescriptorType_t type) {
  check_cudnn(cudnn().create_descriptor(type, &native_),
              str_cat("cudnnBackendCreateDescriptor of type ", int(type)));
}

DISTRIBUTE_INLINE CudnnDescriptor::~CudnnDescriptor() {
  if (native_) cudnn().destroy_descriptor(native_);
}

DISTRIBUTE_INLINE CudnnDescriptor& CudnnDescriptor::set(cudnnBackendAttributeName_t name,
                                                        cudnnBackendAttributeType_t type,
                                                        int64_t count, const void* values) {
  check_cudnn(cudnn().set_attribute(native_, name, type, count, values),
              str_cat("cudnnBackendSetAttribute ", int(name)));
  return *this;
}

DISTRIBUTE_INLINE CudnnDescriptor& CudnnDescriptor::finalize(const std::string& what) {
  check_cudnn(try_finalize(), str_cat("cudnnBackendFinalize of ", what));
  return *this;
}

DISTRIBUTE_INLINE cudnnStatus_t CudnnDescriptor::try_finalize() {
  return cudnn().finalize(native_);
}

DISTRIBUTE_INLINE int64_t CudnnDescriptor::get_int64(cudnnBackendAttributeName_t name) const {
  int64_t value = 0, count = 0;
  check_cudnn(cudnn().get_attribute(native_, name, CUDNN_TYPE_INT64, 1, &count, &value),
              str_cat("cudnnBackendGetAttribute ", int(name)));
  return value;
}

template <typename T>
std::vector<T> CudnnDescriptor::get_all(cudnnBackendAttributeName_t name,
                                        cudnnBackendAttributeType_t type) const {
  int64_t count = 0;
  const std::string call = str_cat("cudnnBackendGetAttribute ", int(name));
  check_cudnn(cudnn().get_attribute(native_, name, type, 0, &count, nullptr), call);
  std::vector<T> values(static_cast<size_t>(count));
  if (count)
    check_cudnn(cudnn().get_attribute(native_, name, type, count, &count, values.data()), call);
  values.resize(static_cast<size_t>(count));
  return values;
}

DISTRIBUTE_INLINE std::string CudnnDescriptor::get_text(cudnnBackendAttributeName_t name) const {
  const std::vector<char> text = get_all<char>(name, CUDNN_TYPE_CHAR);
  return std::string(text.begin(), std::find(text.begin(), text.end(), '\0'));
}

DISTRIBUTE_INLINE std::vector<int> CudnnDescriptor::get_enumerators(
    cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type) const {
  return get_all<int>(name, type);
}

}  // namespace distribute::cudnn_internal
#endif
