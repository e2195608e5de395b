#pragma once
/// Files in memory behind memory://, for one thread.

#include <distribute/io/file_system.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

class MemoryFileSystem final : public distribute::io::FileSystem {
  using Contents = std::shared_ptr<std::string>;

  struct Writer final : distribute::io::WritableFile {
    explicit Writer(Contents contents) : contents(std::move(contents)) {}
    absl::Status append(std::string_view bytes) override {
      contents->append(bytes);
      return absl::OkStatus();
    }
    absl::Status flush() override { return absl::OkStatus(); }
    absl::Status sync() override { return absl::OkStatus(); }
    absl::Status close() override { return absl::OkStatus(); }
    Contents contents;
  };

  struct Reader final : distribute::io::RandomAccessFile {
    Reader(std::string path, Contents contents)
        : name(std::move(path)), contents(std::move(contents)) {}
    const std::string& path() const override { return name; }
    int64_t size() const override { return int64_t(contents->size()); }
    absl::StatusOr<int64_t> read_some(int64_t offset, std::span<char> out) const override {
      const size_t begin = std::min(size_t(offset), contents->size());
      return int64_t(contents->copy(out.data(), out.size(), begin));
    }
    std::string name;
    Contents contents;
  };

 public:
  absl::StatusOr<std::unique_ptr<distribute::io::RandomAccessFile>> open(
      const std::string& path) override {
    const auto found = files_.find(path);
    if (found == files_.end()) return absl::NotFoundError(path + ": there is no such file");
    return std::make_unique<Reader>(path, found->second);
  }
  absl::StatusOr<std::unique_ptr<distribute::io::WritableFile>> create(
      const std::string& path) override {
    files_[path] = std::make_shared<std::string>();
    return std::make_unique<Writer>(files_[path]);
  }
  absl::StatusOr<bool> exists(const std::string& path) override {
    return files_.count(path) > 0 || is_folder(path);
  }
  absl::StatusOr<bool> is_directory(const std::string& path) override { return is_folder(path); }
  absl::StatusOr<int64_t> file_size(const std::string& path) override {
    const auto file = open(path);
    if (!file.ok()) return file.status();
    return (*file)->size();
  }
  absl::StatusOr<std::vector<std::string>> list_directory(const std::string& path) override {
    std::set<std::string> names;
    for (const auto& [name, contents] : files_)
      if (name.starts_with(path + "/"))
        names.insert(
            name.substr(path.size() + 1, name.find('/', path.size() + 1) - path.size() - 1));
    return std::vector<std::string>(names.begin(), names.end());
  }
  absl::Status make_dirs(const std::string&) override { return absl::OkStatus(); }
  absl::Status rename(const std::string& from, const std::string& to) override {
    auto moved = files_.extract(from);
    if (moved.empty()) return absl::NotFoundError(from + ": there is no such file");
    files_[to] = moved.mapped();
    return absl::OkStatus();
  }
  absl::Status remove_file(const std::string& path) override {
    files_.erase(path);
    return absl::OkStatus();
  }
  absl::Status remove_directory(const std::string&) override { return absl::OkStatus(); }
  absl::Status sync_directory(const std::string&) override { return absl::OkStatus(); }

 private:
  bool is_folder(const std::string& path) const {
    const auto first = files_.lower_bound(path + "/");
    return first != files_.end() && first->first.starts_with(path + "/");
  }

  std::map<std::string, Contents> files_;
};
