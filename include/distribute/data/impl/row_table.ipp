#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/data/detail/row_table.hpp>
#include <distribute/io/compression.hpp>
#include <distribute/tensor/detail/unrecorded.hpp>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <string_view>

namespace distribute::data {

namespace data_internal {

/// True for rows i, i + 1, i + 2, ...
DISTRIBUTE_INLINE bool contiguous(std::span<const int64_t> rows) {
  for (size_t i = 1; i < rows.size(); ++i)
    if (rows[i] != rows[0] + int64_t(i)) return false;
  return !rows.empty();
}

/// Computes the checksum of all bytes, or of blocks at equal distances with 1 GiB in all.
DISTRIBUTE_INLINE uint32_t checksum_of(std::string_view bytes, uint32_t before) {
  constexpr size_t kMost = size_t{1} << 30, kBlock = size_t{1} << 16;
  const size_t distance = bytes.size() <= kMost ? kBlock : bytes.size() / (kMost / kBlock);
  for (size_t at = 0; at < bytes.size(); at += distance)
    before = io::crc32c_extend(before, bytes.substr(at, kBlock));
  return before;
}

/// Divides, because multiplying by the reciprocal would give other bits than `images / 255.0`.
DISTRIBUTE_INLINE void divide_row(const uint8_t* in, float* out, int64_t count, float divide_by) {
  simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) out[i] = float(in[i]) / divide_by;
  });
}

template <typename T>
void widen_row(const uint8_t* in, T* out, int64_t count) {
  for (int64_t i = 0; i < count; ++i) out[i] = T(in[i]);
}

class SliceTable final : public RowTable {
 public:
  explicit SliceTable(std::vector<Column> columns) : columns_(std::move(columns)) {
    if (columns_.empty() || !columns_[0].values)
      throw InvalidArgumentError("from_tensor_slices: there are no tensors");
    for (size_t i = 0; i < columns_.size(); ++i) check(i);
    names_ = names_of(row_spec());
  }
  int64_t num_rows() const override { return columns_[0].values.shape()[0]; }
  ElementSpec row_spec() const override {
    ElementSpec spec;
    for (const Column& column : columns_)
      spec.push_back({*column.row_shape, column.dtype, column.name});
    return spec;
  }
  Batch gather(std::span<const int64_t> rows) const override {
    const bool view = contiguous(rows);
    std::vector<Tensor> result;
    for (const Column& column : columns_) result.push_back(gather_column(column, rows, view));
    return Batch::from_components(std::move(result), names_);
  }
  /// It is computed once, as each epoch's evaluation asks again.
  uint32_t checksum() const override {
    std::call_once(summed_, [&] {
      for (const Column& column : columns_) add_to_checksum(column.values);
    });
    return checksum_;
  }

 private:
  void check(size_t i) {
    Column& column = columns_[i];
    const Shape& shape = column.values.shape();
    if (shape.rank() == 0)
      throw InvalidArgumentError(str_cat("from_tensor_slices: tensor ", i, " is a scalar"));
    if (shape[0] != num_rows())
      throw InvalidArgumentError(str_cat("from_tensor_slices: tensor ", i, " has ", shape[0],
                                         " rows, tensor 0 has ", num_rows()));
    const DType from = column.values.dtype(), to = column.dtype;
    const bool known =
        from == to || (from == DType::UInt8 &&
                       (to == DType::Float32 || to == DType::Int32 || to == DType::Int64));
    if (!known || (column.divide_by != 1 && (from == to || to != DType::Float32)))
      throw InvalidArgumentError(
          str_cat("from_tensor_slices: cannot convert ", name_of(from), " to ", name_of(to)));
    column.values = column.values.row_major();
    if (!column.row_shape) column.row_shape.emplace(shape.begin() + 1, shape.end());
  }
  static Shape shape_for(const Column& column, int64_t count) {
    std::vector<int64_t> dims = {count};
    dims.insert(dims.end(), column.row_shape->begin(), column.row_shape->end());
    return Shape(std::span<const int64_t>(dims));
  }
  Tensor gather_column(const Column& column, std::span<const int64_t> rows, bool view) const {
    const Shape shape = shape_for(column, int64_t(rows.size()));
    const bool as_is = column.dtype == column.values.dtype();
    if (view && as_is)
      return tensor_internal::viewed(
          tensor_internal::rows_of(column.values, rows[0], rows[0] + int64_t(rows.size())), shape);
    Tensor result = Tensor::empty(shape, column.dtype);
    const int64_t width = shape.with(0, 1).num_elements();
    for (size_t i = 0; i < rows.size(); ++i) copy_row(column, rows[i], width, result, int64_t(i));
    return result;
  }
  static void copy_row(const Column& column, int64_t row, int64_t width, Tensor& result,
                       int64_t to) {
    const DType from = column.values.dtype();
    const char* in = column.values.array().bytes() + row * width * size_of(from);
    char* out = result.array().bytes() + to * width * size_of(column.dtype);
    if (column.dtype == from) {
      std::memcpy(out, in, size_t(width * size_of(from)));
      return;
    }
    const auto* pixels = reinterpret_cast<const uint8_t*>(in);
    if (column.dtype == DType::Float32)
      divide_row(pixels, reinterpret_cast<float*>(out), width, column.divide_by);
    else if (column.dtype == DType::Int32)
      widen_row(pixels, reinterpret_cast<int32_t*>(out), width);
    else
      widen_row(pixels, reinterpret_cast<int64_t*>(out), width);
  }

  void add_to_checksum(const Tensor& column) const {
    const Tensor values =
        column.device().type == DeviceType::Gpu ? tensor_internal::copied_to(column, {}) : column;
    const auto bytes = size_t(values.num_elements() * size_of(values.dtype()));
    checksum_ = checksum_of({values.array().bytes(), bytes}, checksum_);
  }

  std::vector<Column> columns_;
  ComponentNames names_;
  mutable std::once_flag summed_;
  mutable uint32_t checksum_ = 0;
};

class RangeTable final : public RowTable {
 public:
  RangeTable(int64_t start, int64_t count, int64_t step)
      : start_(start), count_(count), step_(step) {}
  int64_t num_rows() const override { return count_; }
  ElementSpec row_spec() const override { return {{{}, DType::Int64}}; }
  Batch gather(std::span<const int64_t> rows) const override {
    Tensor values = Tensor::empty(Shape{int64_t(rows.size())}, DType::Int64);
    int64_t* out = values.mutable_data<int64_t>();
    for (size_t i = 0; i < rows.size(); ++i) out[i] = start_ + rows[i] * step_;
    return {values};
  }
  uint32_t checksum() const override {
    const int64_t numbers[] = {start_, count_, step_};
    return io::crc32c({reinterpret_cast<const char*>(numbers), sizeof numbers});
  }

 private:
  int64_t start_, count_, step_;
};

}  // namespace data_internal

DISTRIBUTE_INLINE std::shared_ptr<const RowTable> make_table(std::vector<Column> columns) {
  return std::make_shared<data_internal::SliceTable>(std::move(columns));
}

DISTRIBUTE_INLINE std::shared_ptr<const RowTable> make_range_table(int64_t start, int64_t stop,
                                                                   int64_t step) {
  if (step == 0) throw InvalidArgumentError("range: the step is 0");
  // Differences of unsigned numbers are right for any distance of the two.
  const bool up = step > 0;
  const uint64_t low = uint64_t(up ? start : stop), high = uint64_t(up ? stop : start);
  const uint64_t stride = up ? uint64_t(step) : 0 - uint64_t(step);
  const bool none = up ? stop <= start : start <= stop;
  const uint64_t wanted = none ? 0 : (high - low - 1) / stride + 1;
  const int64_t count = int64_t(std::min(wanted, uint64_t(INT64_MAX)));
  return std::make_shared<data_internal::RangeTable>(start, count, step);
}

}  // namespace distribute::data
