#pragma once
/// Messages of a rank that ends, or stops for good, in the middle of an operation.

#include <distribute/collective/detail/group_messages.hpp>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>

/// What happens to a rank when it sends its message number `at`, counted from 1.
struct Fault {
  bool kills = true;  // its connections are closed; else they stay open and silent
  int at = 1;
};

/// Keeps a stopped rank from going on until the others are done.
class Stop {
 public:
  explicit Stop(int others) : left_(others) {}
  void one_is_done() {
    const std::lock_guard lock(mutex_);
    --left_;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return left_ <= 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int left_;
};

class FaultyMessages final : public distribute::collective::GroupMessages {
 public:
  using Operation = distribute::collective::Operation;
  FaultyMessages(std::unique_ptr<GroupMessages> inner, Fault fault, Stop& stop)
      : rank_(inner->rank()),
        size_(inner->size()),
        fault_(fault),
        stop_(stop),
        inner_(std::move(inner)) {}

  const char* name() const override { return "tcp"; }
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void begin(const Operation& operation) override { live().begin(operation); }
  void send(int to, uint64_t tag, std::span<const std::byte> bytes, bool urgent) override {
    if (++sent_ == fault_.at) {
      if (fault_.kills)
        inner_.reset();
      else
        stop_.wait();
      throw distribute::AbortedError("the fault of the test");
    }
    live().send(to, tag, bytes, urgent);
  }
  void receive(int from, uint64_t tag, std::span<std::byte> out) override {
    live().receive(from, tag, out);
  }
  Event next() override { return live().next(); }
  void finish() override { live().finish(); }
  void look() override { live().look(); }
  void throw_if_aborted() override { live().throw_if_aborted(); }
  void abort(distribute::StatusCode code, const std::string& message) override {
    if (inner_) inner_->abort(code, message);
  }
  void hang_up(distribute::StatusCode, const std::string&) override { inner_.reset(); }
  bool is_whole() const { return sent_ < fault_.at; }

 protected:
  void wake() override {}

 private:
  GroupMessages& live() {
    if (!inner_) throw distribute::AbortedError("the fault of the test");
    return *inner_;
  }

  const int rank_, size_;
  const Fault fault_;
  Stop& stop_;
  std::unique_ptr<GroupMessages> inner_;
  int sent_ = 0;
};
