#pragma once
#include <distribute/base/detail/file_size_signal.hpp>
#include <distribute/base/detail/safe_text.hpp>
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/base/status.hpp>
#include <distribute/checkpoint/detail/directory_lock.hpp>
#include <distribute/cluster/detail/fnv1a.hpp>
#include <distribute/io/file_system.hpp>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace distribute::checkpoint_internal {

/// The lock of this process on one file.
struct DirectoryLock::Held {
  explicit Held(std::string the_path) : path(std::move(the_path)) {}
  ~Held() { release(); }
  Held(const Held&) = delete;

  /// Removes the file before others can get the lock; a process that has opened it meanwhile tries
  /// again. A child of the process, which has the descriptor too, does nothing.
  void release() {
    if (descriptor < 0 || owner != ::getpid()) return;
    ::unlink(path.c_str());
    ::close(std::exchange(descriptor, -1));
  }

  const std::string path;
  const pid_t owner = ::getpid();
  int descriptor = -1;  // no lock
};

/// The locks of this process. As programs that end by std::exit or std::quick_exit destroy no
/// manager, their locks are released then.
class HeldLocks {
 public:
  HeldLocks() {
    release_at(&std::atexit);
    release_at(&std::at_quick_exit);
  }
  static HeldLocks& all() { return in_process<HeldLocks>(); }
  std::shared_ptr<DirectoryLock::Held> hold(const std::string& path, const std::string& directory);

 private:
  void release();
  static void release_at(int (*registration)(void (*)())) {
    registration([] { all().release(); });
  }

  std::mutex mutex_;  // guards by_path_
  std::map<std::string, std::weak_ptr<DirectoryLock::Held>> by_path_;
};

/// Returns TF_CONFIG without the part that differs between the tasks of a job.
DISTRIBUTE_INLINE std::string without_task(std::string config) {
  const size_t begin = config.find("\"task\"");
  const size_t end = begin == std::string::npos ? begin : config.find('}', begin);
  return end == std::string::npos ? config : config.erase(begin, end + 1 - begin);
}

/// Returns a text that the processes of one job have in common; empty when nothing shows that there
/// is a job.
DISTRIBUTE_INLINE std::string job_of_environment() {
  const auto value = [](const char* name) { return Environment().text(name); };
  const std::string job = without_task(value("TF_CONFIG")) + value("MASTER_ADDR") +
                          value("SLURM_JOB_ID") + value("OMPI_MCA_ess_base_jobid");
  if (job.empty()) return "";
  char digits[17];
  const uint64_t hash = cluster_internal::fnv1a(job + "\n" + value("DISTRIBUTE_JOB_TOKEN") +
                                                value("DISTRIBUTE_JOB_TOKEN_FILE"));
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
  return digits;
}

/// Returns "process 12 on host-a, job 0123456789abcdef".
DISTRIBUTE_INLINE std::string own_name(const std::string& job) {
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  return str_cat("process ", ::getpid(), " on ", host, ", job ", job.empty() ? "-" : job, "\n");
}

/// Whether the file that was opened is the one that has the name now.
DISTRIBUTE_INLINE bool is_still_there(int descriptor, const std::string& path) {
  struct stat opened {
  }, named{};
  return ::fstat(descriptor, &opened) == 0 && ::stat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

DISTRIBUTE_INLINE std::string text_of(int descriptor) {
  char text[512];
  const ssize_t size = ::pread(descriptor, text, sizeof text, 0);
  const std::string_view whole(text, size > 0 ? size_t(size) : 0);
  return std::string(whole.substr(0, whole.find('\n')));
}

/// Returns a descriptor with the lock; -1 if there are no locks, or if the same job has it.
DISTRIBUTE_INLINE int lock_file(const std::string& path, const std::string& directory) {
  base_internal::ignore_file_size_signal();
  const std::string job = job_of_environment();
  for (;;) {
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor < 0) return -1;  // what is written there will say why
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) {
      if (is_still_there(descriptor, path)) {
        const std::string name = own_name(job);
        if (::ftruncate(descriptor, 0) == 0)
          (void)!::pwrite(descriptor, name.data(), name.size(), 0);
        return descriptor;
      }
      ::close(descriptor);
      continue;
    }
    const bool taken = errno == EWOULDBLOCK;
    const std::string owner = text_of(descriptor);
    ::close(descriptor);
    if (!taken || (!job.empty() && owner.ends_with(", job " + job))) return -1;
    throw FailedPreconditionError(str_cat(
        "another job writes its checkpoints into ", directory, ": ",
        owner.empty() ? "its process has not said its name" : base_internal::safe_line(owner),
        "; give each job a directory of its own, or end that process"));
  }
}

DISTRIBUTE_INLINE std::shared_ptr<DirectoryLock::Held> HeldLocks::hold(
    const std::string& path, const std::string& directory) {
  const std::lock_guard lock(mutex_);
  std::weak_ptr<DirectoryLock::Held>& known = by_path_[path];
  if (auto held = known.lock()) return held;
  auto fresh = std::make_shared<DirectoryLock::Held>(path);
  fresh->descriptor = lock_file(path, directory);
  known = fresh;
  return fresh;
}

DISTRIBUTE_INLINE void HeldLocks::release() {
  const std::lock_guard lock(mutex_);
  for (const auto& [path, known] : by_path_)
    if (const auto held = known.lock()) held->release();
}

DISTRIBUTE_INLINE void DirectoryLock::hold() {
  const std::lock_guard lock(mutex_);
  if (held_ || !value_or_throw(io::file_system_for(directory_))->has_atomic_move()) return;
  if (directory_.starts_with("ram://")) return;
  const std::string local = directory_.starts_with("file://") ? directory_.substr(7) : directory_;
  char* const real = ::realpath(local.c_str(), nullptr);
  const std::string path = io::join_path(real ? real : local, ".checkpoint_writer");
  std::free(real);
  held_ = HeldLocks::all().hold(path, directory_);
}

}  // namespace distribute::checkpoint_internal
