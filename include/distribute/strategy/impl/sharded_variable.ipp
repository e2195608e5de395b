#pragma once
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/error.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/strategy/sharded_variable.hpp>

#include <algorithm>

namespace distribute {

namespace strategy_internal {

DISTRIBUTE_INLINE ShardedVariableImpl::ShardedVariableImpl(std::vector<Variable> parts,
                                                           VariableOptions options)
    : VariableImpl(std::move(options)), parts_(std::move(parts)) {
  int64_t rows = 0;
  for (const Variable& part : parts_) rows += part.shape()[0];
  shape_ = parts_[0].shape().with(0, rows);
}

DISTRIBUTE_INLINE Tensor ShardedVariableImpl::read() const {
  std::vector<Tensor> values;
  for (const Variable& part : parts_) values.push_back(part.value());
  return concat(values, 0);
}

/// Calls fn(part, its rows of `value`).
template <typename Fn>
void for_each_part(const std::vector<Variable>& parts, const Tensor& value, Fn&& fn) {
  const Tensor plain = value.row_major();
  int64_t begin = 0;
  for (const Variable& part : parts) {
    const int64_t end = begin + part.shape()[0];
    fn(part, plain.rows(begin, end));
    begin = end;
  }
}

DISTRIBUTE_INLINE void ShardedVariableImpl::assign(const Tensor& value) {
  for_each_part(parts_, value, [](const Variable& part, const Tensor& v) { part.assign(v); });
}
DISTRIBUTE_INLINE void ShardedVariableImpl::assign_add(const Tensor& delta) {
  for_each_part(parts_, delta, [](const Variable& part, const Tensor& v) { part.assign_add(v); });
}
DISTRIBUTE_INLINE void ShardedVariableImpl::assign_sub(const Tensor& delta) {
  for_each_part(parts_, delta, [](const Variable& part, const Tensor& v) { part.assign_sub(v); });
}

DISTRIBUTE_INLINE Tensor ShardedVariableImpl::component(int replica) const {
  std::vector<Tensor> values;
  for (const Variable& part : parts_) values.push_back(part.impl().component(replica));
  return concat(values, 0);
}

DISTRIBUTE_INLINE void ShardedVariableImpl::set_component(int replica, Tensor value) {
  for_each_part(parts_, value, [&](const Variable& part, const Tensor& v) {
    part.impl().set_component(replica, v);
  });
}

/// Returns the slices of rows [begin, end), counted from `begin`.
DISTRIBUTE_INLINE IndexedSlices slices_within(const IndexedSlices& all, int64_t begin,
                                              int64_t end) {
  std::vector<int64_t> rows;
  std::vector<Tensor> values;
  const auto indices = all.indices.data<int64_t>();
  for (size_t i = 0; i < indices.size(); ++i)
    if (indices[i] >= begin && indices[i] < end) {
      rows.push_back(indices[i] - begin);
      values.push_back(all.values.rows(int64_t(i), int64_t(i) + 1));
    }
  if (rows.empty()) return {};
  return {concat(values, 0), Tensor(Shape{int64_t(rows.size())}, rows),
          all.dense_shape.rank() ? all.dense_shape.with(0, end - begin) : all.dense_shape};
}

DISTRIBUTE_INLINE void ShardedVariableImpl::scatter(ScatterOp op, const IndexedSlices& slices) {
  int64_t begin = 0;
  for (const Variable& part : parts_) {
    const int64_t end = begin + part.shape()[0];
    const IndexedSlices own = slices_within(slices, begin, end);
    if (own.indices) part.impl().scatter(op, own);
    begin = end;
  }
}

DISTRIBUTE_INLINE std::string ShardedVariableImpl::device() const {
  std::string devices;
  for (const Variable& part : parts_) devices += (devices.empty() ? "" : ", ") + part.device();
  return devices;
}

DISTRIBUTE_INLINE void check_shards(const std::vector<Variable>& parts) {
  const auto refuse = [](const std::string& reason) {
    throw InvalidArgumentError("ShardedVariable: " + reason);
  };
  if (parts.empty()) refuse("Expected a non-empty list of `Variable`s");
  for (const Variable& part : parts)
    if (!part) refuse("Expected a list of `Variable`s, one of them is none");
  const Shape first = parts[0].shape();
  for (const Variable& part : parts) {
    if (part.dtype() != parts[0].dtype())
      refuse(str_cat("All `Variable`s must have the same dtype: '", parts[0].name(), "' is ",
                     name_of(parts[0].dtype()), ", '", part.name(), "' is ",
                     name_of(part.dtype())));
    const Shape shape = part.shape();
    if (shape.rank() == 0 || first.rank() != shape.rank() || shape.with(0, 1) != first.with(0, 1))
      refuse(str_cat("All `Variable`s must have the same shapes except for the first axis: '",
                     parts[0].name(), "' is ", to_string(first), ", '", part.name(), "' is ",
                     to_string(shape)));
    if (part.impl().save_slice_info())
      refuse(str_cat("`SaveSliceInfo` should not be set for `Variable`s: '", part.name(),
                     "' is a shard of '", part.impl().save_slice_info()->full_name, "'"));
  }
}

DISTRIBUTE_INLINE Variable join_shards(std::vector<Variable> parts, VariableOptions options) {
  check_shards(parts);
  const std::string name = options.name;
  const auto impl = std::make_shared<ShardedVariableImpl>(std::move(parts), std::move(options));
  int64_t begin = 0;
  for (const Variable& part : impl->parts()) {
    part.impl().set_save_slice_info({name, impl->shape(), begin});
    begin += part.shape()[0];
  }
  return Variable(impl);
}

DISTRIBUTE_INLINE Variable view_of_shards(std::vector<Variable> shards) {
  std::sort(shards.begin(), shards.end(), [](const Variable& a, const Variable& b) {
    return a.impl().save_slice_info()->begin < b.impl().save_slice_info()->begin;
  });
  VariableOptions options = shards[0].impl().options();
  options.name = shards[0].impl().save_slice_info()->full_name;
  return Variable(std::make_shared<ShardedVariableImpl>(std::move(shards), std::move(options)));
}

DISTRIBUTE_INLINE VariableOptions options_of_shards(const std::vector<Variable>& parts,
                                                    std::string name) {
  check_shards(parts);
  VariableOptions options = parts[0].impl().options();
  options.name = std::move(name);
  return options;
}

}  // namespace strategy_internal

DISTRIBUTE_INLINE ShardedVariable::ShardedVariable(std::vector<Variable> variables,
                                                   std::string name)
    : Variable(strategy_internal::join_shards(
          variables, strategy_internal::options_of_shards(variables, std::move(name)))) {}

DISTRIBUTE_INLINE ShardedVariable::ShardedVariable(const Variable& variable) : Variable(variable) {
  if (variables().empty())
    throw InvalidArgumentError(str_cat("variable '", variable.name(), "' has no shards"));
}

DISTRIBUTE_INLINE Tensor ShardedVariable::operator[](int64_t i) const {
  const int64_t rows = shape()[0], row = i < 0 ? i + rows : i;
  if (row < 0 || row >= rows)
    throw OutOfRangeError(
        str_cat("ShardedVariable '", name(), "' has ", rows, " rows, not row ", i));
  const Range range{row, row + 1};
  const Shape whole = shape();
  return reshape(slice(std::span(&range, 1)), Shape(whole.dims().subspan(1)));
}

DISTRIBUTE_INLINE Tensor ShardedVariable::slice(std::span<const Range> ranges) const {
  const Range rows = ranges.empty() ? Range{} : ranges[0];
  const auto [first, count] = ops_internal::resolve_range(rows, shape()[0]);
  std::vector<Range> inside(ranges.begin(), ranges.end());
  inside.resize(std::max<size_t>(inside.size(), 1));
  std::vector<Tensor> pieces;
  int64_t begin = 0;
  for (const Variable& part : variables()) {
    const int64_t end = begin + part.shape()[0];
    // Rows first + k * step with k in [from, to) lie in this shard.
    int64_t from = count, to = 0;
    for (int64_t k = 0; k < count; ++k) {
      const int64_t row = first + k * rows.step;
      if (row < begin || row >= end) continue;
      from = std::min(from, k);
      to = k + 1;
    }
    if (from < to) {
      const int64_t after = first + to * rows.step - begin;
      inside[0] = {first + from * rows.step - begin, after < 0 ? Range::kNone : after, rows.step};
      if (rows.step > 0) inside[0].end = std::min(after, end - begin);
      pieces.push_back(strided_slice(part.value(), inside));
    }
    begin = end;
  }
  if (rows.step < 0) std::reverse(pieces.begin(), pieces.end());
  if (!pieces.empty()) return concat(pieces, 0);
  inside[0] = {0, 0};
  return strided_slice(variables()[0].value(), inside);
}

}  // namespace distribute
