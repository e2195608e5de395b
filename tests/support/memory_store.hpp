#pragma once
/// An object store in memory behind mem://: no directories, no rename, objects that appear at
/// close(), and calls that fail on demand.

#include <distribute/base/status.hpp>
#include <distribute/io/file_system.hpp>

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

/// Thread-safe.
class MemoryStore final : public distribute::io::FileSystem {
 public:
  /// The store behind mem://, without objects and faults.
  static MemoryStore& fresh() {
    static MemoryStore* const store = [] {
      auto made = std::make_unique<MemoryStore>();
      MemoryStore* const raw = made.get();
      distribute::throw_if_error(distribute::io::register_file_system("mem", std::move(made)));
      return raw;
    }();
    const std::lock_guard lock(store->mutex_);
    store->objects_.clear();
    store->puts_.clear();
    store->fault_.reset();
    store->held_ = false;
    return *store;
  }

  /// From now on `passed` more calls that change something succeed, then `times` fail.
  void fail_after(int64_t passed, absl::Status status, int64_t times = 1) {
    const std::lock_guard lock(mutex_);
    fault_ = {passed, times, std::move(status)};
  }
  /// True when the fault has not come to pass.
  bool fault_waits() const {
    const std::lock_guard lock(mutex_);
    return fault_ && fault_->passed >= 0 && fault_->times > 0;
  }
  void clear_fault() {
    const std::lock_guard lock(mutex_);
    fault_.reset();
  }
  /// Calls that change something wait from hold() to release().
  void hold() {
    const std::lock_guard lock(mutex_);
    held_ = true;
  }
  void release() {
    const std::lock_guard lock(mutex_);
    held_ = false;
    released_.notify_all();
  }
  /// Names of all objects, in order.
  std::vector<std::string> names() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> names;
    for (const auto& [name, bytes] : objects_) names.push_back(name);
    return names;
  }
  /// Names in the order in which objects appeared since fresh().
  std::vector<std::string> puts() const {
    const std::lock_guard lock(mutex_);
    return puts_;
  }

  absl::StatusOr<std::unique_ptr<distribute::io::RandomAccessFile>> open(
      const std::string& path) override {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(path);
    if (found == objects_.end()) return absl::NotFoundError(path + ": no such object");
    return std::make_unique<Reader>(path, found->second);
  }
  absl::StatusOr<std::unique_ptr<distribute::io::WritableFile>> create(
      const std::string& path) override {
    std::unique_lock lock(mutex_);
    const absl::Status status = change(path, lock);
    if (!status.ok()) return status;
    return std::make_unique<Writer>(*this, path);
  }
  absl::StatusOr<bool> exists(const std::string& path) override {
    const std::lock_guard lock(mutex_);
    return objects_.contains(path) || has_prefix(path);
  }
  absl::StatusOr<bool> is_directory(const std::string& path) override {
    const std::lock_guard lock(mutex_);
    return has_prefix(path);
  }
  absl::StatusOr<int64_t> file_size(const std::string& path) override {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(path);
    if (found == objects_.end()) return absl::NotFoundError(path + ": no such object");
    return int64_t(found->second->size());
  }
  absl::StatusOr<std::vector<std::string>> list_directory(const std::string& path) override {
    const std::lock_guard lock(mutex_);
    const std::string prefix = path.ends_with('/') ? path : path + "/";
    std::set<std::string> names;
    for (auto at = objects_.lower_bound(prefix);
         at != objects_.end() && at->first.starts_with(prefix); ++at)
      names.insert(
          at->first.substr(prefix.size(), at->first.find('/', prefix.size()) - prefix.size()));
    return std::vector<std::string>(names.begin(), names.end());
  }
  absl::Status make_dirs(const std::string&) override { return absl::OkStatus(); }
  absl::Status rename(const std::string& from, const std::string& to) override {
    std::unique_lock lock(mutex_);
    if (absl::Status status = change(to, lock); !status.ok()) return status;
    const auto found = objects_.find(from);
    if (found == objects_.end()) return absl::NotFoundError(from + ": no such object");
    put(to, found->second);
    if (absl::Status status = change(from, lock); !status.ok()) return status;
    objects_.erase(from);
    return absl::OkStatus();
  }
  absl::Status remove_file(const std::string& path) override {
    std::unique_lock lock(mutex_);
    if (absl::Status status = change(path, lock); !status.ok()) return status;
    if (objects_.erase(path) == 1) return absl::OkStatus();
    return absl::NotFoundError(path + ": no such object");
  }
  absl::Status remove_directory(const std::string&) override { return absl::OkStatus(); }
  absl::Status sync_directory(const std::string&) override { return absl::OkStatus(); }
  bool has_atomic_move() const override { return false; }

 private:
  using Bytes = std::shared_ptr<const std::string>;
  struct Fault {
    int64_t passed, times;
    absl::Status status;
  };

  class Reader final : public distribute::io::RandomAccessFile {
   public:
    Reader(std::string path, Bytes bytes) : path_(std::move(path)), bytes_(std::move(bytes)) {}
    const std::string& path() const override { return path_; }
    int64_t size() const override { return int64_t(bytes_->size()); }
    absl::StatusOr<int64_t> read_some(int64_t offset, std::span<char> out) const override {
      if (offset >= size()) return 0;
      return int64_t(bytes_->copy(out.data(), out.size(), size_t(offset)));
    }

   private:
    std::string path_;
    Bytes bytes_;
  };

  class Writer final : public distribute::io::WritableFile {
   public:
    Writer(MemoryStore& store, std::string path) : store_(store), path_(std::move(path)) {}
    absl::Status append(std::string_view bytes) override {
      bytes_.append(bytes);
      return absl::OkStatus();
    }
    absl::Status flush() override { return absl::OkStatus(); }
    absl::Status sync() override { return absl::OkStatus(); }
    absl::Status close() override {
      std::unique_lock lock(store_.mutex_);
      const absl::Status status = store_.change(path_, lock);
      if (status.ok()) store_.put(path_, std::make_shared<const std::string>(bytes_));
      return status;
    }

   private:
    MemoryStore& store_;
    std::string path_, bytes_;
  };

  /// With mutex_ locked: the error of a call that is to fail.
  absl::Status change(const std::string& path, std::unique_lock<std::mutex>& lock) {
    released_.wait(lock, [this] { return !held_; });
    if (!fault_ || fault_->passed-- > 0) return absl::OkStatus();
    if (fault_->times-- > 0) return distribute::annotate(fault_->status, path);
    fault_.reset();
    return absl::OkStatus();
  }
  bool has_prefix(const std::string& path) const {
    const std::string prefix = path.ends_with('/') ? path : path + "/";
    const auto at = objects_.lower_bound(prefix);
    return at != objects_.end() && at->first.starts_with(prefix);
  }
  void put(const std::string& path, Bytes bytes) {
    objects_[path] = std::move(bytes);
    puts_.push_back(path);
  }

  mutable std::mutex mutex_;  // guards all below
  std::map<std::string, Bytes> objects_;
  std::vector<std::string> puts_;
  std::optional<Fault> fault_;
  bool held_ = false;
  std::condition_variable released_;
};
