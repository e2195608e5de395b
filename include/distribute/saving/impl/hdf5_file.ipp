#pragma once
#if DISTRIBUTE_HAS_HDF5
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/net/message.hpp>
#include <distribute/saving/detail/hdf5_file.hpp>
#include <distribute/saving/detail/hdf5_scan.hpp>
#include <distribute/saving/detail/separate_process.hpp>

#include <cstring>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

namespace distribute::saving_internal {

struct Hdf5Reader::State {
  std::string name;
  std::string bytes;  // of the scan
  std::map<std::string, Hdf5Array> arrays;
  std::vector<std::string> groups;
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> texts;
  std::map<std::string, std::string_view> elements;  // of arrays that are not damaged
};

/// Parses the output of a scan. As its process has read a file from outside, everything is checked.
class ScanParts {
 public:
  explicit ScanParts(std::string_view bytes) : left_(bytes) {}
  bool done() const { return left_.empty(); }
  std::string_view take(uint64_t count) {
    if (count > left_.size()) throw DataLossError("the scan is too short");
    const std::string_view part = left_.substr(0, count);
    left_.remove_prefix(count);
    return part;
  }

 private:
  std::string_view left_;
};

DISTRIBUTE_INLINE Hdf5Array array_of(const Hdf5Described& described) {
  int64_t bytes = size_of(DType::Int64);
  for (const int64_t size : described.sizes)
    if (size < 0 || __builtin_mul_overflow(bytes, size, &bytes)) throw DataLossError("sizes");
  if (described.dtype > uint8_t(DType::Bool)) throw DataLossError("a dtype");
  return {.shape = Shape(described.sizes),
          .dtype = DType(described.dtype),
          .unknown_type = described.unknown_type};
}

/// Fills the rest of `state` from its bytes.
DISTRIBUTE_INLINE void take_apart(auto& state) {
  ScanParts parts(state.bytes);
  uint64_t length = 0;
  std::memcpy(&length, parts.take(sizeof length).data(), sizeof length);
  auto index = value_or_throw(net::parse_message<Hdf5Index>(parts.take(length), "HDF5 index"));
  state.groups = std::move(index.groups);
  for (Hdf5Texts& found : index.texts)
    state.texts[{found.group, found.attribute}] = std::move(found.texts);
  for (const Hdf5Described& described : index.arrays) {
    const Hdf5Array& array = state.arrays[described.path] = array_of(described);
    if (!array.unknown_type.empty() || parts.take(1)[0] == 0) continue;
    state.elements[described.path] =
        parts.take(uint64_t(array.shape.num_elements()) * uint64_t(size_of(array.dtype)));
  }
  if (!parts.done()) throw DataLossError("the scan is too long");
}

/// libhdf5 trusts the lengths in a file: one wrong bit can end its process.
DISTRIBUTE_INLINE Hdf5Reader::Hdf5Reader(std::string bytes, std::string name)
    : state_(std::make_unique<State>()) {
  state_->name = std::move(name);
  const size_t size = bytes.size();
  try {
    auto scan = run_in_separate_process([&](const auto& write) { return scan_hdf5(bytes, write); });
    if (!scan) throw DataLossError("libhdf5 does not read it");
    state_->bytes = std::move(*scan);
    take_apart(*state_);
  } catch (const ResourceExhaustedError& error) {
    throw ResourceExhaustedError(str_cat(state_->name, ": ", error.what()));
  } catch (const Error&) {
    throw DataLossError(
        str_cat(state_->name, ": no HDF5 file, or damaged or cut off (it has ", size, " bytes)"));
  }
}

DISTRIBUTE_INLINE Hdf5Reader::~Hdf5Reader() = default;
DISTRIBUTE_INLINE Hdf5Reader::Hdf5Reader(Hdf5Reader&&) noexcept = default;
DISTRIBUTE_INLINE const std::string& Hdf5Reader::name() const { return state_->name; }
DISTRIBUTE_INLINE const std::map<std::string, Hdf5Array>& Hdf5Reader::arrays() const {
  return state_->arrays;
}
DISTRIBUTE_INLINE const std::vector<std::string>& Hdf5Reader::groups() const {
  return state_->groups;
}

DISTRIBUTE_INLINE std::vector<std::string> Hdf5Reader::texts(const std::string& group,
                                                             const std::string& attribute) const {
  const auto found = state_->texts.find({group, attribute});
  return found == state_->texts.end() ? std::vector<std::string>() : found->second;
}

DISTRIBUTE_INLINE Tensor Hdf5Reader::read(const std::string& path) const {
  const Hdf5Array& array = state_->arrays.at(path);
  if (!array.unknown_type.empty())
    throw UnimplementedError(str_cat(state_->name, ": '", path, "' has ", array.unknown_type,
                                     ", which tensors here cannot be"));
  const auto elements = state_->elements.find(path);
  if (elements == state_->elements.end())
    throw DataLossError(str_cat(state_->name, ": '", path, "' is damaged or cut off"));
  Tensor value = Tensor::empty(array.shape, array.dtype, Device{});
  if (!elements->second.empty())
    std::memcpy(value.array().bytes(), elements->second.data(), elements->second.size());
  return value;
}

}  // namespace distribute::saving_internal
#endif
