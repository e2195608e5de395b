#pragma once
/// Conversion from absl::Status, which the lower floors return, to the exceptions of
/// base/error.hpp.

#include <distribute/base/error.hpp>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <string>
#include <utility>

namespace distribute {

/// Makes an absl::Status with one of this library's codes, which have the same numbers.
absl::Status make_status(StatusCode code, const std::string& message);

/// Returns the same status with "`context`: " in front of its message.
absl::Status annotate(const absl::Status& status, const std::string& context);

/// Throws the error of a status; does nothing for an OK status.
/// Throws  the exception type that belongs to the code, such as NotFoundError.
void throw_if_error(const absl::Status& status);

/// Returns the value inside, or throws the exception that belongs to the status.
template <typename T>
T value_or_throw(absl::StatusOr<T> value) {
  throw_if_error(value.status());
  return *std::move(value);
}

}  // namespace distribute
