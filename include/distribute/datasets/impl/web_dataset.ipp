#pragma once
#include <distribute/base/error.hpp>
#include <distribute/data/element_spec.hpp>
#include <distribute/data/files.hpp>
#include <distribute/datasets/detail/archive_reader.hpp>
#include <distribute/datasets/tables.hpp>

#include <algorithm>
#include <charconv>
#include <map>

namespace distribute::data {

namespace data_internal {

/// One component of the samples: the endings of its file, of which the first names it.
struct WebField {
  std::vector<std::string> endings = {};
  bool is_number = false;
};

inline constexpr const char* kKeyField = "__key__";

DISTRIBUTE_INLINE WebField web_field(const std::string& text, bool decode) {
  static constexpr std::string_view kNumbers[] = {"cls",   "cls2", "class", "count",
                                                  "index", "inx",  "id"};
  WebField field;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(';', at), text.size());
    field.endings.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  const auto is_number = [](const std::string& ending) {
    return std::ranges::find(kNumbers, ending) != std::end(kNumbers);
  };
  field.is_number = decode && std::ranges::all_of(field.endings, is_number);
  return field;
}

/// Gives the samples of one archive. Its state is their number.
class WebStream final : public BatchStream {
 public:
  WebStream(const std::string& path, const std::vector<WebField>& fields, ComponentNames names)
      : path_(path), fields_(fields), names_(std::move(names)) {}
  bool next(Batch& out) override {
    if (!read_sample(true)) return false;
    std::vector<Tensor> components;
    for (const WebField& field : fields_) components.push_back(component(field));
    out = Batch::from_components(std::move(components), names_);
    return true;
  }
  int64_t skip(int64_t count) override {
    int64_t done = 0;
    while (done < count && read_sample(false)) ++done;
    return done;
  }
  void save(StateWriter& state) const override { state.put(given_); }
  void restore(StateReader& state) override { replay(state.get()); }

 private:
  /// Collects the files of the next sample, with their contents if asked for; false at the end.
  bool read_sample(bool with_contents) {
    if (ended_) return false;
    ended_ = true;  // unless a sample comes
    files_.clear();
    if (!archive_) {
      archive_ = open_archive(path_);
      has_next_ = archive_->next(next_name_);
    }
    while (has_next_) {
      const auto [key, ending] = split(next_name_);
      if (!key.empty()) {
        if (!files_.empty() && key != key_) break;
        key_ = key;
        files_[ending] = with_contents && is_wanted(ending) ? archive_->contents() : std::string();
      }
      has_next_ = archive_->next(next_name_);
    }
    if (files_.empty()) return false;
    ended_ = false;
    ++given_;
    return true;
  }
  /// Splits "a/b.seg.png" into "a/b" and "seg.png"; hidden files and those without an ending have
  /// no key.
  static std::pair<std::string, std::string> split(const std::string& name) {
    const size_t file = name.rfind('/') + 1, dot = name.find('.', file);
    if (dot == std::string::npos || dot == file) return {};
    std::string ending = name.substr(dot + 1);
    std::ranges::transform(ending, ending.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
    return {name.substr(0, dot), ending};
  }
  bool is_wanted(const std::string& ending) const {
    return std::ranges::any_of(fields_, [&](const WebField& field) {
      return std::ranges::find(field.endings, ending) != field.endings.end();
    });
  }
  Tensor component(const WebField& field) {
    if (field.endings[0] == kKeyField) return bytes_tensor(key_);
    for (const std::string& ending : field.endings) {
      const auto found = files_.find(ending);
      if (found == files_.end()) continue;
      return field.is_number ? number(ending, found->second) : bytes_tensor(found->second);
    }
    std::string all;
    for (const auto& [ending, contents] : files_) all += (all.empty() ? "" : ", ") + ending;
    throw InvalidArgumentError(str_cat(path_, ": sample \"", key_, "\" has no file .",
                                       field.endings[0], "; it has ", all));
  }
  Tensor number(const std::string& ending, std::string_view text) const {
    while (!text.empty() && std::string_view(" \t\r\n").find(text.back()) != text.npos)
      text.remove_suffix(1);
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
      throw InvalidArgumentError(str_cat(path_, ": ", key_, ".", ending, ": not a whole number: \"",
                                         text.substr(0, 80), "\""));
    return Tensor(value);
  }

  const std::string& path_;
  const std::vector<WebField>& fields_;
  ComponentNames names_;
  std::unique_ptr<ArchiveReader> archive_;  // open from the first sample on
  std::string next_name_, key_;
  std::map<std::string, std::string> files_;  // of the sample, by ending
  bool has_next_ = false, ended_ = false;
  int64_t given_ = 0;
};

class WebNode final : public CopiedNode<WebNode, Node> {
 public:
  WebNode(std::string path, std::shared_ptr<const std::vector<WebField>> fields)
      : path_(std::move(path)), fields_(std::move(fields)) {}
  const char* kind() const override { return "WebDataset"; }
  ElementSpec element_spec() const override {
    ElementSpec spec;
    for (const WebField& field : *fields_) {
      spec.push_back(
          {.dtype = field.is_number ? DType::Int64 : DType::UInt8, .name = field.endings[0]});
      if (!field.is_number) spec.back().shape = {-1};
    }
    return spec;
  }
  std::unique_ptr<BatchStream> elements(const Pass&) const override {
    return std::make_unique<WebStream>(path_, *fields_, names_of(element_spec()));
  }

 private:
  std::string path_;
  std::shared_ptr<const std::vector<WebField>> fields_;
};

}  // namespace data_internal

DISTRIBUTE_INLINE Dataset web_dataset(std::vector<std::string> paths,
                                      std::vector<std::string> fields,
                                      const WebDatasetOptions& options) {
  std::vector<data_internal::WebField> all;
  for (const std::string& field : fields)
    all.push_back(data_internal::web_field(field, options.decode));
  const auto is_bad = [](const data_internal::WebField& field) {
    return std::ranges::find(field.endings, "") != field.endings.end();
  };
  if (all.empty() || std::ranges::any_of(all, is_bad))
    throw InvalidArgumentError("web_dataset: fields must be endings of files, such as \"jpg;png\"");
  Dataset files(file_list_source(paths));
  if (options.shuffle_files) files = files.shuffle(int64_t(paths.size()), {.seed = options.seed});
  const auto shared = std::make_shared<const std::vector<data_internal::WebField>>(std::move(all));
  const auto read_file = [paths = std::move(paths), shared](const Batch& file) {
    return Dataset(
        std::make_shared<data_internal::WebNode>(paths[size_t(file.x.item<int64_t>())], shared));
  };
  return files.interleave(read_file, {.cycle_length = options.num_parallel_reads});
}

}  // namespace distribute::data
