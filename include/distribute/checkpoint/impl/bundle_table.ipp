#pragma once
#include <distribute/checkpoint/detail/bundle_table.hpp>

#include <distribute/base/error.hpp>
#include <distribute/io/compression.hpp>
#include <distribute/io/detail/wire.hpp>

#include <algorithm>

namespace distribute::checkpoint_internal {

inline constexpr size_t kTableFooterBytes = 48;
inline constexpr uint64_t kTableMagic = 0xdb4775248b80fb57u;

/// Returns a short key k with a <= k < b, for the index.
DISTRIBUTE_INLINE std::string shortest_separator(const std::string& a, std::string_view b) {
  const size_t shorter = std::min(a.size(), b.size());
  size_t i = 0;
  while (i < shorter && a[i] == b[i]) ++i;
  if (i == shorter || uint8_t(a[i]) == 0xff || uint8_t(a[i]) + 1 >= uint8_t(b[i])) return a;
  return a.substr(0, i) + char(a[i] + 1);
}

/// Returns a short key that is not below `a`, for the last index row.
DISTRIBUTE_INLINE std::string short_successor(const std::string& a) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (uint8_t(a[i]) != 0xff) return a.substr(0, i) + char(a[i] + 1);
  }
  return a;
}

/// Takes a table apart, with every length checked against the bytes that are there.
class TableParser {
 public:
  TableParser(std::string_view bytes, const std::string& file) : bytes_(bytes), file_(file) {}
  std::vector<train::TableRow> parse();

 private:
  [[noreturn]] void fail(const std::string& reason) const {
    throw DataLossError(file_ + ": " + reason);
  }
  /// Checks type and checksum of the block whose encoded place is at the front of `handle`.
  std::string_view read_block(std::string_view& handle);
  void read_rows(std::string_view block, std::vector<train::TableRow>& rows);
  void read_row(std::string_view& block, std::vector<train::TableRow>& rows);

  std::string_view bytes_;
  const std::string& file_;
  uint64_t key_bytes_ = 0;
};

DISTRIBUTE_INLINE std::string_view TableParser::read_block(std::string_view& handle) {
  uint64_t offset = 0, size = 0;
  if (!io::take_varint(handle, offset) || !io::take_varint(handle, size) ||
      offset > bytes_.size() || size > bytes_.size() - offset ||
      bytes_.size() - offset - size < 5) {
    fail("a block lies outside the file: damaged or cut off");
  }
  const std::string_view block = bytes_.substr(offset, size);
  std::string_view trailer = bytes_.substr(offset + size + 1, 4);
  uint32_t stored = 0;
  const bool whole = io::take_fixed32(trailer, stored);
  if (!whole || stored != io::mask_crc(io::crc32c(bytes_.substr(offset, size + 1)))) {
    fail(str_cat("the block at offset ", offset, " has a wrong checksum: the file is damaged"));
  }
  const int type = uint8_t(bytes_[offset + size]);
  if (type == 0) return block;
  throw UnimplementedError(
      str_cat(file_, ": the block at offset ", offset, " is compressed (",
              type == 1 ? "snappy" : "type " + std::to_string(type),
              "), which this version cannot read; save the checkpoint again with TensorFlow"));
}

DISTRIBUTE_INLINE void TableParser::read_row(std::string_view& block,
                                             std::vector<train::TableRow>& rows) {
  uint64_t shared = 0, unshared = 0, value_size = 0;
  std::string_view suffix, value;
  if (!io::take_varint(block, shared) || !io::take_varint(block, unshared) ||
      !io::take_varint(block, value_size) || !io::take_bytes(block, unshared, suffix) ||
      !io::take_bytes(block, value_size, value)) {
    fail("a row is cut off: the file is damaged");
  }
  const std::string_view last = rows.empty() ? std::string_view() : rows.back().first;
  if (shared > last.size()) fail("a row shares more than its predecessor has");
  // Shared prefixes could blow a small file up without end; real ones gain less than 16 times.
  key_bytes_ += shared + unshared;
  if (key_bytes_ > 64 * bytes_.size() + (1 << 20)) fail("the keys are senselessly long");
  std::string key(last.substr(0, shared));
  key.append(suffix);
  if (!rows.empty() && key <= last) fail("keys are not in increasing order: the file is damaged");
  rows.emplace_back(std::move(key), value);
}

DISTRIBUTE_INLINE void TableParser::read_rows(std::string_view block,
                                              std::vector<train::TableRow>& rows) {
  uint32_t restarts = 0;
  std::string_view tail = block.substr(block.size() - std::min<size_t>(block.size(), 4));
  if (!io::take_fixed32(tail, restarts) || restarts > (block.size() - 4) / 4) {
    fail("a block has a senseless number of restart points: the file is damaged");
  }
  block.remove_suffix(4 + 4 * size_t(restarts));
  while (!block.empty()) read_row(block, rows);
}

DISTRIBUTE_INLINE std::vector<train::TableRow> TableParser::parse() {
  if (bytes_.size() < kTableFooterBytes) {
    fail(str_cat("only ", bytes_.size(), " bytes: cut off, or not a checkpoint index"));
  }
  std::string_view footer = bytes_.substr(bytes_.size() - kTableFooterBytes);
  std::string_view magic_bytes = footer.substr(40);
  uint64_t magic = 0;
  if (!io::take_fixed64(magic_bytes, magic) || magic != kTableMagic) {
    fail("cut off, or not a checkpoint index (wrong magic number at the end)");
  }
  read_block(footer);  // the metaindex: must be whole, but says nothing we need
  std::vector<train::TableRow> index, rows;
  read_rows(read_block(footer), index);
  for (const auto& [separator, handle] : index) {
    std::string_view place = handle;
    const size_t before = rows.size();
    read_rows(read_block(place), rows);
    if (rows.size() > before && rows.back().first > separator) {
      fail("the index does not fit its blocks: the file is damaged");
    }
  }
  return rows;
}

}  // namespace distribute::checkpoint_internal

namespace distribute::train {

DISTRIBUTE_INLINE void TableBlockBuilder::add(std::string_view key, std::string_view value) {
  size_t shared = 0;
  if (since_restart_ == restart_interval_) {
    restarts_.push_back(uint32_t(body_.size()));
    since_restart_ = 0;
  } else {
    const size_t shorter = std::min(key.size(), last_key_.size());
    while (shared < shorter && key[shared] == last_key_[shared]) ++shared;
  }
  io::append_varint(body_, shared);
  io::append_varint(body_, key.size() - shared);
  io::append_varint(body_, value.size());
  body_.append(key.substr(shared)).append(value);
  last_key_ = key;
  ++since_restart_;
}

DISTRIBUTE_INLINE std::string TableBlockBuilder::finish() {
  for (uint32_t restart : restarts_) io::append_fixed32(body_, restart);
  io::append_fixed32(body_, uint32_t(restarts_.size()));
  std::string block = std::move(body_);
  *this = TableBlockBuilder(restart_interval_);
  return block;
}

DISTRIBUTE_INLINE std::string TableBuilder::write_block(const std::string& block) {
  std::string handle;
  io::append_varint(handle, out_.size());
  io::append_varint(handle, block.size());
  const std::string stored = block + '\0';  // 0: not compressed
  out_ += stored;
  io::append_fixed32(out_, io::mask_crc(io::crc32c(stored)));
  return handle;
}

DISTRIBUTE_INLINE void TableBuilder::close_block() {
  if (!data_.empty()) pending_handle_ = write_block(data_.finish());
}

DISTRIBUTE_INLINE void TableBuilder::add(std::string_view key, std::string_view value) {
  if (!pending_handle_.empty()) {
    index_.add(checkpoint_internal::shortest_separator(last_key_, key), pending_handle_);
    pending_handle_.clear();
  }
  data_.add(key, value);
  last_key_ = key;
  if (data_.size_estimate() >= block_bytes_) close_block();
}

DISTRIBUTE_INLINE std::string TableBuilder::finish() {
  close_block();
  std::string footer = write_block(TableBlockBuilder(1).finish());  // the empty metaindex
  if (!pending_handle_.empty()) {
    index_.add(checkpoint_internal::short_successor(last_key_), pending_handle_);
  }
  footer += write_block(index_.finish());
  footer.resize(40);
  io::append_fixed64(footer, checkpoint_internal::kTableMagic);
  return std::move(out_) + footer;
}

DISTRIBUTE_INLINE std::vector<TableRow> parse_table(std::string_view bytes,
                                                    const std::string& file) {
  return checkpoint_internal::TableParser(bytes, file).parse();
}

}  // namespace distribute::train
