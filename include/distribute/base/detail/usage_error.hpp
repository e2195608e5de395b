#pragma once
/// Marks errors of what a process was started with, for which exit_status() is kExitUsage.

#include <distribute/base/error.hpp>

namespace distribute::base_internal {

/// A second base class of such exceptions.
class WrongUsage {
 public:
  virtual ~WrongUsage() = default;
};

/// An exception of the type Kind that is marked.
template <typename Kind>
class UsageError : public Kind, public WrongUsage {
 public:
  using Kind::Kind;
};

/// Throws the error that is being handled, marked if it is of one of the kinds.
template <typename... Kinds>
[[noreturn]] void throw_marked(const Error& error) {
  ((dynamic_cast<const Kinds*>(&error) ? throw UsageError<Kinds>(error.what()) : void()), ...);
  throw;
}

/// Returns what `read` returns, which reads flags or the environment. What it throws because they
/// are wrong, or name a file that is not there, keeps its type and text, and is marked.
template <typename Read>
decltype(auto) reading_usage(const Read& read) {
  try {
    return read();
  } catch (const Error& error) {
    throw_marked<InvalidArgumentError, FailedPreconditionError, NotFoundError,
                 PermissionDeniedError>(error);
  }
}

}  // namespace distribute::base_internal
