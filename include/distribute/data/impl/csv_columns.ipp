#pragma once
#include <distribute/base/error.hpp>
#include <distribute/data/detail/csv_reader.hpp>
#include <distribute/data/element_spec.hpp>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace distribute::data::data_internal {

inline constexpr size_t kCellBytes = 8;  // of each column in a packed record

/// A text in a packed record.
struct PackedText {
  uint32_t begin, size;
};

DISTRIBUTE_INLINE CsvType type_of(const CsvDefault& column) {
  if (const auto* type = std::get_if<CsvType>(&column)) return *type;
  return CsvType(column.index() - 1);
}

DISTRIBUTE_INLINE DType dtype_of(CsvType type) {
  switch (type) {
    case CsvType::Float32: return DType::Float32;
    case CsvType::Int32: return DType::Int32;
    case CsvType::Int64: return DType::Int64;
    case CsvType::Bytes: break;
  }
  return DType::UInt8;
}

DISTRIBUTE_INLINE ElementSpec spec_of_columns(const CsvLayout& layout) {
  ElementSpec spec;
  for (size_t i = 0; i < layout.columns.size(); ++i) {
    TensorSpec column{.dtype = dtype_of(type_of(layout.columns[i]))};
    if (column.dtype == DType::UInt8) column.shape = {-1};
    if (!layout.names.empty()) column.name = layout.names[i];
    spec.push_back(std::move(column));
  }
  return spec;
}

/// Removes spaces around a number, and a plus before it.
DISTRIBUTE_INLINE std::string_view trimmed_number(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\n\v\f\r";
  text.remove_prefix(std::min(text.find_first_not_of(kSpaces), text.size()));
  while (!text.empty() && kSpaces.find(text.back()) != std::string_view::npos)
    text.remove_suffix(1);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  return text;
}

template <typename T>
bool read_number(std::string_view text, T& value) {
  text = trimmed_number(text);
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && rest == end;
}

/// Reads a float as TensorFlow does: too large ones are infinite, too small ones 0, and the digits
/// may be hexadecimal.
DISTRIBUTE_INLINE bool read_number(std::string_view text, float& value) {
  text = trimmed_number(text);
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && rest == end) return true;
  const std::string copy(text);
  char* stop = nullptr;
  value = std::strtof(copy.c_str(), &stop);
  return !copy.empty() && stop == copy.c_str() + copy.size();
}

DISTRIBUTE_INLINE CsvType narrowest_type(std::string_view text) {
  int32_t small = 0;
  int64_t large = 0;
  double real = 0;
  if (read_number(text, small)) return CsvType::Int32;
  if (read_number(text, large)) return CsvType::Int64;
  return read_number(text, real) && std::isfinite(real) ? CsvType::Float32 : CsvType::Bytes;
}

/// Packs the value of one field; returns false when it is of another type.
DISTRIBUTE_INLINE bool pack_field(std::string_view field, CsvType type, char* cell,
                                  std::string& row) {
  const auto number = [&](auto value) {
    if (!read_number(field, value)) return false;
    std::memcpy(cell, &value, sizeof(value));
    return true;
  };
  switch (type) {
    case CsvType::Float32: return number(float{});
    case CsvType::Int32: return number(int32_t{});
    case CsvType::Int64: return number(int64_t{});
    case CsvType::Bytes: break;
  }
  const PackedText text{uint32_t(row.size()), uint32_t(field.size())};
  std::memcpy(cell, &text, sizeof(text));
  row.append(field);  // `cell` is not used behind this
  return true;
}

/// Packs the default of a column; returns false when it has none.
DISTRIBUTE_INLINE bool pack_default(const CsvDefault& column, size_t cell, std::string& row) {
  const auto number = [&](auto value) { std::memcpy(row.data() + cell, &value, sizeof(value)); };
  if (const auto* value = std::get_if<float>(&column)) number(*value);
  if (const auto* value = std::get_if<int32_t>(&column)) number(*value);
  if (const auto* value = std::get_if<int64_t>(&column)) number(*value);
  if (const auto* value = std::get_if<std::string>(&column))
    pack_field(*value, CsvType::Bytes, row.data() + cell, row);
  return column.index() != 0;
}

DISTRIBUTE_INLINE const char* name_of(CsvType type) {
  switch (type) {
    case CsvType::Float32: return "float32";
    case CsvType::Int32: return "int32";
    case CsvType::Int64: return "int64";
    case CsvType::Bytes: break;
  }
  return "text";
}

[[noreturn]] DISTRIBUTE_INLINE void refuse_field(const CsvLayout& layout, size_t column,
                                                 const std::string& where,
                                                 const std::string& what) {
  const auto& selected = layout.options.select_cols;
  const int64_t number = selected.empty() ? int64_t(column) : selected[column];
  const std::string name =
      layout.names.empty() ? std::string() : str_cat(" \"", layout.names[column], "\"");
  throw InvalidArgumentError(
      str_cat(where, ", column ", number, name, " (counted from 0): ", what));
}

DISTRIBUTE_INLINE void pack_record(std::span<const std::string_view> fields,
                                   const CsvLayout& layout, const std::string& where,
                                   std::string& row) {
  const size_t count = layout.columns.size();
  const auto& selected = layout.options.select_cols;
  if (selected.empty() ? fields.size() != count : int64_t(fields.size()) <= selected.back())
    throw InvalidArgumentError(str_cat(where, ": the record has ", fields.size(), " fields, ",
                                       selected.empty()
                                           ? str_cat(count, " are expected")
                                           : str_cat("column ", selected.back(), " is selected")));
  row.assign(count * kCellBytes, '\0');
  for (size_t i = 0; i < count; ++i) {
    const std::string_view field = fields[selected.empty() ? i : size_t(selected[i])];
    if (field.empty() || field == layout.options.na_value) {
      if (!pack_default(layout.columns[i], i * kCellBytes, row))
        refuse_field(layout, i, where, "the field is required but empty");
    } else {
      const CsvType type = type_of(layout.columns[i]);
      if (!pack_field(field, type, row.data() + i * kCellBytes, row))
        refuse_field(layout, i, where,
                     str_cat("not a valid ", name_of(type), ": \"", field.substr(0, 80), "\""));
    }
  }
}

DISTRIBUTE_INLINE std::string_view packed_text(std::string_view row, size_t column) {
  PackedText text;
  std::memcpy(&text, row.data() + column * kCellBytes, sizeof(text));
  return row.substr(text.begin, text.size);
}

DISTRIBUTE_INLINE std::vector<Tensor> unpack_record(std::string_view row,
                                                    const std::vector<CsvDefault>& columns) {
  std::vector<Tensor> result;
  for (size_t i = 0; i < columns.size(); ++i) {
    const DType dtype = dtype_of(type_of(columns[i]));
    if (dtype == DType::UInt8) {
      result.push_back(bytes_tensor(std::string(packed_text(row, i))));
      continue;
    }
    result.push_back(Tensor::empty(Shape{}, dtype, Device{}));
    std::memcpy(result.back().array().bytes(), row.data() + i * kCellBytes, size_t(size_of(dtype)));
  }
  return result;
}

/// Makes one column of texts, filled up with 0 to the longest.
DISTRIBUTE_INLINE Tensor unpack_texts(const std::vector<std::string_view>& rows, size_t column) {
  size_t longest = 0;
  for (const std::string_view row : rows)
    longest = std::max(longest, packed_text(row, column).size());
  Tensor result =
      Tensor::empty(Shape{int64_t(rows.size()), int64_t(longest)}, DType::UInt8, Device{});
  if (longest == 0) return result;
  char* out = result.array().bytes();
  for (const std::string_view row : rows) {
    const std::string_view text = packed_text(row, column);
    std::memcpy(out, text.data(), text.size());
    std::memset(out + text.size(), 0, longest - text.size());
    out += longest;
  }
  return result;
}

/// Copies one column of numbers. A fixed size makes each copy one instruction.
template <size_t kSize>
void copy_cells(const std::vector<std::string_view>& rows, size_t column, char* out) {
  for (const std::string_view row : rows) {
    std::memcpy(out, row.data() + column * kCellBytes, kSize);
    out += kSize;
  }
}

DISTRIBUTE_INLINE std::vector<Tensor> unpack_records(const std::vector<Batch>& rows,
                                                     const std::vector<CsvDefault>& columns) {
  std::vector<std::string_view> views;
  for (const Batch& row : rows) views.push_back(bytes_of(row.x));
  std::vector<Tensor> result;
  for (size_t i = 0; i < columns.size(); ++i) {
    const DType dtype = dtype_of(type_of(columns[i]));
    if (dtype == DType::UInt8) {
      result.push_back(unpack_texts(views, i));
      continue;
    }
    result.push_back(Tensor::empty(Shape{int64_t(rows.size())}, dtype, Device{}));
    char* const out = result.back().array().bytes();
    size_of(dtype) == 4 ? copy_cells<4>(views, i, out) : copy_cells<8>(views, i, out);
  }
  return result;
}

}  // namespace distribute::data::data_internal
