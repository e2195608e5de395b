#pragma once
#include <distribute/base/error.hpp>
#include <distribute/cluster/detail/request_table.hpp>

namespace distribute::cluster_internal {

DISTRIBUTE_INLINE uint64_t RequestTable::open() {
  replies_[++last_] = {};
  return last_;
}

DISTRIBUTE_INLINE void RequestTable::answer(const ControlMessage& reply) {
  const auto found = replies_.find(reply.request);
  if (found == replies_.end()) return;
  found->second = reply;
  changed_.notify_all();
}

DISTRIBUTE_INLINE std::string RequestTable::wait(std::unique_lock<std::mutex>& lock,
                                                 uint64_t request, net::Deadline deadline,
                                                 const std::string& what,
                                                 const std::function<void()>& interrupted) {
  struct Forget {
    std::map<uint64_t, ControlMessage>& replies;
    uint64_t request;
    ~Forget() { replies.erase(request); }
  } const forget{replies_, request};
  const ControlMessage& reply = replies_[request];
  while (reply.type != ControlType::Reply) {
    interrupted();
    if (deadline.passed())
      throw DeadlineExceededError(str_cat(what, ": the leader has not answered in time"));
    changed_.wait_until(lock, deadline.when());
  }
  if (reply.code != 0) throw_error(StatusCode(reply.code), str_cat(what, ": ", reply.name));
  return reply.value;
}

}  // namespace distribute::cluster_internal
