#pragma once
/// The sorted table (leveldb format) of a checkpoint's .index file.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace distribute::train {

/// Key and value of one table row.
using TableRow = std::pair<std::string, std::string>;

/// One block under construction: keys share prefixes with their predecessors.
class TableBlockBuilder {
 public:
  /// Every key whose number is a multiple of `restart_interval` is stored whole.
  explicit TableBlockBuilder(int restart_interval) : restart_interval_(restart_interval) {}
  void add(std::string_view key, std::string_view value);
  bool empty() const { return body_.empty(); }
  size_t size_estimate() const { return body_.size() + 4 * restarts_.size() + 4; }
  /// Returns the finished block and empties the builder.
  std::string finish();

 private:
  int restart_interval_;
  int since_restart_ = 0;
  std::string body_;
  std::string last_key_;
  std::vector<uint32_t> restarts_ = {0};
};

/// Builds a table in memory, byte for byte as TensorFlow does.
class TableBuilder {
 public:
  explicit TableBuilder(size_t block_bytes = 262144) : block_bytes_(block_bytes) {}
  /// Keys must come in increasing byte order, each once.
  void add(std::string_view key, std::string_view value);
  std::string finish();

 private:
  /// Adds block, type byte and checksum; returns the block's encoded position.
  std::string write_block(const std::string& block);
  void close_block();

  size_t block_bytes_;
  std::string out_;
  TableBlockBuilder data_{16};
  TableBlockBuilder index_{1};
  std::string last_key_;
  std::string pending_handle_;  // of a closed block whose index row is written with the next key
};

/// Returns all rows of a table in key order. `file` is for messages.
/// Throws  DataLossError when the bytes are damaged, truncated or no table; UnimplementedError for
///          compressed blocks, which TensorFlow never writes into checkpoints.
std::vector<TableRow> parse_table(std::string_view bytes, const std::string& file);

}  // namespace distribute::train
