#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/data/detail/element_record.hpp>
#include <distribute/data/detail/padding.hpp>
#include <distribute/data/element_spec.hpp>
#include <distribute/tensor/detail/unrecorded.hpp>
#include <distribute/tensor/tensorflow_data_type.hpp>

#include <algorithm>
#include <cstring>

namespace distribute::data::data_internal {

DISTRIBUTE_INLINE std::optional<DType> dtype_of_number(int64_t number) {
  for (const DType dtype : {DType::Float32, DType::BFloat16, DType::Float16, DType::Int32,
                            DType::Int64, DType::UInt8, DType::Bool})
    if (number == int64_t(io::data_type_of(dtype))) return dtype;
  if (number == int64_t(io::DataType::String)) return DType::UInt8;
  return std::nullopt;
}

DISTRIBUTE_INLINE std::string tensor_record(const Tensor& tensor) {
  const Tensor plain = tensor.row_major();
  const int64_t bytes = plain.num_elements() * size_of(plain.dtype());
  io::ProtoWriter proto;
  proto.integer(1, int64_t(io::data_type_of(plain.dtype())));
  proto.message(2, io::shape_proto(plain.shape().dims()));
  if (bytes > 0) proto.bytes(4, {plain.array().bytes(), size_t(bytes)});
  return proto.take();
}

/// The contents of a TensorProto before they become a tensor.
struct TensorFields {
  int64_t dtype = 0;
  std::vector<int64_t> dims;
  std::string_view content;
  std::vector<std::string_view> strings;
};

DISTRIBUTE_INLINE TensorFields read_tensor_fields(std::string_view record,
                                                  const std::string& where) {
  TensorFields result;
  bool unknown_rank = false;
  const bool good = io::read_fields(record, [&](const io::ProtoField& field) {
    if (field.is(1, io::WireType::Varint)) result.dtype = field.as_int64();
    if (field.is(4, io::WireType::Bytes)) result.content = field.bytes;
    if (field.is(8, io::WireType::Bytes)) result.strings.push_back(field.bytes);
    return !field.is(2, io::WireType::Bytes) ||
           io::read_shape_proto(field.bytes, result.dims, unknown_rank);
  });
  if (!good) throw DataLossError(where + ": a record is no TensorProto");
  return result;
}

/// Gives the number of elements in the shape, at most `most`.
DISTRIBUTE_INLINE int64_t checked_count(const std::vector<int64_t>& dims, int64_t most,
                                        const std::string& where) {
  int64_t count = 1;
  for (const int64_t size : dims) {
    if (size < 0 || (size > 0 && count > most / size))
      throw DataLossError(where + ": the shape of a record does not fit its values");
    count *= size;
  }
  return count;
}

/// Gives the strings of a tensor: one by one, or from `content`, which has all lengths before all
/// bytes.
DISTRIBUTE_INLINE std::vector<std::string_view> strings_in(const TensorFields& fields,
                                                           const std::string& where) {
  if (!fields.strings.empty()) return fields.strings;
  std::string_view rest = fields.content;
  std::vector<uint64_t> sizes(size_t(checked_count(fields.dims, int64_t(rest.size()), where)));
  std::vector<std::string_view> strings(sizes.size());
  bool good = true;
  for (uint64_t& size : sizes) good = good && io::take_varint(rest, size);
  for (size_t i = 0; i < sizes.size(); ++i)
    good = good && io::take_bytes(rest, sizes[i], strings[i]);
  if (!good) throw DataLossError(where + ": the strings of a record are cut off");
  return strings;
}

DISTRIBUTE_INLINE Tensor strings_of_record(const TensorFields& fields, const std::string& where) {
  const std::vector<std::string_view> strings = strings_in(fields, where);
  if (checked_count(fields.dims, int64_t(strings.size()), where) != int64_t(strings.size()))
    throw DataLossError(where + ": the shape of a record does not fit its strings");
  std::vector<int64_t> dims = fields.dims;
  if (dims.empty()) return bytes_tensor(std::string(strings[0]));
  std::vector<Batch> rows;
  for (const std::string_view text : strings) rows.push_back({bytes_tensor(std::string(text))});
  dims.push_back(0);
  if (rows.empty()) return Tensor::empty(Shape(std::span<const int64_t>(dims)), DType::UInt8);
  const Tensor all = pad_and_stack(rows, {}).x;
  dims.back() = all.shape()[1];
  return tensor_internal::viewed(all, Shape(std::span<const int64_t>(dims)));
}

DISTRIBUTE_INLINE Tensor tensor_of_record(std::string_view record, const std::string& where) {
  const TensorFields fields = read_tensor_fields(record, where);
  const std::optional<DType> dtype = dtype_of_number(fields.dtype);
  if (!dtype)
    throw InvalidArgumentError(str_cat(where, ": a tensor of type ",
                                       io::name_of(io::DataType(fields.dtype)),
                                       ", which tensors cannot have"));
  if (fields.dtype == int64_t(io::DataType::String)) return strings_of_record(fields, where);
  const int64_t size = size_of(*dtype);
  const int64_t count = checked_count(fields.dims, int64_t(fields.content.size()) / size, where);
  if (count * size != int64_t(fields.content.size()))
    throw DataLossError(where + ": the shape of a record does not fit its values");
  Tensor result = Tensor::empty(Shape(std::span<const int64_t>(fields.dims)), *dtype, Device{});
  if (count > 0) std::memcpy(result.array().bytes(), fields.content.data(), fields.content.size());
  return result;
}

class RecordElements final : public BatchStream {
 public:
  RecordElements(std::string path, const ElementSpec& spec, io::Compression compression)
      : path_(std::move(path)),
        num_components_(int64_t(spec.size())),
        names_(names_of(spec)),
        compression_(compression) {}
  bool next(Batch& out) override {
    if (ended_) return false;
    std::vector<Tensor> components;
    std::string record;
    while (int64_t(components.size()) < num_components_ && value_or_throw(file().next(record)))
      components.push_back(tensor_of_record(record, path_));
    ended_ = components.empty();
    if (ended_) return false;
    if (int64_t(components.size()) < num_components_)
      throw DataLossError(path_ + ": the last element is not whole");
    out = Batch::from_components(std::move(components), names_);
    ++given_;
    return true;
  }
  int64_t skip(int64_t count) override {
    if (ended_) return 0;
    const int64_t most = INT64_MAX / num_components_;
    const int64_t wanted = std::min(count, most) * num_components_;
    const int64_t done = value_or_throw(file().skip(wanted)) / num_components_;
    ended_ = done < std::min(count, most);
    given_ += done;
    return done;
  }
  void save(StateWriter& state) const override { state.put(given_); }
  void restore(StateReader& state) override { replay(state.get()); }

 private:
  io::RecordReader& file() {
    if (!reader_) reader_.emplace(value_or_throw(io::RecordReader::open(path_, compression_)));
    return *reader_;
  }

  std::string path_;
  int64_t num_components_;
  ComponentNames names_;
  io::Compression compression_;
  std::optional<io::RecordReader> reader_;
  bool ended_ = false;
  int64_t given_ = 0;
};

DISTRIBUTE_INLINE std::string seal_record(int64_t count) {
  return str_cat("end of ", count, " elements");
}

class SealedElements final : public BatchStream {
 public:
  SealedElements(std::string path, const ElementSpec& spec)
      : path_(std::move(path)), num_components_(spec.size()), names_(names_of(spec)) {}
  bool next(Batch& out) override {
    std::vector<std::string> records;
    if (!read(records)) return false;
    std::vector<Tensor> components;
    for (const std::string& record : records) components.push_back(tensor_of_record(record, path_));
    out = Batch::from_components(std::move(components), names_);
    return true;
  }
  int64_t skip(int64_t count) override {
    std::vector<std::string> dropped;
    int64_t done = 0;
    while (done < count && read(dropped)) ++done;
    return done;
  }
  void save(StateWriter& state) const override { state.put(given_); }
  void restore(StateReader& state) override { replay(state.get()); }

 private:
  bool read(std::vector<std::string>& records) {
    if (ended_) return false;
    if (!reader_) reader_.emplace(value_or_throw(io::RecordReader::open(path_)));
    records.resize(num_components_);
    for (size_t i = 0; i < num_components_; ++i) {
      const bool is_there = value_or_throw(reader_->next(records[i]));
      ended_ = i == 0 && is_there && records[i] == seal_record(given_);
      if (ended_) return false;
      if (!is_there)
        throw DataLossError(str_cat(path_, ": the file is cut off behind element ", given_,
                                    "; remove it, and the next pass makes it anew"));
    }
    ++given_;
    return true;
  }

  std::string path_;
  size_t num_components_;
  ComponentNames names_;
  std::optional<io::RecordReader> reader_;
  bool ended_ = false;
  int64_t given_ = 0;
};

DISTRIBUTE_INLINE std::unique_ptr<BatchStream> sealed_elements(std::string path, ElementSpec spec) {
  if (spec.empty()) throw InvalidArgumentError(path + ": elements have no components");
  return std::make_unique<SealedElements>(std::move(path), spec);
}

DISTRIBUTE_INLINE std::unique_ptr<BatchStream> record_elements(std::string path, ElementSpec spec,
                                                               io::Compression compression) {
  if (spec.empty()) throw InvalidArgumentError(path + ": elements have no components");
  return std::make_unique<RecordElements>(std::move(path), spec, compression);
}

}  // namespace distribute::data::data_internal
