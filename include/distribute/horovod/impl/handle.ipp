#pragma once
#include <distribute/base/error.hpp>
#include <distribute/horovod/collectives.hpp>
#include <distribute/horovod/detail/engine.hpp>
#include <distribute/horovod/detail/engine_scope.hpp>

#include <utility>

namespace distribute::hvd {

DISTRIBUTE_INLINE Handle::Handle(std::shared_ptr<horovod_internal::Engine> engine,
                                 std::shared_ptr<horovod_internal::Operation> operation,
                                 DType dtype, Device device)
    : engine_(std::move(engine)),
      operation_(std::move(operation)),
      dtype_(dtype),
      device_(device) {}

DISTRIBUTE_INLINE bool Handle::done() const {
  if (!operation_) throw InvalidArgumentError("hvd: this handle stands for no operation");
  engine_->flush();
  return engine_->is_done(*operation_);
}

DISTRIBUTE_INLINE Tensor Handle::wait() const {
  if (!operation_) throw InvalidArgumentError("hvd: this handle stands for no operation");
  engine_->wait(*operation_);
  const Tensor& output = operation_->part.output;
  return output ? decompress(output, dtype_).to(device_) : output;
}

DISTRIBUTE_INLINE Tensor Handle::received_splits() const {
  const std::vector<int64_t>& received = operation_->part.received;
  return Tensor(Shape{int64_t(received.size())}, received);
}

DISTRIBUTE_INLINE int Handle::number() const { return operation_->number; }

DISTRIBUTE_INLINE bool poll(const Handle& handle) { return handle.done(); }
DISTRIBUTE_INLINE Tensor synchronize(const Handle& handle) { return handle.wait(); }
DISTRIBUTE_INLINE std::vector<Tensor> synchronize(const std::vector<Handle>& handles) {
  std::vector<Tensor> results;
  for (const Handle& handle : handles) results.push_back(handle.wait());
  return results;
}

}  // namespace distribute::hvd
