#pragma once
/// Snapshots that several processes write together.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/data/element_spec.hpp>
#include <distribute/io/detail/compression_type.hpp>
#include <distribute/tensor/tensor.hpp>

#include <compare>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace distribute::data {

/// Is the directory of a snapshot that several processes write in chunks, as the workers of a data
/// service do. Each chunk belongs to a stream, and is a TFRecord file of snapshot_record()s.
///   snapshot.metadata    the spec and the compression, as a protobuf in text format
///   chunks/chunk_<stream>_<number in the stream>_<elements>
///   streams/             what is being written
///   DONE, ERROR          one of them at the end
/// Thread-compatible; its methods throw what files throw.
/// Source  tf.data.experimental.distributed_save
class ChunkedSnapshot {
 public:
  /// Readers take chunks in this order, so that streams alternate.
  struct Chunk {
    int64_t chunk = 0, stream = 0, elements = 0;  // the number in the stream, the stream, the size
    auto operator<=>(const Chunk&) const = default;
  };

  explicit ChunkedSnapshot(std::string path) : path_(std::move(path)) {}

  /// Returns whether something has the path already.
  bool exists() const;
  /// Makes the directory, if it is missing, and what readers need first.
  /// Throws  FailedPreconditionError where files cannot be renamed at once.
  void create(const ElementSpec& spec, io::Compression compression) const;
  /// Gives the chunks that readers see, in order.
  std::vector<Chunk> chunks() const;
  std::string path_of(const Chunk& chunk) const;
  /// Gives the path at which a chunk is written, and makes its directory. Several writers of one
  /// chunk have different generations.
  std::string unpublished(int64_t stream, int64_t chunk, uint64_t generation) const;
  /// Lets readers see the chunk of a generation.
  void publish(const Chunk& chunk, uint64_t generation) const;
  /// Removes what was not published, and writes DONE or, with the reason, ERROR.
  void end() const;
  void fail(StatusCode code, const std::string& reason) const;

 private:
  void end_with(const std::string& file, const std::string& text) const;

  std::string path_;
};

/// Encodes a component of an element as saved datasets have it, a TensorProto.
std::string snapshot_record(const Tensor& component);

}  // namespace distribute::data
