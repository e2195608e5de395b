#pragma once
/// cuDNN's descriptors of a recurrent layer, which differ from those of its graphs.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/cuda_dnn_library.hpp>
#include <distribute/device/detail/cuda_dnn_recurrent.hpp>

#include <type_traits>
#include <utility>

#include <cudnn_adv.h>

namespace distribute::cudnn_internal {

/// The functions that make and destroy a descriptor of a type.
template <typename Handle>
auto rnn_functions(const CudnnTable& t) {
  if constexpr (std::is_same_v<Handle, cudnnRNNDescriptor_t>)
    return std::pair(t.create_rnn, t.destroy_rnn);
  else if constexpr (std::is_same_v<Handle, cudnnRNNDataDescriptor_t>)
    return std::pair(t.create_rnn_data, t.destroy_rnn_data);
  else if constexpr (std::is_same_v<Handle, cudnnDropoutDescriptor_t>)
    return std::pair(t.create_dropout, t.destroy_dropout);
  else
    return std::pair(t.create_tensor, t.destroy_tensor);
}

/// Owns a descriptor; neither copied nor moved.
template <typename Handle>
class RnnHandle {
 public:
  RnnHandle() {
    check_cudnn(rnn_functions<Handle>(cudnn()).first(&native_), "cudnnCreate of a descriptor");
  }
  ~RnnHandle() { (void)rnn_functions<Handle>(cudnn()).second(native_); }
  RnnHandle(const RnnHandle&) = delete;
  RnnHandle& operator=(const RnnHandle&) = delete;
  Handle native() const { return native_; }

 private:
  Handle native_ = nullptr;
};

/// cuDNN's descriptors of one layer and of the sequences that go through it.
struct RnnDescriptors {
  /// Throws  UnimplementedError or InvalidArgumentError when cuDNN does not take the shape.
  RnnDescriptors(const CudnnRecurrentShape& shape, cudnnHandle_t handle);
  RnnHandle<cudnnDropoutDescriptor_t> dropout;
  RnnHandle<cudnnRNNDescriptor_t> rnn;
  RnnHandle<cudnnRNNDataDescriptor_t> x, y;
  RnnHandle<cudnnTensorDescriptor_t> state;  // [1, batch, units]
};

/// Checks the offsets of all weights.
/// Throws  UnimplementedError unless they are those of CudnnWeights.
void check_cudnn_weights(const CudnnRecurrentShape& shape, cudnnHandle_t handle,
                         const RnnDescriptors& descriptors);

}  // namespace distribute::cudnn_internal
