#pragma once
#include <distribute/base/error.hpp>
#include <distribute/saved_model/detail/graph_kernels.hpp>

namespace distribute::saved_model_internal {

DISTRIBUTE_INLINE const GraphValue& KernelCall::value(size_t i) const {
  if (i >= inputs_.size())
    throw InvalidArgumentError(str_cat("node '", node_.name, "' (", node_.op, ") has ",
                                       inputs_.size(), " inputs, input ", i, " is missing"));
  return inputs_[i];
}

DISTRIBUTE_INLINE const Tensor& KernelCall::tensor(size_t i) const {
  const Tensor& tensor = value(i).tensor;
  if (!tensor)
    throw InvalidArgumentError(
        str_cat("node '", node_.name, "' (", node_.op, "): input ", i, " is no tensor"));
  return tensor;
}

DISTRIBUTE_INLINE std::vector<Tensor> KernelCall::tensors(size_t begin, size_t end) const {
  std::vector<Tensor> all;
  for (size_t i = begin; i < end; ++i) all.push_back(tensor(i));
  return all;
}

DISTRIBUTE_INLINE std::vector<int64_t> KernelCall::integers(size_t i) const {
  const Tensor& x = tensor(i);
  if (x.dtype() == DType::Int32) return {x.data<int32_t>().begin(), x.data<int32_t>().end()};
  if (x.dtype() == DType::Int64) return {x.data<int64_t>().begin(), x.data<int64_t>().end()};
  refuse(str_cat("input ", i, " is ", name_of(x.dtype()), ", not int32 or int64"));
}

DISTRIBUTE_INLINE int64_t KernelCall::integer(size_t i) const {
  const auto all = integers(i);
  if (all.size() != 1) refuse(str_cat("input ", i, " has ", all.size(), " elements, not one"));
  return all[0];
}

DISTRIBUTE_INLINE const NodeAttribute* KernelCall::attribute(const char* key) const {
  const auto found = node_.attributes.find(key);
  return found == node_.attributes.end() ? nullptr : &found->second;
}
DISTRIBUTE_INLINE int64_t KernelCall::attribute_or(const char* key, int64_t otherwise) const {
  const NodeAttribute* found = attribute(key);
  return found ? found->integer : otherwise;
}
DISTRIBUTE_INLINE float KernelCall::real_or(const char* key, float otherwise) const {
  const NodeAttribute* found = attribute(key);
  return found ? found->real : otherwise;
}
DISTRIBUTE_INLINE bool KernelCall::flag_or(const char* key, bool otherwise) const {
  const NodeAttribute* found = attribute(key);
  return found ? found->truth : otherwise;
}
DISTRIBUTE_INLINE std::string KernelCall::text_or(const char* key,
                                                  const std::string& otherwise) const {
  const NodeAttribute* found = attribute(key);
  return found ? found->text : otherwise;
}
DISTRIBUTE_INLINE std::vector<int64_t> KernelCall::list(const char* key) const {
  const NodeAttribute* found = attribute(key);
  return found ? found->integers : std::vector<int64_t>();
}
DISTRIBUTE_INLINE DType KernelCall::dtype_or(const char* key, DType otherwise) const {
  const NodeAttribute* found = attribute(key);
  return found ? tensor_dtype(found->type, str_cat("node '", node_.name, "'")) : otherwise;
}

DISTRIBUTE_INLINE void KernelCall::refuse(const std::string& reason) const {
  throw UnimplementedError(str_cat("node '", node_.name, "' (", node_.op, "): ", reason));
}

DISTRIBUTE_INLINE const Kernel* find_kernel(const std::string& op) {
  for (const Kernels* kernels :
       {&math_kernels(), &array_kernels(), &image_kernels(), &list_kernels()})
    if (const auto found = kernels->find(op); found != kernels->end()) return &found->second;
  return nullptr;
}

}  // namespace distribute::saved_model_internal
