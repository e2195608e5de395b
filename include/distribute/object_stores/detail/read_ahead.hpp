#pragma once
/// Reads a remote file in large pieces, several at a time, before a sequential reader asks for
/// them.

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
  int64_t first_bytes = 256 << 10;  // first fetch after a seek; doubles while reading goes on
  int64_t block_bytes = 4 << 20;    // largest fetch
  int parallel = 4;                 // number of fetches at the same time
};

/// A function that fills `out` from `offset` on, with fewer bytes only at the end of the file. It
/// is called on several threads.
using FetchRange = std::function<absl::StatusOr<int64_t>(int64_t offset, std::span<char> out)>;

/// Reads of at least block_bytes go directly into the caller's memory by parallel fetches. Smaller
/// reads use blocks, which are fetched ahead when the reader reads sequentially. It holds at most
/// (parallel + 1) * block_bytes.
std::unique_ptr<RandomAccessFile> read_ahead_file(std::string path, int64_t size, FetchRange fetch,
                                                  const ReadAheadOptions& options = {});

}  // namespace distribute::io
