#pragma once
/// The recurrent layers of a fake cuDNN: loops over the steps on the host, in double. Weights lie
/// as cuDNN 9.19 has them; `moved_weights` shifts them, as another version might. Reserves are used
/// up by the way back, as cuDNN's are.

#if DISTRIBUTE_HAS_CUDNN

#include <distribute/device/detail/cuda_dnn_library.hpp>

#include <functional>

namespace distribute::testing {

class FakeRnn {
 public:
  static inline int forward_calls = 0, backward_calls = 0, alive = 0;
  static inline bool moved_weights = false;
  /// The stream of the handle, which the owner of the table keeps.
  static inline std::function<cudaStream_t()> stream;

  static void fill(cudnn_internal::CudnnTable& t);
};

}  // namespace distribute::testing

#endif
