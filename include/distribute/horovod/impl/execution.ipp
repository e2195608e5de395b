#pragma once
#include <distribute/base/parallel.hpp>
#include <distribute/collective/communicator.hpp>
#include <distribute/horovod/detail/execution.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <type_traits>

namespace distribute::horovod_internal {

using collective::Communicator;
using collective::ReductionOp;

DISTRIBUTE_INLINE ReductionOp reduction_of(hvd::Op op) {
  switch (op) {
    case hvd::Op::Average: return ReductionOp::Mean;
    case hvd::Op::Sum: return ReductionOp::Sum;
    case hvd::Op::Min: return ReductionOp::Min;
    case hvd::Op::Max: return ReductionOp::Max;
    case hvd::Op::Product: return ReductionOp::Product;
  }
  return ReductionOp::Sum;
}

DISTRIBUTE_INLINE void scale(char* data, int64_t count, DType dtype, double factor) {
  if (factor == 1) return;
  dispatch(dtype, [&](auto type) {
    using T = decltype(type);
    T* values = reinterpret_cast<T*>(data);
    using Wide = std::conditional_t<std::is_integral_v<T>, double, float>;
    for (int64_t i = 0; i < count; ++i) values[i] = T(Wide(values[i]) * Wide(factor));
  });
}

/// Joins the parts, each at the beginning of a cache line, with zeros for parts that this rank does
/// not have.
DISTRIBUTE_INLINE Array pack(const Response& response, const std::vector<Part>& parts,
                             ReductionMemory& memory, std::vector<int64_t>& offsets) {
  const int64_t element = size_of(response.terms.dtype);
  int64_t bytes = 0;
  for (const Entry& entry : response.entries) {
    offsets.push_back(bytes);
    bytes += (elements_of(entry) * element + 63) / 64 * 64;
  }
  offsets.push_back(bytes);
  const bool transient =
      std::all_of(parts.begin(), parts.end(), [](const Part& part) { return part.transient; });
  const Array all = transient ? memory.take(bytes) : make_array(bytes, Device{});
  for (size_t i = 0; i < parts.size(); ++i) {
    char* to = all.bytes() + offsets[i];
    const int64_t size = parts[i].input ? elements_of(response.entries[i]) * element : 0;
    if (size > 0) copy_memory(to, parts[i].input.array().bytes(), size_t(size));
    std::memset(to + size, 0, size_t(offsets[i + 1] - offsets[i] - size));
  }
  return all;
}

/// Does an all-reduce that needs no copy first.
DISTRIBUTE_INLINE void all_reduce_alone(Communicator& group, const Response& response, Part& part) {
  const Terms& terms = response.terms;
  const int64_t count = elements_of(response.entries[0]);
  const Tensor input = part.input ? part.input : zeros({count}, terms.dtype);
  part.output = Tensor::empty(input.shape(), terms.dtype, Device{}, input.layout());
  char* to = part.output.array().bytes();
  group.all_reduce(input.array().bytes(), to, count, terms.dtype, reduction_of(terms.op));
  scale(to, count, terms.dtype, terms.postscale);
}

DISTRIBUTE_INLINE void all_reduce(Communicator& group, const Response& response,
                                  std::vector<Part>& parts, ReductionMemory& memory) {
  const Terms& terms = response.terms;
  for (size_t i = 0; i < parts.size(); ++i)
    if (parts[i].input && response.entries[i].arrangement.layout.empty())
      parts[i].input = parts[i].input.row_major();
  if (parts.size() == 1 && terms.prescale == 1 && !parts[0].transient)
    return all_reduce_alone(group, response, parts[0]);
  std::vector<int64_t> offsets;
  const Array all = pack(response, parts, memory, offsets);
  const int64_t count = offsets.back() / size_of(terms.dtype);
  scale(all.bytes(), count, terms.dtype, terms.prescale);
  group.all_reduce(all.bytes(), count, terms.dtype, reduction_of(terms.op));
  scale(all.bytes(), count, terms.dtype, terms.postscale);
  for (size_t i = 0; i < parts.size(); ++i)
    if (parts[i].input)
      parts[i].output = Tensor(parts[i].input.shape(), terms.dtype,
                               Array{all.buffer, offsets[i], parts[i].input.layout()});
}

/// Number of elements of one row; a scalar counts as a row of one.
DISTRIBUTE_INLINE int64_t row_elements(const Shape& shape) {
  int64_t count = 1;
  for (int axis = 1; axis < shape.rank(); ++axis) count *= shape[axis];
  return count;
}

DISTRIBUTE_INLINE Tensor empty_rows(const Tensor& like, int64_t rows) {
  const Shape shape = like.shape().rank() == 0 ? Shape{rows} : like.shape().with(0, rows);
  return Tensor::empty(shape, like.dtype(), Device{});
}

DISTRIBUTE_INLINE void all_gather(Communicator& group, const Entry& entry, Part& part) {
  const int64_t rows = std::accumulate(entry.sizes.begin(), entry.sizes.end(), int64_t{0});
  part.output = empty_rows(part.input, rows);
  std::vector<int64_t> counts = entry.sizes;
  for (int64_t& count : counts) count *= row_elements(part.input.shape());
  group.all_gather(part.input.array().bytes(), part.output.array().bytes(), counts,
                   part.input.dtype());
}

DISTRIBUTE_INLINE void broadcast(Communicator& group, int root, Part& part) {
  part.output = Tensor::empty(part.input.shape(), part.input.dtype(), Device{});
  const int64_t count = part.input.num_elements();
  char* to = part.output.array().bytes();
  if (group.rank() == root && count > 0)
    std::memcpy(to, part.input.array().bytes(), size_t(count * size_of(part.input.dtype())));
  group.broadcast(to, count, part.input.dtype(), root);
}

DISTRIBUTE_INLINE std::vector<int64_t> scattered_rows(int64_t rows, int ranks) {
  std::vector<int64_t> result(size_t(ranks), rows / ranks);
  for (int64_t r = 0; r < rows % ranks; ++r) ++result[size_t(r)];
  return result;
}

DISTRIBUTE_INLINE void reduce_scatter(Communicator& group, const Terms& terms, Part& part) {
  Tensor input = part.input;
  if (terms.prescale != 1) {
    input = Tensor::empty(part.input.shape(), terms.dtype, Device{});
    std::memcpy(input.array().bytes(), part.input.array().bytes(),
                size_t(input.num_elements() * size_of(terms.dtype)));
    scale(input.array().bytes(), input.num_elements(), terms.dtype, terms.prescale);
  }
  std::vector<int64_t> counts = scattered_rows(input.shape()[0], group.size());
  part.output = empty_rows(input, counts[size_t(group.rank())]);
  for (int64_t& count : counts) count *= row_elements(input.shape());
  group.reduce_scatter(input.array().bytes(), part.output.array().bytes(), counts, terms.dtype,
                       reduction_of(terms.op));
  scale(part.output.array().bytes(), part.output.num_elements(), terms.dtype, terms.postscale);
}

/// Ranks exchange rows in pairs, in rounds that all ranks order in the same way, so that there is
/// no deadlock.
DISTRIBUTE_INLINE void exchange_pairs(Communicator& group, const Part& part,
                                      const std::vector<int64_t>& to_ranks,
                                      const std::vector<int64_t>& from_ranks, DType dtype) {
  const int n = group.size(), me = group.rank();
  const auto begin_of = [](const std::vector<int64_t>& counts, int rank) {
    return std::accumulate(counts.begin(), counts.begin() + rank, int64_t{0});
  };
  for (int round = 0; round < n; ++round) {
    const int peer = (round - me + n) % n;
    const char* out = part.input.array().bytes() + begin_of(to_ranks, peer) * size_of(dtype);
    char* in = part.output.array().bytes() + begin_of(from_ranks, peer) * size_of(dtype);
    const int64_t sent = to_ranks[size_t(peer)], received = from_ranks[size_t(peer)];
    if (peer == me) {
      if (sent > 0) std::memcpy(in, out, size_t(sent * size_of(dtype)));
      continue;
    }
    const auto send = [&] {
      if (sent > 0) group.send(out, sent, dtype, peer);
    };
    const auto receive = [&] {
      if (received > 0) group.receive(in, received, dtype, peer);
    };
    me < peer ? (send(), receive()) : (receive(), send());
  }
}

/// `sizes` has the number of rows from each rank to each.
DISTRIBUTE_INLINE void all_to_all(Communicator& group, const Entry& entry, Part& part) {
  const auto n = size_t(group.size()), me = size_t(group.rank());
  std::vector<int64_t> to_ranks, from_ranks;
  for (size_t peer = 0; peer < n; ++peer) {
    to_ranks.push_back(entry.sizes[me * n + peer]);
    from_ranks.push_back(entry.sizes[peer * n + me]);
  }
  part.received = from_ranks;
  part.output =
      empty_rows(part.input, std::accumulate(from_ranks.begin(), from_ranks.end(), int64_t{0}));
  const int64_t row = row_elements(part.input.shape());
  const DType dtype = part.input.dtype();
  const bool equal = std::all_of(entry.sizes.begin(), entry.sizes.end(),
                                 [&](int64_t size) { return size == entry.sizes[0]; });
  if (equal)
    return group.all_to_all(part.input.array().bytes(), part.output.array().bytes(),
                            entry.sizes[0] * row, dtype);
  for (size_t peer = 0; peer < n; ++peer) to_ranks[peer] *= row, from_ranks[peer] *= row;
  exchange_pairs(group, part, to_ranks, from_ranks, dtype);
}

DISTRIBUTE_INLINE void execute(Communicator& group, const Response& response, int root,
                               Part& part) {
  switch (response.terms.kind) {
    case Kind::Allgather: return all_gather(group, response.entries[0], part);
    case Kind::Broadcast: return broadcast(group, root, part);
    case Kind::Reducescatter: return reduce_scatter(group, response.terms, part);
    case Kind::Alltoall: return all_to_all(group, response.entries[0], part);
    default: return;  // a barrier ends once all ranks have come to it
  }
}

}  // namespace distribute::horovod_internal
