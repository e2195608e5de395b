#pragma once
#include <distribute/checkpoint/detail/tensor_slice.hpp>

#include <distribute/base/error.hpp>

#include <algorithm>
#include <bit>

namespace distribute::checkpoint_internal {

/// Writes a length byte, then the number without leading zero bytes, most significant first.
DISTRIBUTE_INLINE void append_ordered_number(std::string& out, uint64_t value) {
  const int bytes = (64 - std::countl_zero(value) + 7) / 8;
  out += char(bytes);
  for (int i = bytes - 1; i >= 0; --i) out += char(uint8_t(value >> (8 * i)));
}

DISTRIBUTE_INLINE void append_ordered_string(std::string& out, std::string_view text) {
  for (const char c : text) {
    out += c;
    if (c == '\0') out += '\xff';
    if (c == '\xff') out += '\0';
  }
  out.append("\0\x01", 2);
}

/// Writes n bytes, which hold 7n-1 bits and a sign, under a header of n one bits.
DISTRIBUTE_INLINE void append_ordered_signed(std::string& out, int64_t value) {
  const uint64_t magnitude = uint64_t(value < 0 ? ~value : value);
  const int bytes = (64 - std::countl_zero(magnitude)) / 7 + 1;
  std::string code(10, value < 0 ? '\xff' : '\0');
  for (int i = 0; i < 8; ++i) code[9 - i] = char(uint8_t(uint64_t(value) >> (8 * i)));
  code.erase(0, 10 - bytes);
  for (int bit = 0; bit < bytes; ++bit) code[bit / 8] = char(code[bit / 8] ^ (0x80 >> (bit % 8)));
  out += code;
}

}  // namespace distribute::checkpoint_internal

namespace distribute::train {

DISTRIBUTE_INLINE std::vector<int64_t> slice_dims(const TensorSlice& slice,
                                                  const std::vector<int64_t>& dims) {
  if (slice.size() != dims.size()) {
    throw InvalidArgumentError(str_cat("slice: wanted ", dims.size(),
                                       " dimensions as in the tensor, came ", slice.size()));
  }
  std::vector<int64_t> sizes = dims;
  for (size_t i = 0; i < slice.size(); ++i) {
    const auto [start, length] = slice[i];
    if (length == -1 && start == 0) continue;
    if (start < 0 || length < 0 || length > dims[i] || start > dims[i] - length) {
      throw InvalidArgumentError(str_cat("slice: ", start, " + ", length, " in dimension ", i,
                                         " lies outside the tensor's size ", dims[i]));
    }
    sizes[i] = length;
  }
  return sizes;
}

DISTRIBUTE_INLINE std::string slice_key(std::string_view name, const TensorSlice& slice) {
  std::string key;
  checkpoint_internal::append_ordered_number(key, 0);
  checkpoint_internal::append_ordered_string(key, name);
  checkpoint_internal::append_ordered_number(key, slice.size());
  for (const auto& [start, length] : slice) {
    checkpoint_internal::append_ordered_signed(key, start);
    checkpoint_internal::append_ordered_signed(key, length);
  }
  return key;
}

DISTRIBUTE_INLINE std::vector<SliceRun> slice_runs(const TensorSlice& slice,
                                                   const std::vector<int64_t>& dims) {
  const std::vector<int64_t> sizes = slice_dims(slice, dims);
  int64_t total = 1, run = 1;
  for (int64_t size : sizes) {
    if (size == 0) return {};
  }
  for (int64_t size : sizes) total *= size;
  size_t outer = dims.size();  // dimensions in front of those that one run covers
  while (outer > 0 && (run *= sizes[--outer], sizes[outer] == dims[outer])) {
  }
  std::vector<SliceRun> runs;
  std::vector<int64_t> position(outer, 0);
  for (int64_t done = 0; done < total; done += run) {
    int64_t offset = 0;
    for (size_t i = 0; i < dims.size(); ++i) {
      offset = offset * dims[i] + slice[i].start + (i < outer ? position[i] : 0);
    }
    runs.push_back({offset, done, run});
    for (size_t i = outer; i-- > 0 && ++position[i] == sizes[i];) position[i] = 0;
  }
  return runs;
}

/// Slices are sorted by their first rows; each is compared only with those that begin before it
/// ends.
DISTRIBUTE_INLINE bool slices_overlap(const std::vector<TensorSlice>& slices,
                                      const std::vector<int64_t>& dims) {
  std::vector<TensorSlice> sorted;  // with lengths, without those that are empty
  for (TensorSlice slice : slices) {
    const std::vector<int64_t> sizes = slice_dims(slice, dims);
    for (size_t i = 0; i < sizes.size(); ++i) slice[i].length = sizes[i];
    if (std::find(sizes.begin(), sizes.end(), 0) == sizes.end()) sorted.push_back(std::move(slice));
  }
  if (dims.empty()) return sorted.size() > 1;
  const auto meet = [](const SliceExtent& a, const SliceExtent& b) {
    return a.start < b.start + b.length && b.start < a.start + a.length;
  };
  std::sort(sorted.begin(), sorted.end(),
            [](const TensorSlice& a, const TensorSlice& b) { return a[0].start < b[0].start; });
  for (size_t i = 0; i < sorted.size(); ++i)
    for (size_t j = i + 1; j < sorted.size() && meet(sorted[i][0], sorted[j][0]); ++j)
      if (std::equal(sorted[i].begin(), sorted[i].end(), sorted[j].begin(), meet)) return true;
  return false;
}

}  // namespace distribute::train
