#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/launch/detail/outputs.hpp>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>

namespace distribute::launch_internal {

using launch::Descriptor;

struct OutputQueue::State {
  std::string name, path;            // the path of a file that is not open yet
  const void* overwriter = nullptr;  // whose text ends in '\r', the last one
  int descriptor = -1;
  Descriptor own;  // the same, of a file
  std::shared_ptr<Descriptor> changed;
  bool regular = false, has_thread = false;

  std::mutex mutex;  // guards what follows
  std::condition_variable added;
  std::string text;
  size_t being_written = 0;
  uint64_t lost = 0;
  int error = 0;  // of the last write that failed; 0: the reader does not read
  bool reader_has_gone_only = true;
  bool loses = false, given_up = false, ended = false;

  size_t waiting() const { return text.size() + being_written; }
  void lose(size_t bytes, int why) {
    if (bytes == 0) return;
    lost += bytes;
    error = why;
    if (why != EPIPE) reader_has_gone_only = false;
  }
};

using OutputState = OutputQueue::State;

/// Returns the number of bytes written, at least one; 0 with errno when none can be.
DISTRIBUTE_INLINE size_t write_some(int descriptor, std::string_view text) {
  constexpr size_t kPiece = 4096;  // pieces of this size are not mixed with others' in a pipe
  for (;;) {
    const ssize_t sent = ::write(descriptor, text.data(), std::min(text.size(), kPiece));
    if (sent > 0) return size_t(sent);
    if (sent < 0 && errno == EAGAIN) {
      pollfd entry{descriptor, POLLOUT, 0};
      ::poll(&entry, 1, -1);
    } else if (errno != EINTR) {
      return 0;
    }
  }
}

/// Records how the first bytes of a piece were written; returns false once the rest is given up.
DISTRIBUTE_INLINE bool note_written(OutputState& state, size_t written, size_t left, int error) {
  const std::lock_guard lock(state.mutex);
  if (state.given_up) return false;
  const size_t before = state.waiting();
  state.being_written = error ? 0 : left - written;
  if (error) state.lose(left, error);
  const size_t now = state.waiting();
  const bool has_room = before >= OutputQueue::kMostBytes && now < OutputQueue::kMostBytes;
  const uint64_t one = 1;
  if (has_room || now == 0) (void)!::write(state.changed->native(), &one, sizeof(one));
  return !error;
}

/// Opens a file, which blocks for a FIFO without a reader.
DISTRIBUTE_INLINE int open_late(OutputState& state) {
  while (!state.own) {
    state.own = Descriptor(::open(state.path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
    if (!state.own && errno != EINTR) return errno;
  }
  state.descriptor = state.own.native();
  return 0;
}

DISTRIBUTE_INLINE void write_piece(OutputState& state, std::string_view piece) {
  const int error = state.descriptor < 0 ? open_late(state) : 0;
  if (error) {
    note_written(state, 0, piece.size(), error);
    return;
  }
  while (!piece.empty()) {
    const size_t written = write_some(state.descriptor, piece);
    if (!note_written(state, written, piece.size(), written ? 0 : errno)) return;
    piece.remove_prefix(written);
  }
}

/// The function of the thread: writes added text until the queue ends.
DISTRIBUTE_INLINE void write_all(const std::shared_ptr<OutputState>& state) {
  for (;;) {
    std::string piece;
    {
      std::unique_lock lock(state->mutex);
      state->added.wait(lock, [&] { return !state->text.empty() || state->ended; });
      if (state->text.empty()) return;
      piece.swap(state->text);
      state->being_written = piece.size();
    }
    write_piece(*state, piece);
  }
}

DISTRIBUTE_INLINE bool is_regular(int descriptor) {
  struct stat info;
  return ::fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode);
}

DISTRIBUTE_INLINE bool is_one_file(int a, int b) {
  struct stat first, second;
  return ::fstat(a, &first) == 0 && ::fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

DISTRIBUTE_INLINE OutputQueue::OutputQueue(std::string name, int descriptor,
                                           std::shared_ptr<Descriptor> changed)
    : state_(std::make_shared<State>()) {
  state_->name = std::move(name);
  state_->descriptor = descriptor;
  state_->regular = is_regular(descriptor);
  state_->changed = std::move(changed);
}

DISTRIBUTE_INLINE OutputQueue::OutputQueue(const std::string& path,
                                           std::shared_ptr<Descriptor> changed)
    : OutputQueue("'" + path + "'", -1, std::move(changed)) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_APPEND | O_TRUNC | O_CLOEXEC | O_NONBLOCK;
  state_->path = path;
  state_->own = Descriptor(::open(path.c_str(), kFlags, 0644));
  const bool waits_for_reader = !state_->own && errno == ENXIO;
  if (!state_->own && !waits_for_reader)
    throw UnavailableError(str_cat("cannot write '", path, "': ", std::strerror(errno)));
  if (waits_for_reader)
    log_warning("launch", path + " is a pipe that nothing reads: waiting for a reader");
  state_->descriptor = state_->own.native();
  state_->regular = is_regular(state_->descriptor);
}

DISTRIBUTE_INLINE OutputQueue::~OutputQueue() {
  if (!state_) return;
  const std::lock_guard lock(state_->mutex);
  state_->ended = true;
  state_->added.notify_one();
}

DISTRIBUTE_INLINE void OutputQueue::add(std::string_view text, const void* writer) {
  if (text.empty()) return;
  const void* const before =
      std::exchange(state_->overwriter, text.ends_with('\r') ? writer : nullptr);
  if (before && before != writer) add_text("\n");
  add_text(text);
}

DISTRIBUTE_INLINE void OutputQueue::add_text(std::string_view text) {
  State& state = *state_;
  if (state.regular) {
    while (!text.empty()) {
      const size_t written = write_some(state.descriptor, text);
      if (written == 0) return state.lose(text.size(), errno);
      text.remove_prefix(written);
    }
    return;
  }
  if (!std::exchange(state.has_thread, true))
    std::thread([shared = state_] { write_all(shared); }).detach();
  const std::lock_guard lock(state.mutex);
  const bool full = state.loses && state.waiting() >= kMostBytes;
  if (full || state.given_up) return state.lose(text.size(), 0);
  state.text += text;
  state.added.notify_one();
}

DISTRIBUTE_INLINE bool OutputQueue::has_room() const {
  const std::lock_guard lock(state_->mutex);
  return state_->loses || state_->waiting() < kMostBytes;
}

DISTRIBUTE_INLINE size_t OutputQueue::waiting_bytes() const {
  const std::lock_guard lock(state_->mutex);
  return state_->waiting();
}

DISTRIBUTE_INLINE void OutputQueue::lose_when_full(bool loses) {
  const std::lock_guard lock(state_->mutex);
  state_->loses = loses;
}

DISTRIBUTE_INLINE void OutputQueue::give_up() {
  const std::lock_guard lock(state_->mutex);
  state_->lose(state_->waiting(), 0);
  state_->text.clear();
  state_->being_written = 0;
  state_->given_up = true;
}

DISTRIBUTE_INLINE std::string OutputQueue::lost() const {
  const std::lock_guard lock(state_->mutex);
  if (state_->lost == 0) return "";
  return str_cat(state_->lost, " bytes of ", state_->name, " (",
                 state_->error ? std::strerror(state_->error) : "its reader does not read", ")");
}

DISTRIBUTE_INLINE bool OutputQueue::has_failed() const {
  const std::lock_guard lock(state_->mutex);
  return state_->lost > 0 && !state_->reader_has_gone_only;
}

DISTRIBUTE_INLINE std::shared_ptr<Descriptor> make_event_descriptor() {
  Descriptor made(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!made) throw UnavailableError(str_cat("cannot make an eventfd: ", std::strerror(errno)));
  return std::make_shared<Descriptor>(std::move(made));
}

DISTRIBUTE_INLINE Outputs::Outputs()
    : changed_(make_event_descriptor()),
      out_("stdout", STDOUT_FILENO, changed_),
      err_("stderr", STDERR_FILENO, changed_),
      one_file_(is_one_file(STDOUT_FILENO, STDERR_FILENO)) {}

DISTRIBUTE_INLINE OutputQueue& Outputs::file(const std::string& path) {
  const auto known = files_.find(path);
  if (known != files_.end()) return known->second;
  OutputQueue& made = files_.emplace(path, OutputQueue(path, changed_)).first->second;
  made.lose_when_full(loses_);
  return made;
}

DISTRIBUTE_INLINE void Outputs::forget_changes() const {
  uint64_t number = 0;
  (void)!::read(changed_->native(), &number, sizeof(number));
}

DISTRIBUTE_INLINE size_t Outputs::waiting_bytes() const {
  size_t bytes = out_.waiting_bytes() + err_.waiting_bytes();
  for (const auto& [path, queue] : files_) bytes += queue.waiting_bytes();
  return bytes;
}

DISTRIBUTE_INLINE void Outputs::lose_when_full(bool loses) {
  loses_ = loses;
  out_.lose_when_full(loses);
  err_.lose_when_full(loses);
  for (auto& [path, queue] : files_) queue.lose_when_full(loses);
}

DISTRIBUTE_INLINE void Outputs::give_up() {
  out_.give_up();
  err_.give_up();
  for (auto& [path, queue] : files_) queue.give_up();
}

DISTRIBUTE_INLINE std::string Outputs::lost() const {
  std::string text;
  const auto add = [&](const OutputQueue& queue) {
    const std::string lost = queue.lost();
    if (!lost.empty()) text += (text.empty() ? "" : ", ") + lost;
  };
  add(out_);
  add(err_);
  for (const auto& [path, queue] : files_) add(queue);
  return text;
}

DISTRIBUTE_INLINE bool Outputs::has_failed() const {
  bool failed = out_.has_failed() || err_.has_failed();
  for (const auto& [path, queue] : files_) failed = failed || queue.has_failed();
  return failed;
}

}  // namespace distribute::launch_internal
