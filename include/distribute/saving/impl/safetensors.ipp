#pragma once
#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/saving/keras_model.hpp>
#include <distribute/tensor/tensor.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace distribute::saving_internal {

/// The elements of a tensor, wherever it is.
DISTRIBUTE_INLINE void append_bytes(std::string& out, const Tensor& value) {
  const bool gpu = value.device().type == DeviceType::Gpu;
  const Tensor plain = (gpu ? value.to(Device{}) : value).row_major();
  out.append(reinterpret_cast<const char*>(plain.array().bytes()),
             size_t(plain.num_elements() * size_of(plain.dtype())));
}

/// `bytes` are as many as shape and dtype say.
DISTRIBUTE_INLINE Tensor tensor_of_bytes(const Shape& shape, DType dtype, std::string_view bytes) {
  Tensor value = Tensor::empty(shape, dtype, Device{});
  auto* out = reinterpret_cast<unsigned char*>(value.array().bytes());
  if (!bytes.empty()) std::memcpy(out, bytes.data(), bytes.size());
  if (dtype == DType::Bool)  // any other byte would be no value of C++'s bool
    for (size_t i = 0; i < bytes.size(); ++i) out[i] = out[i] != 0;
  return value;
}

/// Returns nullopt if that number of bytes is not a tensor of these sizes, however large these are.
DISTRIBUTE_INLINE std::optional<Shape> shape_of_bytes(const std::vector<uint64_t>& sizes,
                                                      DType dtype, uint64_t bytes) {
  constexpr size_t kMostAxes = 32;
  if (sizes.size() > kMostAxes) return std::nullopt;
  uint64_t count = 1;
  std::vector<int64_t> dims;
  for (const uint64_t size : sizes) {
    if (size > uint64_t(INT64_MAX) || __builtin_mul_overflow(count, size, &count))
      return std::nullopt;
    dims.push_back(int64_t(size));
  }
  if (__builtin_mul_overflow(count, uint64_t(size_of(dtype)), &count) || count != bytes)
    return std::nullopt;
  return Shape(dims);
}

static_assert(std::endian::native == std::endian::little, "the files are little-endian");

inline constexpr size_t kLengthBytes = 8;
inline constexpr uint64_t kLongestHeader = 100'000'000;  // as the format's own library

inline constexpr std::array<std::pair<DType, const char*>, 7> kSafetensorsTypes = {
    {{DType::Float32, "F32"},
     {DType::BFloat16, "BF16"},
     {DType::Float16, "F16"},
     {DType::Int32, "I32"},
     {DType::Int64, "I64"},
     {DType::UInt8, "U8"},
     {DType::Bool, "BOOL"}}};

DISTRIBUTE_INLINE const char* safetensors_type(DType dtype) {
  for (const auto& [known, text] : kSafetensorsTypes)
    if (known == dtype) return text;
  return "";
}

/// A file that is being read.
class SafetensorsParser {
 public:
  SafetensorsParser(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  saving::safetensors::Contents parse() {
    const nlohmann::json header = read_header();
    for (const auto& [key, value] : header.items())
      key == "__metadata__" ? read_metadata(value) : read_entry(key, value);
    check_cover();
    return std::move(contents_);
  }

 private:
  struct Range {
    uint64_t begin, end;
    std::string key;
  };

  [[noreturn]] void fail(const std::string& reason) const {
    throw DataLossError(str_cat(name_, ": no safetensors file, or damaged: ", reason));
  }

  nlohmann::json read_header() {
    uint64_t length = 0;
    if (bytes_.starts_with("version https://git-lfs"))
      fail("it is a pointer of Git LFS in place of the file; `git lfs pull` fetches it");
    if (bytes_.size() < kLengthBytes)
      fail(str_cat("it has ", bytes_.size(), " bytes, less than the length of its header takes"));
    std::memcpy(&length, bytes_.data(), kLengthBytes);
    if (length > kLongestHeader || length > bytes_.size() - kLengthBytes)
      fail(str_cat("its header would have ", length, " bytes, the whole file has ", bytes_.size()));
    const std::string_view text = bytes_.substr(kLengthBytes, length);
    data_ = bytes_.substr(kLengthBytes + length);
    if (!text.starts_with('{')) fail("its header is no JSON object");
    std::set<std::string> seen;
    bool twice = false;
    const auto check = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& value) {
      if (depth == 1 && event == nlohmann::json::parse_event_t::key &&
          !seen.insert(value.get<std::string>()).second)
        twice = true;
      return true;
    };
    const nlohmann::json header = nlohmann::json::parse(text, check, /*allow_exceptions=*/false);
    if (!header.is_object()) fail("its header is no JSON object");
    if (twice) fail("its header names a tensor twice");
    return header;
  }

  void read_metadata(const nlohmann::json& value) {
    if (!value.is_object()) fail("__metadata__ is no JSON object");
    for (const auto& [key, text] : value.items()) {
      if (!text.is_string()) fail(str_cat("'", key, "' of __metadata__ is no text"));
      contents_.metadata[key] = text.get<std::string>();
    }
  }

  /// Numbers that are not negative, or a failure.
  std::vector<uint64_t> numbers(const std::string& key, const nlohmann::json& value,
                                const char* field) const {
    const auto list = value.is_object() ? value.find(field) : value.end();
    if (!value.is_object() || list == value.end() || !list->is_array())
      fail(str_cat("tensor '", key, "' has no list '", field, "'"));
    std::vector<uint64_t> result;
    for (const nlohmann::json& number : *list) {
      if (!number.is_number_unsigned())
        fail(str_cat("tensor '", key, "' has something else than a size in '", field, "'"));
      result.push_back(number.get<uint64_t>());
    }
    return result;
  }

  DType type_of(const std::string& key, const nlohmann::json& value) const {
    const auto type = value.find("dtype");
    if (type == value.end() || !type->is_string()) fail(str_cat("tensor '", key, "' has no dtype"));
    for (const auto& [dtype, text] : kSafetensorsTypes)
      if (*type == text) return dtype;
    throw UnimplementedError(str_cat(name_, ": tensor '", key, "' is ", type->get<std::string>(),
                                     ", which tensors here cannot be; convert it first"));
  }

  void read_entry(const std::string& key, const nlohmann::json& value) {
    const auto sizes = numbers(key, value, "shape"), offsets = numbers(key, value, "data_offsets");
    if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > data_.size())
      fail(str_cat("the place of tensor '", key, "' is not inside of the file"));
    const DType dtype = type_of(key, value);
    const uint64_t bytes = offsets[1] - offsets[0];
    const auto shape = shape_of_bytes(sizes, dtype, bytes);
    if (!shape) fail(str_cat("tensor '", key, "' has ", bytes, " bytes, which its shape does not"));
    contents_.tensors[key] = tensor_of_bytes(*shape, dtype, data_.substr(offsets[0], bytes));
    ranges_.push_back({offsets[0], offsets[1], key});
  }

  void check_cover() {
    std::sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) {
      return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    uint64_t at = 0;
    for (const Range& range : ranges_) {
      if (range.begin != at)
        fail(str_cat("tensor '", range.key, "' begins at ", range.begin, ", where ", at,
                     " was to come: tensors overlap, or bytes lie between them"));
      at = range.end;
    }
    if (at != data_.size())
      fail(str_cat("its tensors end at ", at, ", its data at ", data_.size()));
  }

  std::string_view bytes_, data_;
  const std::string& name_;
  saving::safetensors::Contents contents_;
  std::vector<Range> ranges_;
};

/// Wide elements first, so that all lie aligned; then by name.
DISTRIBUTE_INLINE std::vector<std::pair<std::string, Tensor>> in_file_order(
    const saving::safetensors::Tensors& tensors) {
  std::vector<std::pair<std::string, Tensor>> sorted(tensors.begin(), tensors.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return size_of(a.second.dtype()) > size_of(b.second.dtype());
  });
  return sorted;
}

}  // namespace distribute::saving_internal

namespace distribute::saving::safetensors {

DISTRIBUTE_INLINE std::string serialize(const Tensors& tensors, const Metadata& metadata) {
  using namespace saving_internal;
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::string data;
  for (const auto& [name, value] : in_file_order(tensors)) {
    if (name == "__metadata__")
      throw InvalidArgumentError("safetensors: no tensor may be called '__metadata__'");
    const size_t begin = data.size();
    append_bytes(data, value);
    header[name] = {{"dtype", safetensors_type(value.dtype())},
                    {"shape", std::vector<int64_t>(value.shape().begin(), value.shape().end())},
                    {"data_offsets", {begin, data.size()}}};
  }
  std::string text = header.dump();
  text.resize((text.size() + kLengthBytes - 1) / kLengthBytes * kLengthBytes, ' ');
  const uint64_t length = text.size();
  std::string file(kLengthBytes, '\0');
  std::memcpy(file.data(), &length, kLengthBytes);
  return file + text + data;
}

DISTRIBUTE_INLINE Contents deserialize(std::string_view bytes, const std::string& name) {
  return saving_internal::SafetensorsParser(bytes, name).parse();
}

DISTRIBUTE_INLINE void save_file(const Tensors& tensors, const std::string& path,
                                 const Metadata& metadata) {
  throw_if_error(io::write_file_atomically(path, serialize(tensors, metadata)));
}

DISTRIBUTE_INLINE Contents load_file(const std::string& path) {
  return deserialize(value_or_throw(io::read_file(path)), path);
}

}  // namespace distribute::saving::safetensors
