#pragma once
#include <distribute/base/error.hpp>
#include <distribute/rpc/detail/peer.hpp>

namespace distribute::rpc {

DISTRIBUTE_INLINE std::string PeerName::name() const { return str_cat(type, " ", index); }

DISTRIBUTE_INLINE std::string PeerName::text() const {
  return address.empty() ? name() : str_cat(name(), " (", address, ")");
}

DISTRIBUTE_INLINE bool Peer::lost() const {
  const std::lock_guard lock(mutex_);
  return lost_;
}

DISTRIBUTE_INLINE void Peer::throw_if_lost() const {
  const std::lock_guard lock(mutex_);
  if (lost_) throw LostTaskError(name_, str_cat(text(), " is lost: ", reason_));
}

DISTRIBUTE_INLINE void Peer::watch(std::shared_ptr<const cluster_internal::Standstill> standstill) {
  const std::lock_guard lock(mutex_);
  standstill_ = std::move(standstill);
}

DISTRIBUTE_INLINE int Peer::on_lost(std::function<void()> callback) {
  const std::lock_guard lock(mutex_);
  const int id = ++last_callback_;
  if (lost_)
    callback();
  else
    callbacks_[id] = std::move(callback);
  return id;
}

DISTRIBUTE_INLINE void Peer::remove_on_lost(int id) {
  const std::lock_guard lock(mutex_);
  callbacks_.erase(id);
}

DISTRIBUTE_INLINE void Peer::lose(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  if (lost_) return;
  lost_ = true;
  reason_ = reason + (standstill_ ? standstill_->text(net::Deadline::Clock::now()) : "");
  while (!callbacks_.empty()) {
    const auto callback = std::move(callbacks_.begin()->second);
    callbacks_.erase(callbacks_.begin());
    callback();
  }
}

}  // namespace distribute::rpc
