#pragma once
/// A GPU made of host memory: records the driver's calls and really runs the kernels, compiled by
/// the host's compiler from the text that NVRTC would get.

#include <distribute/device/detail/cuda_device.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace distribute::testing {

struct FakeCudaOptions {
  int gpus = 1;
  int64_t memory_bytes = int64_t{1} << 30;  // of each GPU
  int capability = 90;
  bool runs_kernels = true;  // false: launches are recorded only
  bool reads_pageable = false;
};

/// While it lives, the process has these GPUs. One at a time. Streams do everything at once;
/// fake_order.hpp finds what they might do in another order. A stream that captures does nothing:
/// its work is run by each launch of the graph.
class FakeCuda {
 public:
  explicit FakeCuda(FakeCudaOptions options = {});
  ~FakeCuda();
  FakeCuda(const FakeCuda&) = delete;
  FakeCuda& operator=(const FakeCuda&) = delete;

  /// Names of the calls so far, launches as "launch relu"; in order.
  std::vector<std::string> calls() const;
  int count(const std::string& call) const;
  void forget_calls();
  /// Bytes of device memory that the driver has handed out.
  int64_t allocated_bytes() const;
  /// Programs that the compiler was given.
  std::vector<std::string> programs() const;
  /// The next call of that name gives `result`.
  void fail_next(const std::string& call, CudaResult result);

  /// What a library gives a stream: runs at once, or when a capture of the stream is launched,
  /// which then needs the memory at `places`. False: the driver does not take it.
  static bool on_stream(CudaHandle stream, std::vector<const void*> places,
                        std::function<void()> work);
  /// For work of a stream that captures: each launch calls it again and again, until it is done.
  static bool on_capture(CudaHandle stream, std::vector<const void*> places,
                         std::function<bool()> is_done);
  static bool is_capturing(CudaHandle stream);
  /// Goes on with a launch that waits for another GPU's.
  static CudaResult resume_graph(CudaHandle executable);
  /// Runs `work` while the host may touch the GPUs' memory: for fakes of libraries.
  static void with_memory(const std::function<void()>& work);

  struct State;

 private:
  std::unique_ptr<State> state_;
  std::unique_ptr<ScopedCudaTables> tables_;
};

}  // namespace distribute::testing
