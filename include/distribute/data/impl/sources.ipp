#pragma once
#include <distribute/data/node.hpp>

#include <mutex>

namespace distribute::data {

namespace data_internal {

DISTRIBUTE_INLINE void check_spec(const ElementSpec& wanted, const Batch& element) {
  const ElementSpec got = spec_of(element);
  bool fits = got.size() == wanted.size();
  for (size_t i = 0; fits && i < got.size(); ++i) {
    fits = got[i].dtype == wanted[i].dtype && got[i].shape.size() == wanted[i].shape.size();
    for (size_t j = 0; fits && j < got[i].shape.size(); ++j)
      fits = wanted[i].shape[j] < 0 || wanted[i].shape[j] == got[i].shape[j];
  }
  if (!fits)
    throw InvalidArgumentError(str_cat("from_generator: expected an element ", to_string(wanted),
                                       ", got ", to_string(got)));
}

class GeneratorStream final : public BatchStream {
 public:
  GeneratorStream(Generator generator, const ElementSpec& spec)
      : generator_(std::move(generator)), spec_(spec) {}
  bool next(Batch& out) override {
    std::optional<Batch> element;
    if (!ended_) element = generator_();
    ended_ = !element;
    if (ended_) return false;
    check_spec(spec_, *element);
    out = std::move(*element);
    ++given_;
    return true;
  }
  void save(StateWriter& state) const override { state.put(given_); }
  void restore(StateReader& state) override { replay(state.get()); }

 private:
  Generator generator_;
  const ElementSpec& spec_;
  bool ended_ = false;
  int64_t given_ = 0;
};

class GeneratorNode final : public CopiedNode<GeneratorNode, Node> {
 public:
  GeneratorNode(GeneratorFactory factory, ElementSpec spec)
      : factory_(std::move(factory)), spec_(std::move(spec)) {}
  const char* kind() const override { return "Generator"; }
  ElementSpec element_spec() const override { return spec_; }
  std::unique_ptr<BatchStream> elements(const Pass&) const override {
    return std::make_unique<GeneratorStream>(factory_(), spec_);
  }

 private:
  GeneratorFactory factory_;
  ElementSpec spec_;
};

class ElementStream final : public BatchStream {
 public:
  explicit ElementStream(const Batch& element) : element_(element) {}
  bool next(Batch& out) override {
    if (given_ > 0) return false;
    out = element_;
    given_ = 1;
    return true;
  }
  void save(StateWriter& state) const override { state.put(given_); }
  void restore(StateReader& state) override { given_ = state.get(0, 1); }

 private:
  const Batch& element_;
  int64_t given_ = 0;
};

class ElementNode final : public CopiedNode<ElementNode, Node> {
 public:
  explicit ElementNode(Batch element) : element_(std::move(element)) {}
  const char* kind() const override { return "Tensor"; }
  int64_t cardinality() const override { return 1; }
  ElementSpec element_spec() const override { return spec_of(element_); }
  std::unique_ptr<BatchStream> elements(const Pass&) const override {
    return std::make_unique<ElementStream>(element_);
  }

 private:
  Batch element_;
};

class FileStream final : public BatchStream {
 public:
  FileStream(const std::vector<std::string>& files, const FileReader& reader, const Pass& pass)
      : files_(files), reader_(reader), pass_(pass) {}
  bool next(Batch& out) override {
    for (; file_ < files_.size(); ++file_, close()) {
      open();
      if (stream_->next(out)) return true;
    }
    return false;
  }
  void save(StateWriter& state) const override {
    state.put(int64_t(file_));
    state.put(stream_ != nullptr);
    if (stream_) stream_->save(state);
  }
  void restore(StateReader& state) override {
    file_ = size_t(state.get(0, int64_t(files_.size())));
    if (!state.get(0, file_ < files_.size())) return;
    open();
    stream_->restore(state);
  }

 private:
  void open() {
    if (stream_) return;
    node_ = reader_(files_[file_]);
    stream_ = node_->elements(pass_.child(int64_t(file_)));
  }
  void close() {
    stream_.reset();
    node_.reset();
  }

  const std::vector<std::string>& files_;
  const FileReader& reader_;
  Pass pass_;
  size_t file_ = 0;
  NodePtr node_;
  std::unique_ptr<BatchStream> stream_;
};

class FileNode final : public Node {
 public:
  FileNode(std::vector<std::string> files, FileReader reader)
      : files_(std::move(files)), reader_(std::move(reader)) {}
  const char* kind() const override { return "Files"; }
  std::vector<int64_t> parameters() const override { return {int64_t(files_.size())}; }
  NodePtr with_inputs(std::vector<NodePtr>) const override { return with_files(files_); }
  ElementSpec element_spec() const override { return first().element_spec(); }
  bool spec_is_exact() const override { return first().spec_is_exact(); }
  std::unique_ptr<BatchStream> elements(const Pass& pass) const override {
    return std::make_unique<FileStream>(files_, reader_, pass);
  }
  PassCount* passes() const override { return &passes_; }
  std::vector<std::string> files() const override { return files_; }
  NodePtr with_files(std::vector<std::string> files) const override {
    return file_source(std::move(files), reader_);
  }

 private:
  /// Opens the first file, whose spec stands for that of all files.
  const Node& first() const {
    std::call_once(first_once_, [&] { first_ = reader_(files_[0]); });
    return *first_;
  }

  std::vector<std::string> files_;
  FileReader reader_;
  mutable std::once_flag first_once_;
  mutable NodePtr first_;
  mutable PassCount passes_;
};

}  // namespace data_internal

DISTRIBUTE_INLINE NodePtr generator_source(GeneratorFactory factory, ElementSpec spec) {
  return std::make_shared<data_internal::GeneratorNode>(std::move(factory), std::move(spec));
}

DISTRIBUTE_INLINE NodePtr element_source(Batch element) {
  if (element.size() == 0) throw InvalidArgumentError("from_tensors: there are no tensors");
  return std::make_shared<data_internal::ElementNode>(std::move(element));
}

DISTRIBUTE_INLINE NodePtr file_source(std::vector<std::string> files, FileReader reader) {
  if (files.empty()) throw InvalidArgumentError("from_files: there are no files");
  return std::make_shared<data_internal::FileNode>(std::move(files), std::move(reader));
}

}  // namespace distribute::data
