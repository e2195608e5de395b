#pragma once
#if __FINITE_MATH_ONLY__
#error \
    "distribute's bodies decide by NaN and infinity, which -ffast-math takes for impossible: add -fno-finite-math-only behind it, or link the compiled library"
#endif
#include <distribute/base/error.hpp>

#include <absl/strings/str_cat.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <locale>
#include <sstream>

namespace distribute {

namespace base_internal {

DISTRIBUTE_INLINE std::string join_words(std::initializer_list<std::string_view> words) {
  size_t length = 0;
  for (const std::string_view word : words) length += word.size();
  std::string text;
  text.reserve(length);
  for (const std::string_view word : words) text += word;
  return text;
}

DISTRIBUTE_INLINE std::string number_word(int64_t number) { return absl::StrCat(number); }
DISTRIBUTE_INLINE std::string number_word(uint64_t number) { return absl::StrCat(number); }
DISTRIBUTE_INLINE std::string number_word(double number) { return absl::StrCat(number); }

DISTRIBUTE_INLINE std::string exact_word(double number) {
  char text[32];
  return std::string(text, std::to_chars(text, text + sizeof text, number).ptr);
}

DISTRIBUTE_INLINE std::string streamed_word(const void* value,
                                            void (*print)(std::ostream& out, const void* value)) {
  std::ostringstream out;
  out.imbue(std::locale::classic());  // numbers without the separators of the program's locale
  print(out, value);
  return out.str();
}

}  // namespace base_internal

namespace base_internal {

/// Prints an error that no program caught as run_main() does, and ends the process as before.
DISTRIBUTE_INLINE void end_with_message() noexcept {
  try {
    if (const std::exception_ptr current = std::current_exception())
      std::rethrow_exception(current);
  } catch (const Error& error) {
    std::fflush(stdout);
    std::fprintf(stderr, "error: %s\n", error.what());
    std::abort();
  } catch (...) {
  }
#ifdef __GLIBCXX__
  __gnu_cxx::__verbose_terminate_handler();
#endif
  std::abort();
}

/// Programs' own handlers stay.
DISTRIBUTE_INLINE void print_uncaught_errors() {
#ifdef __GLIBCXX__
  if (std::get_terminate() == __gnu_cxx::__verbose_terminate_handler)
    std::set_terminate(end_with_message);
#endif
}

}  // namespace base_internal

DISTRIBUTE_INLINE Error::Error(StatusCode code, const std::string& message)
    : std::runtime_error(message), code_(code) {
  base_internal::print_uncaught_errors();
}

DISTRIBUTE_INLINE const char* status_code_name(StatusCode code) {
  switch (code) {
    case StatusCode::Ok: return "OK";
    case StatusCode::Cancelled: return "CANCELLED";
    case StatusCode::Unknown: return "UNKNOWN";
    case StatusCode::InvalidArgument: return "INVALID_ARGUMENT";
    case StatusCode::DeadlineExceeded: return "DEADLINE_EXCEEDED";
    case StatusCode::NotFound: return "NOT_FOUND";
    case StatusCode::AlreadyExists: return "ALREADY_EXISTS";
    case StatusCode::PermissionDenied: return "PERMISSION_DENIED";
    case StatusCode::ResourceExhausted: return "RESOURCE_EXHAUSTED";
    case StatusCode::FailedPrecondition: return "FAILED_PRECONDITION";
    case StatusCode::Aborted: return "ABORTED";
    case StatusCode::OutOfRange: return "OUT_OF_RANGE";
    case StatusCode::Unimplemented: return "UNIMPLEMENTED";
    case StatusCode::Internal: return "INTERNAL";
    case StatusCode::Unavailable: return "UNAVAILABLE";
    case StatusCode::DataLoss: return "DATA_LOSS";
    case StatusCode::Unauthenticated: return "UNAUTHENTICATED";
  }
  return "UNKNOWN";
}

DISTRIBUTE_INLINE bool may_pass(StatusCode code) {
  return code == StatusCode::Unavailable || code == StatusCode::DeadlineExceeded ||
         code == StatusCode::Aborted;
}

DISTRIBUTE_INLINE void throw_error(StatusCode code, const std::string& message) {
  switch (code) {
    case StatusCode::Cancelled: throw CancelledError(message);
    case StatusCode::InvalidArgument: throw InvalidArgumentError(message);
    case StatusCode::DeadlineExceeded: throw DeadlineExceededError(message);
    case StatusCode::NotFound: throw NotFoundError(message);
    case StatusCode::AlreadyExists: throw AlreadyExistsError(message);
    case StatusCode::PermissionDenied: throw PermissionDeniedError(message);
    case StatusCode::ResourceExhausted: throw ResourceExhaustedError(message);
    case StatusCode::FailedPrecondition: throw FailedPreconditionError(message);
    case StatusCode::Aborted: throw AbortedError(message);
    case StatusCode::OutOfRange: throw OutOfRangeError(message);
    case StatusCode::Unimplemented: throw UnimplementedError(message);
    case StatusCode::Internal: throw InternalError(message);
    case StatusCode::Unavailable: throw UnavailableError(message);
    case StatusCode::DataLoss: throw DataLossError(message);
    case StatusCode::Unauthenticated: throw UnauthenticatedError(message);
    default: throw UnknownError(message);
  }
}

}  // namespace distribute
