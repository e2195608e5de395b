#pragma once
/// An operation that goes on beside its caller.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace distribute {
namespace horovod_internal {
class Engine;
struct Operation;
}  // namespace horovod_internal

namespace hvd {

/// A value; copies stand for the same operation. Thread-safe.
class Handle {
 public:
  Handle() = default;
  /// `dtype`, `device`: of the result; what traveled may have had others.
  Handle(std::shared_ptr<horovod_internal::Engine> engine,
         std::shared_ptr<horovod_internal::Operation> operation, DType dtype, Device device);

  explicit operator bool() const { return operation_ != nullptr; }
  /// Whether the result is there; never blocks.
  bool done() const;
  /// Blocks  until it is done; stalls and lost ranks end it.
  /// Throws  FailedPreconditionError, on all ranks, when they submitted different things under one
  ///         name, with both; AbortedError when a rank has left; DeadlineExceededError for a
  ///         stall beyond the limit; UnavailableError when a rank is lost.
  Tensor wait() const;
  /// Of an all-to-all that is done: rows from each rank, int64 [size].
  Tensor received_splits() const;
  /// Of a join() that is done, or a new process set.
  int number() const;

 private:
  std::shared_ptr<horovod_internal::Engine> engine_;
  std::shared_ptr<horovod_internal::Operation> operation_;
  DType dtype_ = DType::Float32;
  Device device_;
};

/// Whether synchronize() would return at once.
/// Source  horovod.torch.poll, synchronize
bool poll(const Handle& handle);
Tensor synchronize(const Handle& handle);
std::vector<Tensor> synchronize(const std::vector<Handle>& handles);

}  // namespace hvd
}  // namespace distribute
