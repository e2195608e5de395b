#pragma once
/// Carries out libtorch's collectives with a communicator of this library.

#include <distribute/base/config.hpp>
#include <distribute/collective/communicator.hpp>

#include <torch/csrc/distributed/c10d/Backend.hpp>

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace distribute::torch_internal {

/// A backend of c10d::ProcessGroup for tensors in host memory.
/// 1. Functions return at once; one thread carries out their operations in the order of the calls.
/// 2. After an operation has failed, all later ones fail with the same error.
class Backend : public ::c10d::Backend {
 public:
  using Work = ::c10::intrusive_ptr<::c10d::Work>;
  using Tensors = std::vector<::at::Tensor>;

  explicit Backend(std::shared_ptr<collective::Communicator> communicator);
  DISTRIBUTE_INLINE ~Backend() override;
  /// Carries out what was called before, and ends the thread.
  void stop();

  DISTRIBUTE_INLINE const std::string getBackendName() const override;
  DISTRIBUTE_INLINE Work broadcast(Tensors& tensors,
                                   const ::c10d::BroadcastOptions& options) override;
  DISTRIBUTE_INLINE Work allreduce(Tensors& tensors,
                                   const ::c10d::AllreduceOptions& options) override;
  DISTRIBUTE_INLINE Work allreduce_sparse(Tensors& tensors,
                                          const ::c10d::AllreduceOptions& options) override;
  DISTRIBUTE_INLINE Work
  allreduce_coalesced(Tensors& tensors, const ::c10d::AllreduceCoalescedOptions& options) override;
  DISTRIBUTE_INLINE Work allgather(std::vector<Tensors>& outputs, Tensors& inputs,
                                   const ::c10d::AllgatherOptions& options) override;
  DISTRIBUTE_INLINE Work _allgather_base(::at::Tensor& output, ::at::Tensor& input,
                                         const ::c10d::AllgatherOptions& options) override;
  DISTRIBUTE_INLINE Work _reduce_scatter_base(::at::Tensor& output, ::at::Tensor& input,
                                              const ::c10d::ReduceScatterOptions& options) override;
  DISTRIBUTE_INLINE Work barrier(const ::c10d::BarrierOptions& options) override;

 private:
  Work enqueue(Tensors results, std::function<void()> operation);
  void run();
  void reduce_now(const ::at::Tensor& tensor, ::c10d::ReduceOp op);
  void reduce_sparse(::at::Tensor tensor);
  ::at::Tensor gather_rows(const ::at::Tensor& rows, const ::at::Tensor& counts);
  void gather_now(const ::at::Tensor& input, const ::at::Tensor& output);
  void reduce_scatter_now(const ::at::Tensor& input, const ::at::Tensor& output,
                          ::c10d::ReduceOp op);

  const std::shared_ptr<collective::Communicator> communicator_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace distribute::torch_internal
