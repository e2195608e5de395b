#pragma once
#include <distribute/ops/array.hpp>
#include <distribute/ops/detail/gpu_loops.hpp>
#include <distribute/strategy/detail/reduction.hpp>
#include <distribute/strategy/detail/tensor_collectives.hpp>

#include <cstring>
#include <map>
#include <numeric>
#include <sstream>

namespace distribute::strategy_internal {

DISTRIBUTE_INLINE collective::ReductionOp reduction_op(ReduceOp op) {
  return op == ReduceOp::Mean ? collective::ReductionOp::Mean : collective::ReductionOp::Sum;
}

/// Tensors of one dtype on their way through one all-reduce; the results share its memory.
DISTRIBUTE_INLINE void all_reduce_pack(Communicator& group, ReduceOp op,
                                       const std::vector<size_t>& members,
                                       std::span<const Tensor> values,
                                       std::vector<Tensor>& results) {
  int64_t bytes = 0;
  for (size_t i : members) bytes += line_aligned(bytes_of(values[i]));
  const Tensor& first = values[members[0]];
  const DType dtype = first.dtype();
  const Array pack = make_array(bytes, ops_internal::on_gpu(first) ? Device{} : first.device());
  int64_t at = 0;
  for (size_t i : members) {
    const Tensor plain = on_host(values[i]).row_major();
    const int64_t size = bytes_of(plain), room = line_aligned(size);
    if (size) std::memcpy(pack.bytes() + at, plain.array().bytes(), size_t(size));
    std::memset(pack.bytes() + at + size, 0, size_t(room - size));
    results[i] = Tensor(plain.shape(), dtype, Array{pack.buffer, at, nullptr});
    at += room;
  }
  group.all_reduce(pack.bytes(), bytes / size_of(dtype), dtype, reduction_op(op));
  for (size_t i : members) results[i] = beside(values[i], results[i]);
}

/// IndexedSlices of all ranks, one after the other.
DISTRIBUTE_INLINE Tensor all_reduce_sparse(Communicator& group, ReduceOp op, const Tensor& value) {
  const IndexedSlices mine = indexed_slices(value);
  const auto all = all_gather_tensors(group, std::vector<Tensor>{mine.values, mine.indices});
  std::vector<Tensor> parts;
  for (const std::vector<Tensor>& rank : all)
    parts.push_back(to_tensor(IndexedSlices{beside(mine.values, rank[0]),
                                            beside(mine.indices, rank[1]), mine.dense_shape}));
  return reduce_tensors("all_reduce", op, std::move(parts));
}

/// Returns the mean as float32, from a sum that does not overflow.
DISTRIBUTE_INLINE Tensor mean_of_integers(Communicator& group, const Tensor& value) {
  const Tensor wide = cast(value.row_major(), DType::Int64);
  const Tensor sum = all_reduce_tensors(group, ReduceOp::Sum, std::span(&wide, 1))[0];
  return divided(sum, group.size());
}

DISTRIBUTE_INLINE std::vector<Tensor> all_reduce_tensors(Communicator& group, ReduceOp op,
                                                         std::span<const Tensor> values) {
  std::vector<Tensor> results(values.size());
  std::map<DType, std::vector<size_t>> packs;
  for (size_t i = 0; i < values.size(); ++i) {
    if (op == ReduceOp::Mean && !is_floating(values[i].dtype()))
      results[i] = mean_of_integers(group, values[i]);
    else if (is_indexed_slices(values[i]))
      results[i] = all_reduce_sparse(group, op, values[i]);
    else
      packs[values[i].dtype()].push_back(i);
  }
  for (const auto& [dtype, members] : packs) all_reduce_pack(group, op, members, values, results);
  return results;
}

/// Returns rank and dimensions of every tensor, which tell the other ranks the sizes to receive.
DISTRIBUTE_INLINE std::vector<int64_t> describe_shapes(std::span<const Tensor> values) {
  std::vector<int64_t> description;
  for (const Tensor& value : values) {
    description.push_back(int64_t(value.dtype()));
    description.push_back(value.shape().rank());
    for (int64_t dim : value.shape().dims()) description.push_back(dim);
  }
  return description;
}

/// Returns every rank's array, one after the other.
DISTRIBUTE_INLINE std::vector<char> all_gather_bytes(Communicator& group,
                                                     std::span<const char> mine,
                                                     std::vector<int64_t>& counts) {
  counts.assign(size_t(group.size()), 1);
  std::vector<int64_t> sizes(counts.size());
  const int64_t size = int64_t(mine.size());
  group.all_gather(&size, sizes.data(), counts, DType::Int64);
  counts = sizes;
  std::vector<char> all(size_t(std::accumulate(counts.begin(), counts.end(), int64_t{0})));
  group.all_gather(mine.data(), all.data(), counts, DType::UInt8);
  return all;
}

DISTRIBUTE_INLINE std::vector<Tensor> parse_tensors(const char* bytes) {
  const Device current = current_device();
  const Device host = current.type == DeviceType::Gpu ? Device{} : current;
  int64_t words = 0;
  std::memcpy(&words, bytes, sizeof words);
  std::vector<int64_t> description(static_cast<size_t>(words));
  std::memcpy(description.data(), bytes + sizeof words, description.size() * sizeof(int64_t));
  bytes += (1 + words) * int64_t(sizeof(int64_t));
  std::vector<Tensor> tensors;
  for (size_t at = 0; at < description.size();) {
    const auto dtype = DType(description[at]);
    const auto rank = size_t(description[at + 1]);
    const std::vector<int64_t> dims(description.begin() + int64_t(at) + 2,
                                    description.begin() + int64_t(at + 2 + rank));
    at += 2 + rank;
    Tensor tensor = Tensor::empty(Shape(dims), dtype, host);
    const int64_t size = bytes_of(tensor);
    if (size) std::memcpy(tensor.array().bytes(), bytes, size_t(size));
    bytes += size;
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

DISTRIBUTE_INLINE std::vector<std::vector<Tensor>> all_gather_tensors(
    Communicator& group, std::span<const Tensor> values) {
  const std::vector<int64_t> description = describe_shapes(values);
  const int64_t words = int64_t(description.size());
  std::vector<char> mine;
  const auto add = [&](const void* data, int64_t bytes) {
    const char* from = static_cast<const char*>(data);
    mine.insert(mine.end(), from, from + bytes);
  };
  add(&words, sizeof words);
  add(description.data(), words * int64_t(sizeof(int64_t)));
  for (const Tensor& value : values) {
    const Tensor plain = on_host(value).row_major();
    add(plain.array().bytes(), bytes_of(plain));
  }
  std::vector<int64_t> counts;
  const std::vector<char> all = all_gather_bytes(group, mine, counts);
  std::vector<std::vector<Tensor>> result;
  const char* at = all.data();
  for (int64_t count : counts) {
    result.push_back(parse_tensors(at));
    at += count;
  }
  return result;
}

DISTRIBUTE_INLINE Tensor broadcast_tensor(Communicator& group, const Tensor& value, int root) {
  const Tensor plain = on_host(value).row_major();
  Tensor copy = Tensor::empty(plain.shape(), plain.dtype(), plain.device());
  if (bytes_of(plain))
    std::memcpy(copy.array().bytes(), plain.array().bytes(), size_t(bytes_of(plain)));
  group.broadcast(copy.array().bytes(), copy.num_elements(), copy.dtype(), root);
  return beside(value, copy);
}

DISTRIBUTE_INLINE std::vector<std::string> all_gather_texts(Communicator& group,
                                                            const std::string& text) {
  std::vector<int64_t> counts;
  const std::vector<char> all = all_gather_bytes(group, text, counts);
  std::vector<std::string> texts;
  const char* at = all.data();
  for (int64_t count : counts) {
    texts.emplace_back(at, size_t(count));
    at += count;
  }
  return texts;
}

DISTRIBUTE_INLINE void check_agreement(Communicator& group, const char* what,
                                       const std::string& lines) {
  const std::vector<std::string> all = all_gather_texts(group, lines);
  for (size_t r = 1; r < all.size(); ++r) {
    std::istringstream first(all[0]), other(all[r]);
    std::string a, b;
    for (;;) {
      const bool has_a = bool(std::getline(first, a)), has_b = bool(std::getline(other, b));
      if (!has_a && !has_b) break;
      if (has_a && has_b && a == b) continue;
      throw FailedPreconditionError(
          str_cat("the ranks do not agree on ", what, ": rank 0 has ", has_a ? a : "nothing more",
                  ", rank ", r, " has ", has_b ? b : "nothing more",
                  "; every task must run the same program with the same options"));
    }
  }
}

}  // namespace distribute::strategy_internal
