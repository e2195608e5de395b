#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/data/dataset.hpp>
#include <distribute/data/detail/element_record.hpp>
#include <distribute/data/detail/snapshot_files.hpp>
#include <distribute/data/files.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/io/tfrecord.hpp>

#include <chrono>
#include <optional>

#include <unistd.h>

namespace distribute::data {

namespace data_internal {

/// Writes elements into a directory of its own. finish() makes them the saved dataset of `path`;
/// what was written without it is not found by readers.
class SnapshotWriter {
 public:
  SnapshotWriter(std::string path, io::Compression compression)
      : path_(std::move(path)), run_id_(new_run_id()) {
    const std::string shard = io::join_path(io::join_path(path_, run_id_), "00000000.shard");
    throw_if_error(value_or_throw(io::file_system_for(path_))->make_dirs(shard));
    file_.emplace(value_or_throw(
        io::RecordWriter::create(io::join_path(shard, "00000000.snapshot"), compression)));
  }
  void write(const Batch& element) {
    for (size_t i = 0; i < element.size(); ++i)
      throw_if_error(file_->write(tensor_record(element[i])));
    ++count_;
  }
  void finish(const ElementSpec& spec) {
    throw_if_error(file_->close());
    throw_if_error(
        io::write_file_atomically(io::join_path(path_, "dataset_spec.pb"), encode_spec(spec)));
    throw_if_error(io::write_file_atomically(io::join_path(path_, "snapshot.metadata"),
                                             encode_snapshot_metadata(run_id_, spec, count_)));
  }

 private:
  /// A name that differs between writers, of one process too.
  std::string new_run_id() const {
    const auto now = uint64_t(std::chrono::steady_clock::now().time_since_epoch().count());
    const uint64_t process = mix_bits(now) + uint64_t(::getpid());
    return std::to_string(mix_bits(mix_bits(process) + reinterpret_cast<uintptr_t>(this)));
  }

  std::string path_, run_id_;
  std::optional<io::RecordWriter> file_;
  int64_t count_ = 0;
};

/// Passes elements on and writes them. The position is the number of elements given.
class SnapshotStream final : public BatchStream {
 public:
  SnapshotStream(std::unique_ptr<BatchStream> input, const ElementSpec& spec,
                 const std::string& path, io::Compression compression)
      : input_(std::move(input)), spec_(spec), writer_(path, compression) {}
  bool next(Batch& out) override {
    if (ended_) return false;
    if (input_->next(out)) {
      writer_.write(out);
      ++given_;
      return true;
    }
    writer_.finish(spec_);
    ended_ = true;
    return false;
  }
  void save(StateWriter& state) const override { state.put(given_); }
  void restore(StateReader& state) override { replay(state.get()); }

 private:
  std::unique_ptr<BatchStream> input_;
  ElementSpec spec_;
  SnapshotWriter writer_;
  bool ended_ = false;
  int64_t given_ = 0;
};

/// Reads a finished snapshot, whose position is the number of elements given, too.
class SnapshotReader final : public BatchStream {
 public:
  explicit SnapshotReader(NodePtr saved) : saved_(std::move(saved)), input_(saved_->elements({})) {}
  bool next(Batch& out) override {
    if (!input_->next(out)) return false;
    ++given_;
    return true;
  }
  int64_t skip(int64_t count) override {
    const int64_t done = input_->skip(count);
    given_ += done;
    return done;
  }
  void save(StateWriter& state) const override { state.put(given_); }
  void restore(StateReader& state) override { replay(state.get()); }

 private:
  NodePtr saved_;
  std::unique_ptr<BatchStream> input_;  // reads from saved_, so it is destroyed first
  int64_t given_ = 0;
};

class SnapshotNode final : public CopiedNode<SnapshotNode> {
 public:
  SnapshotNode(NodePtr input, std::string path, const SnapshotOptions& options)
      : CopiedNode(std::move(input)), path_(std::move(path)), options_(options) {}
  const char* kind() const override { return "Snapshot"; }
  std::unique_ptr<BatchStream> elements(const Pass&) const override {
    const ElementSpec spec = element_spec();
    // As with a cache, the order is that of pass 0, whichever pass writes it.
    if (!has_snapshot(path_))
      return std::make_unique<SnapshotStream>(input().elements({}), spec, path_,
                                              options_.compression);
    NodePtr saved = saved_source(path_, {.compression = options_.compression});
    const ElementSpec found = saved->element_spec();
    bool fits = found.size() == spec.size();
    for (size_t i = 0; fits && i < spec.size(); ++i)
      fits = found[i].dtype == spec[i].dtype && found[i].shape.size() == spec[i].shape.size();
    if (!fits)
      throw FailedPreconditionError("snapshot: " + path_ + " holds elements " + to_string(found) +
                                    ", the dataset gives " + to_string(spec) +
                                    "; remove the directory or give another one");
    return std::make_unique<SnapshotReader>(std::move(saved));
  }

 private:
  std::string path_;
  SnapshotOptions options_;
};

}  // namespace data_internal

DISTRIBUTE_INLINE void save_dataset(const Node& node, const std::string& path,
                                    io::Compression compression) {
  require_end(node.cardinality(), "save", "it `.take(count)`");
  const ElementSpec spec = node.element_spec();
  data_internal::SnapshotWriter writer(path, compression);
  const auto stream = node.elements({.number = take_pass(node)});
  for (Batch element; stream->next(element);) writer.write(element);
  writer.finish(spec);
}

DISTRIBUTE_INLINE NodePtr snapshot_node(NodePtr input, std::string path,
                                        const SnapshotOptions& options) {
  if (path.empty()) throw InvalidArgumentError("snapshot: the path is empty");
  return std::make_shared<data_internal::SnapshotNode>(std::move(input), std::move(path), options);
}

DISTRIBUTE_INLINE void Dataset::save(const std::string& path, io::Compression compression) const {
  save_dataset(*node_, path, compression);
}

DISTRIBUTE_INLINE Dataset Dataset::snapshot(const std::string& path,
                                            const SnapshotOptions& options) const {
  return Dataset(snapshot_node(node_, path, options));
}

DISTRIBUTE_INLINE Dataset Dataset::snapshot(const std::string& path) const {
  return snapshot(path, {});
}

}  // namespace distribute::data
