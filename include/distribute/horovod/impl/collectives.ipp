#pragma once
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/error.hpp>
#include <distribute/horovod/basics.hpp>
#include <distribute/horovod/collectives.hpp>
#include <distribute/horovod/detail/engine.hpp>
#include <distribute/horovod/detail/engine_scope.hpp>
#include <distribute/ops/math.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace distribute::horovod_internal {

using hvd::Handle;

/// Gives the tensor to send, in host memory and unseen by tapes.
DISTRIBUTE_INLINE Tensor host_copy(const Tensor& tensor, hvd::Compression compression) {
  return hvd::compress(compression, stop_gradient(tensor)).to(Device{});
}

DISTRIBUTE_INLINE std::vector<int64_t> dims_of(const Tensor& tensor) {
  const auto dims = tensor.shape().dims();
  return {dims.begin(), dims.end()};
}

/// Starts an operation. `request` lacks dtype, shape and arrangement.
DISTRIBUTE_INLINE Handle start(Request request, const Tensor& tensor,
                               hvd::Compression compression = hvd::Compression::None,
                               bool transient = false) {
  if (!tensor) throw InvalidArgumentError(str_cat(name_of(request.terms.kind), ": no tensor"));
  const auto engine = horovod_internal::engine();
  Tensor input = host_copy(tensor, compression);
  if (request.terms.kind != Kind::Allreduce || is_indexed_slices(input)) input = input.row_major();
  request.terms.dtype = input.dtype();
  request.shape = dims_of(input);
  if (const LayoutPtr layout = input.layout())
    request.arrangement = {layout->name(), layout->bytes() / size_of(input.dtype())};
  auto operation = engine->submit(std::move(request), Part{input, {}, transient, {}});
  return Handle(engine, std::move(operation), tensor.dtype(), tensor.device());
}

template <typename Options>
Request reduction(Kind kind, const Options& options) {
  return {.terms = {.kind = kind,
                    .op = options.op,
                    .process_set = options.process_set.process_set_id(),
                    .prescale = options.prescale_factor,
                    .postscale = options.postscale_factor},
          .name = options.name};
}

DISTRIBUTE_INLINE Request plain(Kind kind, const hvd::OperationOptions& options) {
  return {.terms = {.kind = kind, .process_set = options.process_set.process_set_id()},
          .name = options.name};
}

DISTRIBUTE_INLINE void check_rows(const Tensor& tensor, Kind kind) {
  if (!tensor || tensor.shape().rank() == 0)
    throw InvalidArgumentError(
        str_cat(name_of(kind), ": wanted a tensor with rows, got ", tensor ? "a scalar" : "none"));
}

/// Gives the options of member `i` of a group; all members need the group's name.
template <typename Options>
Request member(Request request, const Options& options, size_t i, size_t count,
               const std::string& name) {
  request.group = options.name.empty() ? name : options.name;
  request.group_size = int32_t(count);
  request.name = str_cat(request.group, ".", i);
  return request;
}

/// Starts all members of a group; an empty tensor has no handle.
template <typename Options>
std::vector<Handle> start_group(Kind kind, Request request, const std::vector<Tensor>& tensors,
                                const Options& options,
                                hvd::Compression compression = hvd::Compression::None) {
  for (const Tensor& tensor : tensors)
    if (!tensor) throw InvalidArgumentError(str_cat("grouped_", name_of(kind), ": no tensor"));
  const std::string name = engine()->next_name(kind, request.terms.process_set);
  std::vector<Handle> handles;
  for (size_t i = 0; i < tensors.size(); ++i)
    handles.push_back(
        start(member(request, options, i, tensors.size(), name), tensors[i], compression));
  return handles;
}

/// Joins the IndexedSlices of all ranks.
DISTRIBUTE_INLINE Tensor allreduce_sparse(const Tensor& tensor,
                                          const hvd::AllreduceOptions& options) {
  if (options.op != hvd::Sum && options.op != hvd::Average)
    throw InvalidArgumentError(str_cat("allreduce: IndexedSlices can be summed or averaged, the ",
                                       hvd::name_of(options.op), " was asked for"));
  const IndexedSlices mine = indexed_slices(tensor);
  const auto part = [&](const char* what) {
    const std::string name = options.name.empty() ? "" : options.name + what;
    return hvd::OperationOptions{.process_set = options.process_set, .name = name};
  };
  const Handle values = hvd::allgather_async(mine.values, part("/values"));
  const Handle indices = hvd::allgather_async(mine.indices, part("/indices"));
  double factor = options.prescale_factor * options.postscale_factor;
  if (options.op == hvd::Average) factor /= options.process_set.size();
  const Tensor all = values.wait();
  return to_tensor(
      {factor == 1 ? all : multiply(all, Tensor(float(factor))), indices.wait(), mine.dense_shape});
}

/// Gives the name of an operation's gradient.
template <typename Options>
Options for_gradient(Options options) {
  if (!options.name.empty()) options.name += "/gradient";
  return options;
}

/// Gives the rows of this rank among those of all ranks, `rows` of each.
DISTRIBUTE_INLINE Tensor my_rows(const Tensor& tensor, int64_t rows,
                                 const hvd::ProcessSet& process_set) {
  const Tensor all =
      hvd::allgather(Tensor(Shape{1}, std::vector<int64_t>{rows}), {.process_set = process_set});
  const auto counts = all.data<int64_t>();
  const int64_t begin =
      std::accumulate(counts.begin(), counts.begin() + process_set.rank(), int64_t{0});
  return tensor.row_major().rows(begin, begin + rows);
}

DISTRIBUTE_INLINE Handle begin_transient_allreduce(const Tensor& tensor,
                                                   const hvd::AllreduceOptions& options) {
  return start(reduction(Kind::Allreduce, options), tensor, options.compression, true);
}

}  // namespace distribute::horovod_internal

namespace distribute::hvd {

namespace hi = horovod_internal;

DISTRIBUTE_INLINE Handle allreduce_async(const Tensor& tensor, const AllreduceOptions& options) {
  return hi::start(hi::reduction(hi::Kind::Allreduce, options), tensor, options.compression);
}

DISTRIBUTE_INLINE Tensor allreduce(const Tensor& tensor, const AllreduceOptions& options) {
  if (tensor && is_indexed_slices(tensor)) return hi::allreduce_sparse(tensor, options);
  const Tensor output = allreduce_async(tensor, options).wait();
  return record("hvd_allreduce", {tensor}, output, [options](const Backward& backward) {
    if (options.op != Sum && options.op != Average)
      throw UnimplementedError(
          str_cat("allreduce(", name_of(options.op), ") has no gradient, as in Horovod"));
    return std::vector<Tensor>{allreduce(backward.gradient(), hi::for_gradient(options))};
  });
}

DISTRIBUTE_INLINE std::vector<Handle> grouped_allreduce_async(const std::vector<Tensor>& tensors,
                                                              const AllreduceOptions& options) {
  return hi::start_group(hi::Kind::Allreduce, hi::reduction(hi::Kind::Allreduce, options), tensors,
                         options, options.compression);
}

DISTRIBUTE_INLINE std::vector<Tensor> grouped_allreduce(const std::vector<Tensor>& tensors,
                                                        const AllreduceOptions& options) {
  return synchronize(grouped_allreduce_async(tensors, options));
}

DISTRIBUTE_INLINE Handle allgather_async(const Tensor& tensor, const OperationOptions& options) {
  return hi::start(hi::plain(hi::Kind::Allgather, options), tensor);
}

DISTRIBUTE_INLINE Tensor allgather(const Tensor& tensor, const OperationOptions& options) {
  const Tensor output = allgather_async(tensor, options).wait();
  const Shape shape = tensor.shape();
  return record("hvd_allgather", {tensor}, output, [options, shape](const Backward& backward) {
    const Tensor sum =
        allreduce(backward.gradient(), {.op = Sum, .process_set = options.process_set});
    const int64_t rows = shape.rank() == 0 ? 1 : shape[0];
    return std::vector<Tensor>{hi::my_rows(sum, rows, options.process_set).view(shape)};
  });
}

DISTRIBUTE_INLINE std::vector<Tensor> grouped_allgather(const std::vector<Tensor>& tensors,
                                                        const OperationOptions& options) {
  return synchronize(hi::start_group(hi::Kind::Allgather, hi::plain(hi::Kind::Allgather, options),
                                     tensors, options));
}

DISTRIBUTE_INLINE Handle broadcast_async(const Tensor& tensor, int root_rank,
                                         const OperationOptions& options) {
  const std::vector<int> ranks = options.process_set.ranks();
  if (std::find(ranks.begin(), ranks.end(), root_rank) == ranks.end())
    throw InvalidArgumentError(str_cat("broadcast: the root ", root_rank, " is none of the ",
                                       ranks.size(), " ranks of process set ",
                                       options.process_set.process_set_id()));
  hi::Request request = hi::plain(hi::Kind::Broadcast, options);
  request.terms.root = root_rank;
  return hi::start(std::move(request), tensor);
}

DISTRIBUTE_INLINE Tensor broadcast(const Tensor& tensor, int root_rank,
                                   const OperationOptions& options) {
  const Tensor output = broadcast_async(tensor, root_rank, options).wait();
  return record("hvd_broadcast", {tensor}, output, [=](const Backward& backward) {
    const Tensor sum = allreduce(
        backward.gradient(),
        {.op = Sum, .process_set = options.process_set, .name = hi::for_gradient(options).name});
    return std::vector<Tensor>{rank() == root_rank ? sum : zeros_like(sum)};
  });
}

DISTRIBUTE_INLINE Handle alltoall_async(const Tensor& tensor, const Tensor& splits,
                                        const OperationOptions& options) {
  hi::check_rows(tensor, hi::Kind::Alltoall);
  const int64_t size = options.process_set.size(), rows = tensor.shape()[0];
  hi::Request request = hi::plain(hi::Kind::Alltoall, options);
  if (splits) {
    dispatch(splits.dtype(), [&](auto type) {
      for (auto split : splits.data<decltype(type)>()) request.splits.push_back(int64_t(split));
    });
  } else if (rows % size == 0) {
    request.splits.assign(size_t(size), rows / size);
  }
  const bool negative = std::any_of(request.splits.begin(), request.splits.end(),
                                    [](int64_t split) { return split < 0; });
  if (int64_t(request.splits.size()) != size || negative ||
      std::accumulate(request.splits.begin(), request.splits.end(), int64_t{0}) != rows)
    throw InvalidArgumentError(str_cat("alltoall: ", rows, " rows cannot be dealt to ", size,
                                       " ranks ",
                                       splits ? "by the splits " + hi::numbers_text(request.splits)
                                              : std::string("in equal parts: give splits")));
  return hi::start(std::move(request), tensor);
}

DISTRIBUTE_INLINE AlltoallResult alltoall(const Tensor& tensor, const Tensor& splits,
                                          const OperationOptions& options) {
  const Handle handle = alltoall_async(tensor, splits, options);
  const Tensor output = handle.wait(), received = handle.received_splits();
  return {record("hvd_alltoall", {tensor}, output,
                 [=](const Backward& backward) {
                   return std::vector<Tensor>{
                       alltoall(backward.gradient(), received, hi::for_gradient(options)).output};
                 }),
          received};
}

DISTRIBUTE_INLINE Handle reducescatter_async(const Tensor& tensor,
                                             const ReducescatterOptions& options) {
  hi::check_rows(tensor, hi::Kind::Reducescatter);
  return hi::start(hi::reduction(hi::Kind::Reducescatter, options), tensor);
}

DISTRIBUTE_INLINE Tensor reducescatter(const Tensor& tensor, const ReducescatterOptions& options) {
  const Tensor output = reducescatter_async(tensor, options).wait();
  return record("hvd_reducescatter", {tensor}, output, [=](const Backward& backward) {
    if (options.op != Sum && options.op != Average)
      throw UnimplementedError(
          str_cat("reducescatter(", name_of(options.op), ") has no gradient, as in Horovod"));
    double factor = options.prescale_factor * options.postscale_factor;
    if (options.op == Average) factor /= options.process_set.size();
    const Tensor all = allgather(backward.gradient(), {.process_set = options.process_set,
                                                       .name = hi::for_gradient(options).name});
    return std::vector<Tensor>{factor == 1 ? all : multiply(all, Tensor(float(factor)))};
  });
}

DISTRIBUTE_INLINE std::vector<Tensor> grouped_reducescatter(const std::vector<Tensor>& tensors,
                                                            const ReducescatterOptions& options) {
  for (const Tensor& tensor : tensors) hi::check_rows(tensor, hi::Kind::Reducescatter);
  return synchronize(hi::start_group(
      hi::Kind::Reducescatter, hi::reduction(hi::Kind::Reducescatter, options), tensors, options));
}

DISTRIBUTE_INLINE void barrier(const ProcessSet& process_set) {
  const auto engine = hi::engine();
  engine->wait(*engine->submit(
      {.terms = {.kind = hi::Kind::Barrier, .process_set = process_set.process_set_id()},
       .name = {}}));
}

DISTRIBUTE_INLINE int join() {
  const auto engine = hi::engine();
  const auto operation = engine->submit({.terms = {.kind = hi::Kind::Join}, .name = "join"});
  engine->wait(*operation);
  return operation->number;
}

}  // namespace distribute::hvd
