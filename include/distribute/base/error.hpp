#pragma once
/// Exceptions named as in TensorFlow; every one is a distribute::Error with a status code.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace distribute {

/// Canonical status codes (same numbers as tf.errors and absl::StatusCode).
enum class StatusCode : int {
  Ok = 0,
  Cancelled = 1,
  Unknown = 2,
  InvalidArgument = 3,
  DeadlineExceeded = 4,
  NotFound = 5,
  AlreadyExists = 6,
  PermissionDenied = 7,
  ResourceExhausted = 8,
  FailedPrecondition = 9,
  Aborted = 10,
  OutOfRange = 11,
  Unimplemented = 12,
  Internal = 13,
  Unavailable = 14,
  DataLoss = 15,
  Unauthenticated = 16,
};

/// Returns the name of a code as TensorFlow prints it, such as "INVALID_ARGUMENT".
const char* status_code_name(StatusCode code);

/// Returns whether the operation may succeed later: Unavailable, DeadlineExceeded and Aborted.
bool may_pass(StatusCode code);

/// Is the base of all exceptions of this library. One that reaches the end of a program without
/// being caught is printed as "error: ..." before the program aborts, unless the program has a
/// terminate handler of its own.
/// Source  tf.errors.OpError
class Error : public std::runtime_error {
 public:
  Error(StatusCode code, const std::string& message);
  StatusCode code() const { return code_; }

 private:
  StatusCode code_;
};

/// One exception type per code: InvalidArgumentError is ErrorWithCode<StatusCode::InvalidArgument>.
template <StatusCode Code>
class ErrorWithCode : public Error {
 public:
  explicit ErrorWithCode(const std::string& message) : Error(Code, message) {}
};

using CancelledError = ErrorWithCode<StatusCode::Cancelled>;
using UnknownError = ErrorWithCode<StatusCode::Unknown>;
using InvalidArgumentError = ErrorWithCode<StatusCode::InvalidArgument>;
using DeadlineExceededError = ErrorWithCode<StatusCode::DeadlineExceeded>;
using NotFoundError = ErrorWithCode<StatusCode::NotFound>;
using AlreadyExistsError = ErrorWithCode<StatusCode::AlreadyExists>;
using PermissionDeniedError = ErrorWithCode<StatusCode::PermissionDenied>;
using ResourceExhaustedError = ErrorWithCode<StatusCode::ResourceExhausted>;
using FailedPreconditionError = ErrorWithCode<StatusCode::FailedPrecondition>;
using AbortedError = ErrorWithCode<StatusCode::Aborted>;
using OutOfRangeError = ErrorWithCode<StatusCode::OutOfRange>;
using UnimplementedError = ErrorWithCode<StatusCode::Unimplemented>;
using InternalError = ErrorWithCode<StatusCode::Internal>;
using UnavailableError = ErrorWithCode<StatusCode::Unavailable>;
using DataLossError = ErrorWithCode<StatusCode::DataLoss>;
using UnauthenticatedError = ErrorWithCode<StatusCode::Unauthenticated>;

/// Throws the exception type that belongs to `code`; `code` must not be Ok.
[[noreturn]] void throw_error(StatusCode code, const std::string& message);

namespace base_internal {

std::string join_words(std::initializer_list<std::string_view> words);
std::string number_word(int64_t number);
std::string number_word(uint64_t number);
std::string number_word(double number);  // six digits, as a stream prints it
/// Returns the shortest text that reads back as the same number.
std::string exact_word(double number);
/// Returns what `print` writes to a stream.
std::string streamed_word(const void* value, void (*print)(std::ostream& out, const void* value));

/// Returns `arg` as text; other types than text and numbers are printed by their operator<<.
template <typename Arg>
auto word(const Arg& arg) {
  if constexpr (std::is_same_v<Arg, char>) {
    return std::string_view(&arg, 1);
  } else if constexpr (std::is_convertible_v<const Arg&, std::string_view>) {
    return std::string_view(arg);
  } else if constexpr (std::is_floating_point_v<Arg>) {
    return number_word(double(arg));
  } else if constexpr (std::is_unsigned_v<Arg>) {
    return number_word(uint64_t(arg));
  } else if constexpr (std::is_integral_v<Arg>) {
    return number_word(int64_t(arg));
  } else {
    static_assert(
        !requires(std::istream & in) { in >> arg; },
        "a manipulator as std::setprecision would reach no other word");
    return streamed_word(
        &arg, [](std::ostream& out, const void* value) { out << *static_cast<const Arg*>(value); });
  }
}

}  // namespace base_internal

/// Joins anything printable into one message: str_cat("step ", 3). It is used because absl::StrCat
/// does not take std::string_view if Abseil was built as C++14 (Debian 12).
template <typename... Args>
std::string str_cat(const Args&... args) {
  return base_internal::join_words({std::string_view(base_internal::word(args))...});
}

}  // namespace distribute
