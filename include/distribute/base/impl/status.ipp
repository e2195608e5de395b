#pragma once
#include <distribute/base/status.hpp>

namespace distribute {

DISTRIBUTE_INLINE absl::Status make_status(StatusCode code, const std::string& message) {
  return absl::Status(static_cast<absl::StatusCode>(code), message);
}

DISTRIBUTE_INLINE absl::Status annotate(const absl::Status& status, const std::string& context) {
  if (status.ok()) return status;
  const auto text = status.message();  // absl's own string_view in older packages
  return absl::Status(status.code(), context + ": " + std::string(text.data(), text.size()));
}

DISTRIBUTE_INLINE void throw_if_error(const absl::Status& status) {
  if (status.ok()) return;
  const auto text = status.message();
  throw_error(static_cast<StatusCode>(status.raw_code()), std::string(text.data(), text.size()));
}

}  // namespace distribute
