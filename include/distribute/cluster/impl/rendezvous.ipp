#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/cluster/detail/line_times.hpp>
#include <distribute/cluster/detail/rendezvous.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace distribute::cluster_internal {

DISTRIBUTE_INLINE void Rendezvous::handle(int rank, const ControlMessage& request, Time now) {
  const int64_t most = int64_t{1'000'000} * 3'600'000'000;  // a thousand hours
  const Time until = now + std::chrono::nanoseconds(std::clamp<int64_t>(request.times[0], 0, most));
  if (request.type == ControlType::Set) set(rank, request);
  if (request.type == ControlType::Get) get(rank, request, until);
  if (request.type == ControlType::Gather) gather(rank, request, until, now);
}

DISTRIBUTE_INLINE void Rendezvous::set(int rank, const ControlMessage& request) {
  values_[request.name] = request.value;
  reply_(rank, {.type = ControlType::Reply, .request = request.request});
  const auto waiting = getters_.extract(request.name);
  if (waiting.empty()) return;
  for (const Waiter& waiter : waiting.mapped())
    reply_(waiter.rank,
           {.type = ControlType::Reply, .request = waiter.request, .value = request.value});
}

DISTRIBUTE_INLINE void Rendezvous::get(int rank, const ControlMessage& request, Time until) {
  const auto found = values_.find(request.name);
  if (found == values_.end())
    getters_[request.name].push_back({rank, request.request, until});
  else
    reply_(rank, {.type = ControlType::Reply, .request = request.request, .value = found->second});
}

DISTRIBUTE_INLINE void Rendezvous::gather(int rank, const ControlMessage& request, Time until,
                                          Time now) {
  if (const int gone = first_left(); gone >= 0)
    return refuse(rank, request.request, int(StatusCode::FailedPrecondition),
                  str_cat("\"", untrusted::printable(request.name),
                          "\" can never be complete: ", names_[size_t(gone)], " has left the job"));
  Gather& gather = gathers_[request.name];
  if (gather.empty()) waits_.insert_or_assign(request.name, Wait{now, next_line_after(0)});
  if (!gather
           .try_emplace(rank,
                        Contribution{request.request, until, request.value, request.code == 1})
           .second)
    return refuse(rank, request.request, int(StatusCode::FailedPrecondition),
                  str_cat("\"", untrusted::printable(request.name), "\": ", names_[size_t(rank)],
                          " has called it twice before the others came"));
  if (gather.size() < names_.size()) return;
  answer_gather(request.name, gather);
  gathers_.erase(request.name);
}

DISTRIBUTE_INLINE void Rendezvous::answer_gather(const std::string& name, const Gather& gather) {
  GatheredTexts values;
  bool equal = true, compares = true;
  for (const auto& [rank, contribution] : gather) {
    values.push_back(contribution.value);
    equal = equal && contribution.value == values[0];
    compares = compares && contribution.compares;
  }
  ControlMessage reply{.type = ControlType::Reply, .value = equal ? kAllEqual : ""};
  if (!compares) reply.value = net::encode_message(values);
  if (reply.value.size() > most_) {
    reply.code = int(StatusCode::ResourceExhausted);
    reply.name =
        str_cat("\"", untrusted::printable(name), "\": the tasks' values have ", reply.value.size(),
                " bytes together; DISTRIBUTE_MAX_MESSAGE_BYTES allows ", most_);
    reply.value.clear();
  }
  for (const auto& [rank, contribution] : gather) {
    reply.request = contribution.request;
    reply_(rank, reply);
  }
}

DISTRIBUTE_INLINE void Rendezvous::refuse(int rank, uint64_t request, int code,
                                          const std::string& why) {
  reply_(rank, {.type = ControlType::Reply, .request = request, .code = code, .name = why});
}

DISTRIBUTE_INLINE int Rendezvous::first_left() const {
  const auto found = std::find(left_.begin(), left_.end(), true);
  return found == left_.end() ? -1 : int(found - left_.begin());
}

DISTRIBUTE_INLINE void Rendezvous::has_left(int rank) {
  left_[size_t(rank)] = true;
  for (auto& [key, waiters] : getters_)
    std::erase_if(waiters, [&](const Waiter& waiter) { return waiter.rank == rank; });
  for (auto& [key, gather] : std::exchange(gathers_, {}))
    for (const auto& [waiting, contribution] : gather)
      refuse(waiting, contribution.request, int(StatusCode::FailedPrecondition),
             str_cat("\"", untrusted::printable(key),
                     "\" can never be complete: ", names_[size_t(rank)], " has left the job"));
}

DISTRIBUTE_INLINE void Rendezvous::expire(Time now) {
  expire_getters(now);
  expire_gathers(now);
}

DISTRIBUTE_INLINE void Rendezvous::expire_getters(Time now) {
  for (auto& [key, waiters] : getters_)
    std::erase_if(waiters, [&, &key = key](const Waiter& waiter) {
      if (waiter.until > now) return false;
      refuse(waiter.rank, waiter.request, int(StatusCode::DeadlineExceeded),
             str_cat("store: no task has set \"", untrusted::printable(key), "\" in time"));
      return true;
    });
  std::erase_if(getters_, [](const auto& entry) { return entry.second.empty(); });
}

/// A rank that gives up takes its contribution back; the others wait until their own deadlines.
DISTRIBUTE_INLINE void Rendezvous::expire_gathers(Time now) {
  for (auto& [key, gather] : gathers_) {
    const std::string who = missing(gather);
    std::erase_if(gather, [&, &key = key](const auto& entry) {
      if (entry.second.until > now) return false;
      refuse(entry.first, entry.second.request, int(StatusCode::DeadlineExceeded),
             str_cat("\"", untrusted::printable(key), "\": still waiting for ", who));
      return true;
    });
  }
  std::erase_if(gathers_, [](const auto& entry) { return entry.second.empty(); });
}

DISTRIBUTE_INLINE std::vector<std::string> Rendezvous::lines(Time now) {
  std::vector<std::string> lines;
  std::erase_if(waits_, [&](const auto& entry) { return !gathers_.contains(entry.first); });
  for (auto& [name, wait] : waits_) {
    const double seconds = std::chrono::duration<double>(now - wait.begun).count();
    if (seconds < wait.next_line) continue;
    wait.next_line = next_line_after(seconds);
    lines.push_back(str_cat("\"", untrusted::printable(name), "\" has waited for ",
                            std::floor(seconds), " s; not there: ", missing(gathers_.at(name))));
  }
  return lines;
}

DISTRIBUTE_INLINE std::string Rendezvous::missing(const Gather& gather) const {
  std::string text;
  size_t count = 0;
  for (size_t rank = 0; rank < names_.size(); ++rank) {
    if (gather.count(int(rank)) != 0) continue;
    if (++count <= 20) text += str_cat(count > 1 ? ", " : "", names_[rank]);
  }
  return count > 20 ? str_cat(text, " and ", count - 20, " more") : text;
}

DISTRIBUTE_INLINE Rendezvous::Time Rendezvous::next_expiry() const {
  Time next = Time::max();
  for (const auto& [key, waiters] : getters_)
    for (const Waiter& waiter : waiters) next = std::min(next, waiter.until);
  for (const auto& [key, gather] : gathers_)
    for (const auto& [rank, contribution] : gather) next = std::min(next, contribution.until);
  for (const auto& [name, wait] : waits_)
    if (gathers_.contains(name)) next = std::min(next, wait.begun + net::seconds(wait.next_line));
  return next;
}

}  // namespace distribute::cluster_internal
