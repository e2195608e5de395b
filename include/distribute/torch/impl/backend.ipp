#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/threads.hpp>
#include <distribute/torch/detail/backend.hpp>

#include <ATen/ATen.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace distribute::torch_internal {

/// Returns the type in which the communicator reduces; none where it has no such type.
DISTRIBUTE_INLINE std::optional<DType> reduced_type(::at::ScalarType type) {
  switch (type) {
    case ::at::ScalarType::Float: return DType::Float32;
    case ::at::ScalarType::BFloat16: return DType::BFloat16;
    case ::at::ScalarType::Half: return DType::Float16;
    case ::at::ScalarType::Int: return DType::Int32;
    case ::at::ScalarType::Long: return DType::Int64;
    case ::at::ScalarType::Byte: return DType::UInt8;
    case ::at::ScalarType::Bool: return DType::Bool;
    default: return std::nullopt;
  }
}

DISTRIBUTE_INLINE collective::ReductionOp operation_of(::c10d::ReduceOp op) {
  switch (op.op_) {
    case ::c10d::ReduceOp::SUM: return collective::ReductionOp::Sum;
    case ::c10d::ReduceOp::AVG: return collective::ReductionOp::Mean;
    case ::c10d::ReduceOp::MIN: return collective::ReductionOp::Min;
    case ::c10d::ReduceOp::MAX: return collective::ReductionOp::Max;
    case ::c10d::ReduceOp::PRODUCT: return collective::ReductionOp::Product;
    default:
      throw InvalidArgumentError(
          "torch: ranks reduce by SUM, AVG, MIN, MAX or PRODUCT; another operation was asked for");
  }
}

/// Throws  InvalidArgumentError for a tensor that the backend does not move.
DISTRIBUTE_INLINE void check_tensor(const ::at::Tensor& tensor) {
  if (tensor.is_sparse() || !tensor.device().is_cpu() || !tensor.is_contiguous())
    throw InvalidArgumentError(
        str_cat("torch: collectives take dense, contiguous tensors in host memory, not one of ",
                tensor.toString(),
                tensor.is_contiguous() ? ""
                                       : " whose elements are not in order; "
                                         "contiguous() arranges them"));
}

DISTRIBUTE_INLINE const ::at::Tensor& only_one(const std::vector<::at::Tensor>& tensors) {
  if (tensors.size() != 1)
    throw InvalidArgumentError(
        str_cat("torch: a collective takes one tensor, not ", tensors.size()));
  check_tensor(tensors[0]);
  return tensors[0];
}

DISTRIBUTE_INLINE Backend::Backend(std::shared_ptr<collective::Communicator> communicator)
    : ::c10d::Backend(communicator->rank(), communicator->size()),
      communicator_(std::move(communicator)),
      thread_(base_internal::start_thread("collectives of torch", [this] { run(); })) {}

DISTRIBUTE_INLINE Backend::~Backend() { stop(); }

DISTRIBUTE_INLINE void Backend::stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

DISTRIBUTE_INLINE void Backend::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stop_ || !queue_.empty(); });
    if (queue_.empty()) return;
    const auto operation = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    operation();
    lock.lock();
  }
}

DISTRIBUTE_INLINE Backend::Work Backend::enqueue(Tensors results, std::function<void()> operation) {
  auto future = ::c10::make_intrusive<::c10::ivalue::Future>(
      ::c10::ListType::create(::c10::TensorType::get()));
  auto carry_out = [future, results = std::move(results), operation = std::move(operation)] {
    try {
      operation();
      future->markCompleted(::c10::IValue(results));
    } catch (...) {
      future->setError(std::current_exception());
    }
  };
  {
    const std::lock_guard lock(mutex_);
    if (stop_) throw FailedPreconditionError("torch: destroy_process_group() has ended this group");
    queue_.push_back(std::move(carry_out));
  }
  changed_.notify_all();
  return ::c10d::Work::create_from_future(future);
}

DISTRIBUTE_INLINE const std::string Backend::getBackendName() const { return "distribute"; }

DISTRIBUTE_INLINE Backend::Work Backend::broadcast(Tensors& tensors,
                                                   const ::c10d::BroadcastOptions& options) {
  const ::at::Tensor tensor = only_one(tensors);
  return enqueue({tensor}, [this, tensor, root = int(options.rootRank)] {
    communicator_->broadcast(tensor.data_ptr(), int64_t(tensor.nbytes()), DType::UInt8, root);
  });
}

/// Combines the rows of all ranks, [ranks, elements], in rank order.
DISTRIBUTE_INLINE ::at::Tensor combine_rows(const ::at::Tensor& rows, collective::ReductionOp op) {
  using enum collective::ReductionOp;
  if (op == Min) return rows.amin(0);
  if (op == Max) return rows.amax(0);
  ::at::Tensor all = rows[0].clone();
  for (int64_t rank = 1; rank < rows.size(0); ++rank)
    op == Product ? all.mul_(rows[rank]) : all.add_(rows[rank]);
  return op == Mean ? all.div_(double(rows.size(0))) : all;
}

DISTRIBUTE_INLINE void Backend::reduce_now(const ::at::Tensor& tensor, ::c10d::ReduceOp op) {
  const auto operation = operation_of(op);
  if (const auto type = reduced_type(tensor.scalar_type()))
    return communicator_->all_reduce(tensor.data_ptr(), tensor.numel(), *type, operation);
  const ::at::NoGradGuard no_grad;
  const ::at::Tensor rows = ::at::empty({getSize(), tensor.numel()}, tensor.options());
  gather_now(tensor, rows);
  tensor.copy_(combine_rows(rows, operation).view_as(tensor));
}

DISTRIBUTE_INLINE void Backend::gather_now(const ::at::Tensor& input, const ::at::Tensor& output) {
  const std::vector<int64_t> counts(size_t(getSize()), int64_t(input.nbytes()));
  communicator_->all_gather(input.data_ptr(), output.data_ptr(), counts, DType::UInt8);
}

/// Gathers the rows of all ranks, and adds those of the same index.
DISTRIBUTE_INLINE void Backend::reduce_sparse(::at::Tensor tensor) {
  const ::at::NoGradGuard no_grad;
  const ::at::Tensor mine = tensor.coalesce();
  const ::at::Tensor count = ::at::full({1}, mine._nnz(), ::at::kLong);
  const ::at::Tensor counts = ::at::empty({getSize()}, ::at::kLong);
  gather_now(count, counts);
  const ::at::Tensor all_indices = gather_rows(mine.indices().t().contiguous(), counts);
  const ::at::Tensor all_values = gather_rows(mine.values().contiguous(), counts);
  tensor.copy_(::at::sparse_coo_tensor(all_indices.t(), all_values, tensor.sizes()).coalesce());
}

/// Joins the counts[r] rows of each rank r.
DISTRIBUTE_INLINE ::at::Tensor Backend::gather_rows(const ::at::Tensor& rows,
                                                    const ::at::Tensor& counts) {
  auto shape = rows.sizes().vec();
  shape[0] = counts.sum().item<int64_t>();
  const ::at::Tensor all = ::at::empty(shape, rows.options());
  const int64_t row_bytes = int64_t(all.nbytes()) / std::max<int64_t>(shape[0], 1);
  std::vector<int64_t> bytes;
  for (int rank = 0; rank < getSize(); ++rank)
    bytes.push_back(counts[rank].item<int64_t>() * row_bytes);
  communicator_->all_gather(rows.data_ptr(), all.data_ptr(), bytes, DType::UInt8);
  return all;
}

DISTRIBUTE_INLINE Backend::Work Backend::allreduce(Tensors& tensors,
                                                   const ::c10d::AllreduceOptions& options) {
  if (tensors.size() == 1 && tensors[0].is_sparse()) return allreduce_sparse(tensors, options);
  const ::at::Tensor tensor = only_one(tensors);
  operation_of(options.reduceOp);
  return enqueue({tensor}, [this, tensor, op = options.reduceOp] { reduce_now(tensor, op); });
}

DISTRIBUTE_INLINE Backend::Work Backend::allreduce_sparse(Tensors& tensors,
                                                          const ::c10d::AllreduceOptions& options) {
  if (tensors.size() != 1 || !tensors[0].is_sparse() || !tensors[0].device().is_cpu() ||
      operation_of(options.reduceOp) != collective::ReductionOp::Sum)
    throw InvalidArgumentError("torch: sparse tensors are summed one at a time in host memory");
  return enqueue(tensors, [this, tensor = tensors[0]] { reduce_sparse(tensor); });
}

DISTRIBUTE_INLINE Backend::Work Backend::allreduce_coalesced(
    Tensors& tensors, const ::c10d::AllreduceCoalescedOptions& options) {
  for (const ::at::Tensor& tensor : tensors) check_tensor(tensor);
  operation_of(options.reduceOp);
  return enqueue(tensors, [this, all = tensors, op = options.reduceOp] {
    for (const ::at::Tensor& tensor : all) reduce_now(tensor, op);
  });
}

DISTRIBUTE_INLINE Backend::Work Backend::allgather(std::vector<Tensors>& outputs, Tensors& inputs,
                                                   const ::c10d::AllgatherOptions&) {
  const ::at::Tensor input = only_one(inputs);
  if (outputs.size() != 1 || int(outputs[0].size()) != getSize())
    throw InvalidArgumentError(
        str_cat("torch: all_gather needs one tensor for each of the ", getSize(), " ranks"));
  return enqueue(outputs[0], [this, input, all = outputs[0]] {
    const ::at::NoGradGuard no_grad;
    const ::at::Tensor rows = ::at::empty({getSize(), input.numel()}, input.options());
    gather_now(input, rows);
    for (size_t rank = 0; rank < all.size(); ++rank)
      all[rank].copy_(rows[int64_t(rank)].view_as(all[rank]));
  });
}

DISTRIBUTE_INLINE Backend::Work Backend::_allgather_base(::at::Tensor& output, ::at::Tensor& input,
                                                         const ::c10d::AllgatherOptions&) {
  check_tensor(output), check_tensor(input);
  if (output.numel() != input.numel() * getSize() || output.scalar_type() != input.scalar_type())
    throw InvalidArgumentError(str_cat("torch: all_gather of ", input.numel(), " elements from ",
                                       getSize(), " ranks does not fit ", output.numel()));
  return enqueue({output}, [this, input, output] { gather_now(input, output); });
}

DISTRIBUTE_INLINE void Backend::reduce_scatter_now(const ::at::Tensor& input,
                                                   const ::at::Tensor& output,
                                                   ::c10d::ReduceOp op) {
  const auto operation = operation_of(op);
  const std::vector<int64_t> counts(size_t(getSize()), output.numel());
  if (const auto type = reduced_type(input.scalar_type()))
    return communicator_->reduce_scatter(input.data_ptr(), output.data_ptr(), counts, *type,
                                         operation);
  const ::at::NoGradGuard no_grad;
  const ::at::Tensor whole = input.clone();
  reduce_now(whole, op);
  output.copy_(whole.view({getSize(), output.numel()})[getRank()].view_as(output));
}

DISTRIBUTE_INLINE Backend::Work Backend::_reduce_scatter_base(
    ::at::Tensor& output, ::at::Tensor& input, const ::c10d::ReduceScatterOptions& options) {
  check_tensor(output), check_tensor(input);
  if (input.numel() != output.numel() * getSize() || output.scalar_type() != input.scalar_type())
    throw InvalidArgumentError(str_cat("torch: reduce_scatter of ", input.numel(),
                                       " elements over ", getSize(), " ranks does not give ",
                                       output.numel(), " to each"));
  operation_of(options.reduceOp);
  return enqueue({output}, [this, input, output, op = options.reduceOp] {
    reduce_scatter_now(input, output, op);
  });
}

DISTRIBUTE_INLINE Backend::Work Backend::barrier(const ::c10d::BarrierOptions&) {
  return enqueue({}, [this] { communicator_->barrier(); });
}

}  // namespace distribute::torch_internal
