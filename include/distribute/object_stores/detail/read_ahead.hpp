#pragma once
/// Reads a remote file in large pieces, several at a time, ahead of a reader that goes forward.

#include <distribute/base/config.hpp>

#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace distribute::io {

class RandomAccessFile;  // file_system.hpp, whose bodies need this header

struct ReadAheadOptions {
  int64_t first_bytes = 256 << 10;  // fetched where a reader jumps to; doubles while it goes on
  int64_t block_bytes = 4 << 20;    // at most at once
  int parallel = 4;                 // fetches at a time
};

/// Fills `out` from `offset` on, fewer bytes only at the end of the file. It is called on many
/// threads.
using FetchRange = std::function<absl::StatusOr<int64_t>(int64_t offset, std::span<char> out)>;

/// Reads of block_bytes and more go straight into the caller's memory, as parallel fetches; smaller
/// ones through blocks that are fetched ahead once a reader turns out to go forward. Holds at most
/// (parallel + 1) * block_bytes.
std::unique_ptr<RandomAccessFile> read_ahead_file(std::string path, int64_t size, FetchRange fetch,
                                                  const ReadAheadOptions& options = {});

}  // namespace distribute::io
