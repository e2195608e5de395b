#pragma once
#include <distribute/base/detail/descriptors.hpp>
#include <distribute/base/error.hpp>
#include <distribute/net/deadline.hpp>

#include <cerrno>
#include <cstring>

#include <sys/eventfd.h>
#include <unistd.h>

namespace distribute::net {

DISTRIBUTE_INLINE WakeUp::WakeUp() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (descriptor_ < 0)
    throw ResourceExhaustedError(str_cat("eventfd: ", base_internal::system_error_text(errno)));
}

DISTRIBUTE_INLINE WakeUp::~WakeUp() { ::close(descriptor_); }

DISTRIBUTE_INLINE void WakeUp::signal() const {
  // When the counter is full, the descriptor is readable already.
  [[maybe_unused]] const int ignored = ::eventfd_write(descriptor_, 1);
}

DISTRIBUTE_INLINE void WakeUp::clear() const {
  eventfd_t value = 0;
  [[maybe_unused]] const int ignored = ::eventfd_read(descriptor_, &value);
}

}  // namespace distribute::net
