#pragma once
#include <distribute/base/status.hpp>
#include <distribute/coordinator/remote_value.hpp>

namespace distribute::coordinator_internal {

DISTRIBUTE_INLINE void throw_if_damaged(const absl::Status& parsed) {
  if (!parsed.ok()) throw DataLossError(std::string(parsed.message()));
}

DISTRIBUTE_INLINE void RemoteState::set_bytes(std::string bytes) {
  become(RemoteValueStatus::Ready, std::make_shared<const std::string>(std::move(bytes)), nullptr);
}

DISTRIBUTE_INLINE void RemoteState::set_error(std::exception_ptr error) {
  become(RemoteValueStatus::Aborted, nullptr, std::move(error));
}

DISTRIBUTE_INLINE void RemoteState::become(RemoteValueStatus status,
                                           std::shared_ptr<const std::string> bytes,
                                           std::exception_ptr error) {
  const std::lock_guard lock(mutex_);
  status_ = status;
  bytes_ = std::move(bytes);
  error_ = std::move(error);
  changed_.notify_all();
}

DISTRIBUTE_INLINE RemoteValueStatus RemoteState::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

DISTRIBUTE_INLINE std::shared_ptr<const std::string> RemoteState::bytes() const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return status_ != RemoteValueStatus::NotReady; });
  if (error_) std::rethrow_exception(error_);
  return bytes_;
}

}  // namespace distribute::coordinator_internal
