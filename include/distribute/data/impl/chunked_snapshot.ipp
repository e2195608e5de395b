#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/data/chunked_snapshot.hpp>
#include <distribute/data/detail/chunks_source.hpp>
#include <distribute/data/detail/element_record.hpp>
#include <distribute/data/detail/snapshot_files.hpp>
#include <distribute/io/file_system.hpp>

#include <absl/status/status.h>
#include <absl/strings/escaping.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <optional>
#include <thread>

namespace distribute::data {

namespace data_internal {

/// Reads "chunk_<stream>_<number>_<elements>".
DISTRIBUTE_INLINE std::optional<ChunkedSnapshot::Chunk> parse_chunk_name(std::string_view name) {
  ChunkedSnapshot::Chunk parsed;
  if (!name.starts_with("chunk_")) return std::nullopt;
  for (int64_t* number : {&parsed.stream, &parsed.chunk, &parsed.elements}) {
    const size_t at = name.find('_');
    if (at == name.npos) return std::nullopt;
    name.remove_prefix(at + 1);
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), *number);
    if (error != std::errc() || *number < 0) return std::nullopt;
    name.remove_prefix(size_t(end - name.data()));
  }
  if (!name.empty()) return std::nullopt;
  return parsed;
}

DISTRIBUTE_INLINE const char* compression_text(io::Compression compression) {
  if (compression == io::Compression::Gzip) return "GZIP";
  return compression == io::Compression::Zlib ? "ZLIB" : "";
}

}  // namespace data_internal

DISTRIBUTE_INLINE bool ChunkedSnapshot::exists() const {
  return value_or_throw(value_or_throw(io::file_system_for(path_))->exists(path_));
}

DISTRIBUTE_INLINE void ChunkedSnapshot::create(const ElementSpec& spec,
                                               io::Compression compression) const {
  io::FileSystem* const fs = value_or_throw(io::file_system_for(path_));
  if (!fs->has_atomic_move())
    throw FailedPreconditionError(str_cat(
        "a snapshot of several processes needs a file system that renames files at once, unlike "
        "that of ",
        path_));
  throw_if_error(fs->make_dirs(io::join_path(path_, "chunks")));
  const std::string spec_bytes = data_internal::encode_spec(spec);
  throw_if_error(io::write_file_atomically(io::join_path(path_, "dataset_spec.pb"), spec_bytes));
  std::string text = str_cat("element_spec: \"", absl::CEscape(spec_bytes), "\"\n");
  if (compression != io::Compression::None)
    text += str_cat("compression: \"", data_internal::compression_text(compression), "\"\n");
  throw_if_error(io::write_file_atomically(io::join_path(path_, "snapshot.metadata"), text));
}

DISTRIBUTE_INLINE std::vector<ChunkedSnapshot::Chunk> ChunkedSnapshot::chunks() const {
  const std::string directory = io::join_path(path_, "chunks");
  io::FileSystem* const fs = value_or_throw(io::file_system_for(directory));
  std::vector<Chunk> chunks;
  for (const std::string& name : value_or_throw(fs->list_directory(directory)))
    if (const auto chunk = data_internal::parse_chunk_name(name)) chunks.push_back(*chunk);
  std::sort(chunks.begin(), chunks.end());
  return chunks;
}

DISTRIBUTE_INLINE std::string ChunkedSnapshot::path_of(const Chunk& chunk) const {
  return io::join_path(
      path_, str_cat("chunks/chunk_", chunk.stream, "_", chunk.chunk, "_", chunk.elements));
}

DISTRIBUTE_INLINE std::string ChunkedSnapshot::unpublished(int64_t stream, int64_t chunk,
                                                           uint64_t generation) const {
  const std::string directory =
      io::join_path(path_, str_cat("streams/stream_", stream, "/uncommitted_chunks"));
  throw_if_error(value_or_throw(io::file_system_for(directory))->make_dirs(directory));
  return io::join_path(directory, str_cat("chunk_", chunk, "_", generation));
}

DISTRIBUTE_INLINE void ChunkedSnapshot::publish(const Chunk& chunk, uint64_t generation) const {
  const std::string from = unpublished(chunk.stream, chunk.chunk, generation);
  throw_if_error(value_or_throw(io::file_system_for(path_))->rename(from, path_of(chunk)));
}

DISTRIBUTE_INLINE void ChunkedSnapshot::end() const { end_with("DONE", ""); }

DISTRIBUTE_INLINE void ChunkedSnapshot::fail(StatusCode code, const std::string& reason) const {
  const std::string name = absl::StatusCodeToString(absl::StatusCode(int(code)));
  end_with("ERROR", str_cat("code: ", name, "\nmessage: \"", absl::CEscape(reason), "\"\n"));
}

DISTRIBUTE_INLINE void ChunkedSnapshot::end_with(const std::string& file,
                                                 const std::string& text) const {
  // It is removed first, as it may be what fills the disk. A rest that stays does no harm.
  (void)value_or_throw(io::file_system_for(path_))->remove_tree(io::join_path(path_, "streams"));
  throw_if_error(io::write_file_atomically(io::join_path(path_, file), text));
}

DISTRIBUTE_INLINE std::string snapshot_record(const Tensor& component) {
  return data_internal::tensor_record(component);
}

}  // namespace distribute::data

namespace distribute::data::data_internal {

DISTRIBUTE_INLINE bool is_chunks_metadata(std::string_view metadata) {
  return metadata.starts_with("element_spec:") || metadata.starts_with("compression:");
}

/// The bytes behind `field:` in a text; none where it is missing.
DISTRIBUTE_INLINE std::optional<std::string> text_field(std::string_view text,
                                                        std::string_view field) {
  size_t at = text.starts_with(field) ? 0 : text.find("\n" + std::string(field));
  if (at == text.npos) return std::nullopt;
  at = text.find('"', at);
  size_t end = at == text.npos ? at : at + 1;
  while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
  if (end >= text.size()) return std::nullopt;
  std::string bytes;
  if (!absl::CUnescape(std::string(text.substr(at + 1, end - at - 1)), &bytes)) return std::nullopt;
  return bytes;
}

DISTRIBUTE_INLINE io::Compression compression_of_chunks(const std::string& text,
                                                        io::Compression wanted,
                                                        const std::string& path) {
  if (text == "SNAPPY")
    throw UnimplementedError(str_cat("load: the chunks of ", path,
                                     " are compressed by snappy, which is not read here; save them "
                                     "with compression GZIP or None"));
  const auto found = text == "GZIP"   ? io::Compression::Gzip
                     : text == "ZLIB" ? io::Compression::Zlib
                                      : io::Compression::None;
  if (wanted != io::Compression::Auto && wanted != found)
    throw InvalidArgumentError(str_cat("load: the chunks of ", path, " have the compression \"",
                                       text, "\", not \"", compression_text(wanted), "\""));
  return found;
}

DISTRIBUTE_INLINE bool has_file(const std::string& path, const char* name) {
  const std::string file = io::join_path(path, name);
  return value_or_throw(value_or_throw(io::file_system_for(file))->exists(file));
}

DISTRIBUTE_INLINE void throw_if_save_failed(const std::string& path) {
  if (has_file(path, "ERROR"))
    throw FailedPreconditionError(
        str_cat("load: the workers could not finish ", path, ": ",
                value_or_throw(io::read_file(io::join_path(path, "ERROR")))));
}

/// Holds what readers of one snapshot share.
struct Chunks {
  std::string path = {};
  ElementSpec spec = {};
  io::Compression compression = io::Compression::None;
  double wait_seconds = 0;
  std::optional<std::vector<ChunkedSnapshot::Chunk>> all = {};  // none: more may come
};

/// Reads one chunk after the other. A position is the number of chunks taken of each stream, the
/// stream of the last one, and the number of elements taken from that.
class ChunkStream final : public BatchStream {
 public:
  explicit ChunkStream(const Chunks& chunks)
      : chunks_(chunks), listed_(chunks.all.value_or(std::vector<ChunkedSnapshot::Chunk>())) {}
  bool next(Batch& out) override {
    while (!file_ || !file_->next(out))
      if (!open_next()) return false;
    ++given_;
    return true;
  }
  int64_t skip(int64_t count) override {
    int64_t done = 0;
    while (done < count) {
      if (file_) {
        const int64_t here = file_->skip(count - done);
        done += here;
        given_ += here;
      }
      if (done < count && !open_next()) break;
    }
    return done;
  }
  void save(StateWriter& state) const override {
    state.put(int64_t(taken_.size()));
    for (const auto& [stream, count] : taken_) {
      state.put(stream);
      state.put(count);
    }
    state.put(current_.stream);
    state.put(given_);
  }
  void restore(StateReader& state) override {
    for (int64_t streams = state.get(); streams > 0; --streams) {
      const int64_t stream = state.get();
      taken_[stream] = state.get(1);
    }
    const int64_t stream = state.get(), given = state.get();
    if (taken_.empty()) return;
    --taken_[stream];
    const auto last =
        wait_for([&](const ChunkedSnapshot::Chunk& chunk) { return chunk.stream == stream; });
    if (!last) throw InvalidArgumentError("the saved position is in a chunk that is not there");
    open(*last);
    given_ = file_->skip(given);
    if (given_ != given)
      throw InvalidArgumentError("the saved position lies behind the end of its chunk");
  }

 private:
  /// Gives the first chunk of the list that was not taken yet and is wanted.
  template <typename Wanted>
  std::optional<ChunkedSnapshot::Chunk> first_left(const Wanted& wanted) const {
    std::map<int64_t, int64_t> seen;
    for (const ChunkedSnapshot::Chunk& chunk : listed_) {
      const auto taken = taken_.find(chunk.stream);
      if (seen[chunk.stream]++ < (taken == taken_.end() ? 0 : taken->second)) continue;
      if (wanted(chunk)) return chunk;
    }
    return std::nullopt;
  }
  template <typename Wanted>
  std::optional<ChunkedSnapshot::Chunk> wait_for(const Wanted& wanted) {
    constexpr std::chrono::milliseconds kLook{50};
    const auto until =
        std::chrono::steady_clock::now() + std::chrono::duration<double>(chunks_.wait_seconds);
    for (;;) {
      if (auto found = first_left(wanted); found || chunks_.all) return found;
      // DONE comes after the last chunk, so it is looked for first.
      const bool done = has_file(chunks_.path, "DONE");
      listed_ = ChunkedSnapshot(chunks_.path).chunks();
      if (auto found = first_left(wanted); found || done) return found;
      throw_if_save_failed(chunks_.path);
      if (std::chrono::steady_clock::now() > until)
        throw DeadlineExceededError(str_cat(
            "load: no chunk has come to ", chunks_.path, " for ", chunks_.wait_seconds,
            " s, and it has neither DONE nor ERROR: are the dispatcher and its workers running?"));
      std::this_thread::sleep_for(kLook);
    }
  }
  bool open_next() {
    check_whole();
    const auto chunk = wait_for([](const ChunkedSnapshot::Chunk&) { return true; });
    if (chunk) open(*chunk);
    return chunk.has_value();
  }
  void open(const ChunkedSnapshot::Chunk& chunk) {
    file_ = record_elements(ChunkedSnapshot(chunks_.path).path_of(chunk), chunks_.spec,
                            chunks_.compression);
    current_ = chunk;
    given_ = 0;
    ++taken_[chunk.stream];
  }
  void check_whole() const {
    if (file_ && given_ < current_.elements)
      throw DataLossError(str_cat(ChunkedSnapshot(chunks_.path).path_of(current_), ": the last ",
                                  current_.elements - given_, " elements are missing"));
  }

  const Chunks& chunks_;
  std::vector<ChunkedSnapshot::Chunk> listed_;
  std::map<int64_t, int64_t> taken_;  // by stream
  ChunkedSnapshot::Chunk current_;
  int64_t given_ = 0;  // of the current chunk
  std::unique_ptr<BatchStream> file_;
};

class ChunksNode final : public CopiedNode<ChunksNode, Node> {
 public:
  explicit ChunksNode(Chunks chunks) : chunks_(std::move(chunks)) {}
  const char* kind() const override { return "Chunks"; }
  ElementSpec element_spec() const override { return chunks_.spec; }
  bool spec_is_exact() const override { return true; }
  int64_t cardinality() const override {
    if (!chunks_.all) return kUnknownCardinality;
    int64_t count = 0;
    for (const ChunkedSnapshot::Chunk& chunk : *chunks_.all) count += chunk.elements;
    return count;
  }
  std::unique_ptr<BatchStream> elements(const Pass&) const override {
    return std::make_unique<ChunkStream>(chunks_);
  }
  std::vector<std::string> files() const override {
    std::vector<std::string> paths;
    if (chunks_.all)
      for (const ChunkedSnapshot::Chunk& chunk : *chunks_.all)
        paths.push_back(ChunkedSnapshot(chunks_.path).path_of(chunk));
    return paths;
  }
  NodePtr with_files(std::vector<std::string> paths) const override {
    Chunks own = chunks_;
    own.all.emplace();
    for (const std::string& path : paths)
      own.all->push_back(parse_chunk_name(path.substr(path.rfind('/') + 1)).value());
    return std::make_shared<ChunksNode>(std::move(own));
  }

 private:
  Chunks chunks_;
};

DISTRIBUTE_INLINE NodePtr chunks_source(const std::string& path, std::string_view metadata,
                                        io::Compression compression, double wait_seconds) {
  const auto spec = text_field(metadata, "element_spec:");
  if (!spec) throw DataLossError(path + ": snapshot.metadata is damaged");
  throw_if_save_failed(path);
  Chunks chunks{.path = path,
                .spec = decode_element_spec(*spec),
                .compression = compression_of_chunks(
                    text_field(metadata, "compression:").value_or(""), compression, path),
                .wait_seconds = wait_seconds};
  if (has_file(path, "DONE")) chunks.all = ChunkedSnapshot(path).chunks();
  return std::make_shared<ChunksNode>(std::move(chunks));
}

}  // namespace distribute::data::data_internal
