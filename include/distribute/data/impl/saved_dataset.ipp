#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/data/dataset.hpp>
#include <distribute/data/detail/chunks_source.hpp>
#include <distribute/data/detail/element_record.hpp>
#include <distribute/data/detail/interleave.hpp>
#include <distribute/data/detail/snapshot_files.hpp>
#include <distribute/data/files.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/io/protobuf.hpp>
#include <distribute/tensor/tensorflow_data_type.hpp>

#include <algorithm>
#include <chrono>
#include <thread>

namespace distribute::data {

namespace data_internal {

/// Field numbers of protobuf/struct.proto's StructuredValue.
inline constexpr uint32_t kTensorSpecValue = 33, kListValue = 51, kTupleValue = 52, kDictValue = 53,
                          kNamedTupleValue = 54;
/// The version of snapshots whose files are plain TFRecords.
inline constexpr int64_t kSnapshotVersion = 2;

DISTRIBUTE_INLINE std::string spec_value(const TensorSpec& spec) {
  const auto tensor = io::ProtoWriter()
                          .message(2, io::shape_proto(spec.shape))
                          .integer(3, int64_t(io::data_type_of(spec.dtype)));
  return io::ProtoWriter().message(kTensorSpecValue, tensor).take();
}

DISTRIBUTE_INLINE std::string encode_spec(const ElementSpec& spec) {
  if (spec.size() == 1 && spec[0].name.empty()) return spec_value(spec[0]);
  const bool named = std::all_of(spec.begin(), spec.end(),
                                 [](const TensorSpec& tensor) { return !tensor.name.empty(); });
  io::ProtoWriter all;
  for (const TensorSpec& tensor : spec)
    all.message(1,
                named ? io::map_entry_proto(tensor.name, spec_value(tensor)) : spec_value(tensor));
  return io::ProtoWriter().message(named ? kDictValue : kTupleValue, all).take();
}

[[noreturn]] DISTRIBUTE_INLINE void throw_no_spec() {
  throw InvalidArgumentError("load: the element is made of something else than dense tensors");
}

DISTRIBUTE_INLINE void decode_spec(std::string_view bytes, const std::string& name, int depth,
                                   ElementSpec& spec);

DISTRIBUTE_INLINE TensorSpec decode_tensor_spec(std::string_view bytes, const std::string& name) {
  TensorSpec result{.name = name};
  int64_t dtype = 0;
  bool unknown_rank = false;
  const bool good = io::read_fields(bytes, [&](const io::ProtoField& field) {
    if (field.is(3, io::WireType::Varint)) dtype = field.as_int64();
    return !field.is(2, io::WireType::Bytes) ||
           io::read_shape_proto(field.bytes, result.shape, unknown_rank);
  });
  if (!good) throw_no_spec();
  const std::optional<DType> known = dtype_of_number(dtype);
  if (!known)
    throw InvalidArgumentError(str_cat("load: a component has the type ",
                                       io::name_of(io::DataType(dtype)),
                                       ", which tensors cannot have"));
  result.dtype = *known;
  if (dtype == int64_t(io::DataType::String)) result.shape.push_back(-1);
  return result;
}

/// Decodes the entries of a dict or a named tuple; those of a dict in the order of their keys, as
/// tf.nest flattens them.
DISTRIBUTE_INLINE void decode_entries(std::string_view bytes, bool sorted, const std::string& name,
                                      int depth, ElementSpec& spec) {
  std::vector<std::pair<std::string_view, std::string_view>> entries;
  const bool good = io::read_fields(bytes, [&](const io::ProtoField& field) {
    if (!field.is(sorted ? 1 : 2, io::WireType::Bytes)) return true;
    auto& [key, value] = entries.emplace_back();
    return io::read_map_entry(field.bytes, key, value);
  });
  if (!good) throw_no_spec();
  if (sorted) std::sort(entries.begin(), entries.end());
  for (const auto& [key, value] : entries)
    decode_spec(value, name.empty() ? std::string(key) : str_cat(name, "/", key), depth + 1, spec);
}

DISTRIBUTE_INLINE void decode_sequence(std::string_view bytes, const std::string& name, int depth,
                                       ElementSpec& spec) {
  int64_t number = 0;
  const bool good = io::read_fields(bytes, [&](const io::ProtoField& field) {
    if (field.is(1, io::WireType::Bytes))
      decode_spec(field.bytes, name.empty() ? name : str_cat(name, "/", number++), depth + 1, spec);
  });
  if (!good) throw_no_spec();
}

DISTRIBUTE_INLINE void decode_spec(std::string_view bytes, const std::string& name, int depth,
                                   ElementSpec& spec) {
  constexpr int kDeepest = 32;
  if (depth > kDeepest) throw DataLossError("load: the element's structure is too deep");
  const size_t before = spec.size();
  const bool good = io::read_fields(bytes, [&](const io::ProtoField& field) {
    if (field.is(kTensorSpecValue, io::WireType::Bytes))
      spec.push_back(decode_tensor_spec(field.bytes, name));
    if (field.is(kListValue, io::WireType::Bytes) || field.is(kTupleValue, io::WireType::Bytes))
      decode_sequence(field.bytes, name, depth, spec);
    if (field.is(kDictValue, io::WireType::Bytes) ||
        field.is(kNamedTupleValue, io::WireType::Bytes))
      decode_entries(field.bytes, field.number == kDictValue, name, depth, spec);
  });
  if (!good || spec.size() == before) throw_no_spec();
}

/// The contents of snapshot.metadata.
struct SnapshotMetadata {
  std::string run_id;
  int64_t version = 0, num_elements = kUnknownCardinality;
  bool finalized = false;
};

DISTRIBUTE_INLINE ElementSpec decode_element_spec(std::string_view bytes) {
  ElementSpec spec;
  decode_spec(bytes, "", 0, spec);
  return spec;
}

DISTRIBUTE_INLINE SnapshotMetadata parse_snapshot_metadata(std::string_view bytes,
                                                           const std::string& path) {
  SnapshotMetadata result;
  const bool good = io::read_fields(bytes, [&](const io::ProtoField& field) {
    if (field.is(2, io::WireType::Bytes)) result.run_id = std::string(field.bytes);
    if (field.is(4, io::WireType::Varint)) result.version = field.as_int64();
    if (field.is(6, io::WireType::Varint)) result.num_elements = field.as_int64();
    if (field.is(1000, io::WireType::Varint)) result.finalized = field.as_bool();
  });
  if (!good || result.run_id.empty() || result.run_id.find('/') != std::string::npos)
    throw DataLossError(path + ": snapshot.metadata is damaged");
  if (!result.finalized || result.version != kSnapshotVersion)
    throw InvalidArgumentError(str_cat(path,
                                       ": holds a snapshot that is not finished, or of version ",
                                       result.version, " where ", kSnapshotVersion, " is read"));
  return result;
}

DISTRIBUTE_INLINE std::string encode_snapshot_metadata(const std::string& run_id,
                                                       const ElementSpec& spec, int64_t count) {
  using std::chrono::duration_cast;
  using std::chrono::microseconds;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  std::vector<int64_t> dtypes;
  for (const TensorSpec& tensor : spec) dtypes.push_back(int64_t(io::data_type_of(tensor.dtype)));
  return io::ProtoWriter()
      .bytes(2, run_id)
      .integer(3, duration_cast<microseconds>(now).count())
      .integer(4, kSnapshotVersion)
      .packed_integers(5, dtypes)
      .integer(6, count)
      .integer(1000, 1)
      .take();
}

DISTRIBUTE_INLINE bool has_snapshot(const std::string& path) {
  io::FileSystem* const fs = value_or_throw(io::file_system_for(path));
  return value_or_throw(fs->exists(io::join_path(path, "snapshot.metadata")));
}

DISTRIBUTE_INLINE void wait_for_snapshot(const std::string& path, double seconds) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (!has_snapshot(path)) {
    if (std::chrono::steady_clock::now() > until)
      throw DeadlineExceededError(
          str_cat("load: nothing was saved to ", path, " for ", seconds, " s"));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

DISTRIBUTE_INLINE std::vector<std::string> snapshot_files(const std::string& directory) {
  io::FileSystem* const fs = value_or_throw(io::file_system_for(directory));
  std::vector<std::string> files;
  for (const std::string& shard : value_or_throw(fs->list_directory(directory))) {
    const std::string inner = io::join_path(directory, shard);
    if (!shard.ends_with(".shard") || !value_or_throw(fs->is_directory(inner))) continue;
    for (const std::string& name : value_or_throw(fs->list_directory(inner)))
      if (name.ends_with(".snapshot")) files.push_back(io::join_path(inner, name));
  }
  return files;
}

/// One file of elements.
class RecordFileNode final : public CopiedNode<RecordFileNode, Node> {
 public:
  RecordFileNode(std::string path, ElementSpec spec, io::Compression compression)
      : path_(std::move(path)), spec_(std::move(spec)), compression_(compression) {}
  const char* kind() const override { return "RecordFile"; }
  ElementSpec element_spec() const override { return spec_; }
  std::unique_ptr<BatchStream> elements(const Pass&) const override {
    return record_elements(path_, spec_, compression_);
  }

 private:
  std::string path_;
  ElementSpec spec_;
  io::Compression compression_;
};

/// Gives an error at the end if fewer elements came than were saved.
class CountedStream final : public BatchStream {
 public:
  CountedStream(std::unique_ptr<BatchStream> input, int64_t count, const std::string& path)
      : input_(std::move(input)), left_(count), path_(path) {}
  bool next(Batch& out) override {
    if (!input_->next(out)) return check_end();
    if (left_) --*left_;
    return true;
  }
  int64_t skip(int64_t count) override {
    const int64_t done = input_->skip(count);
    if (left_) *left_ -= done;
    if (done < count) check_end();
    return done;
  }
  void save(StateWriter& state) const override { input_->save(state); }
  void restore(StateReader& state) override {
    left_.reset();  // the position does not contain it
    input_->restore(state);
  }

 private:
  bool check_end() const {
    if (left_ && *left_ > 0)
      throw DataLossError(str_cat(path_, ": a file of the saved dataset is cut off: the last ",
                                  *left_, " elements are missing"));
    return false;
  }

  std::unique_ptr<BatchStream> input_;
  std::optional<int64_t> left_;
  const std::string& path_;
};

/// Knows the number of elements and their spec.
class SavedNode final : public CopiedNode<SavedNode> {
 public:
  SavedNode(NodePtr input, ElementSpec spec, int64_t cardinality, std::string path)
      : CopiedNode(std::move(input)),
        spec_(std::move(spec)),
        cardinality_(cardinality),
        path_(std::move(path)) {}
  const char* kind() const override { return "Saved"; }
  int64_t cardinality() const override { return cardinality_; }
  ElementSpec element_spec() const override { return spec_; }
  bool spec_is_exact() const override { return true; }
  std::unique_ptr<BatchStream> elements(const Pass& pass) const override {
    auto all = input().elements(pass);
    if (cardinality_ < 0) return all;
    return std::make_unique<CountedStream>(std::move(all), cardinality_, path_);
  }

 private:
  ElementSpec spec_;
  int64_t cardinality_;
  std::string path_;
};

/// Passes elements on and writes them to a file, which appears at the end.
class CacheWriter final : public BatchStream {
 public:
  CacheWriter(std::unique_ptr<BatchStream> input, const std::string& filename)
      : input_(std::move(input)), file_(value_or_throw(io::AtomicFile::create(filename))) {}
  bool next(Batch& out) override {
    if (ended_) return false;
    if (!input_->next(out)) {
      throw_if_error(file_.append(io::frame_record(seal_record(given_))));
      throw_if_error(file_.commit());
      ended_ = true;
      return false;
    }
    for (size_t i = 0; i < out.size(); ++i)
      throw_if_error(file_.append(io::frame_record(tensor_record(out[i]))));
    ++given_;
    return true;
  }
  void save(StateWriter& state) const override { state.put(given_); }
  void restore(StateReader& state) override { replay(state.get()); }

 private:
  std::unique_ptr<BatchStream> input_;
  io::AtomicFile file_;
  bool ended_ = false;
  int64_t given_ = 0;
};

class FileCacheNode final : public CopiedNode<FileCacheNode> {
 public:
  FileCacheNode(NodePtr input, std::string filename)
      : CopiedNode(std::move(input)), filename_(std::move(filename)) {}
  const char* kind() const override { return "FileCache"; }
  std::unique_ptr<BatchStream> elements(const Pass&) const override {
    io::FileSystem* const fs = value_or_throw(io::file_system_for(filename_));
    if (value_or_throw(fs->exists(filename_))) return sealed_elements(filename_, element_spec());
    // The cache always has the order of pass 0, whichever pass fills it, so that a saved position
    // finds it.
    return std::make_unique<CacheWriter>(input().elements({}), filename_);
  }

 private:
  std::string filename_;
};

}  // namespace data_internal

DISTRIBUTE_INLINE NodePtr saved_source(const std::string& path, const LoadOptions& options) {
  if (options.wait) data_internal::wait_for_snapshot(path, options.wait_seconds);
  const std::string bytes = value_or_throw(io::read_file(io::join_path(path, "snapshot.metadata")));
  if (data_internal::is_chunks_metadata(bytes))
    return data_internal::chunks_source(path, bytes, options.compression, options.wait_seconds);
  const auto metadata = data_internal::parse_snapshot_metadata(bytes, path);
  const io::Compression compression = options.compression;
  ElementSpec spec = data_internal::decode_element_spec(
      value_or_throw(io::read_file(io::join_path(path, "dataset_spec.pb"))));
  const std::vector<std::string> files =
      data_internal::snapshot_files(io::join_path(path, metadata.run_id));
  if (files.empty()) throw NotFoundError(path + ": the saved dataset has no shards");
  const auto read_file = [files, spec, compression](const Batch& number) -> NodePtr {
    return std::make_shared<data_internal::RecordFileNode>(files[size_t(number.x.item<int64_t>())],
                                                           spec, compression);
  };
  NodePtr numbers = table_source(make_range_table(0, int64_t(files.size()), 1));
  NodePtr all =
      interleave_node(std::move(numbers), read_file, {.cycle_length = int64_t(files.size())});
  return std::make_shared<data_internal::SavedNode>(std::move(all), std::move(spec),
                                                    metadata.num_elements, path);
}

DISTRIBUTE_INLINE NodePtr file_cache_node(NodePtr input, std::string filename) {
  if (filename.empty()) throw InvalidArgumentError("cache: the name of the file is empty");
  return std::make_shared<data_internal::FileCacheNode>(std::move(input), std::move(filename));
}

DISTRIBUTE_INLINE Dataset Dataset::load(const std::string& path, io::Compression compression) {
  return Dataset(saved_source(path, {.compression = compression}));
}

DISTRIBUTE_INLINE Dataset Dataset::load(const std::string& path, const LoadOptions& options) {
  return Dataset(saved_source(path, options));
}

DISTRIBUTE_INLINE Dataset Dataset::cache(const std::string& filename) const {
  return Dataset(file_cache_node(node_, filename));
}

}  // namespace distribute::data
