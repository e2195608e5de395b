#pragma once
/// A cuDNN that interprets graphs of convolutions, norms, products, reductions and pointwise
/// functions with host loops, for the fake GPU. One engine for every graph; unknown nodes have
/// none. Only in builds with cuDNN's headers.

#if DISTRIBUTE_HAS_CUDNN

#include <distribute/device/detail/cuda_dnn_library.hpp>

#include "fake_rnn.hpp"

#include <atomic>

namespace distribute::testing {

class FakeCudnn {
 public:
  // Several replicas call it at the same time.
  static inline std::atomic<int> alive = 0, plans = 0, executed = 0;
  static inline bool has_norm_backward = true;
  static inline bool adds_gradients = true;  // engines of a norm's way back for dy in two parts
  static inline bool has_attention = true;
  static inline bool has_passes = true;       // sums over channels and what is made of them
  static inline bool has_statistics = true;   // convolutions that sum over channels
  static inline bool has_scaling = true;      // functions of pointwise operations alone
  static inline bool compiler_fails = false;  // of engines that compile when the plan is made
  static inline thread_local cudaStream_t current_stream = nullptr;  // of the one handle

  static cudnn_internal::CudnnTable table();
};

}  // namespace distribute::testing

#endif
