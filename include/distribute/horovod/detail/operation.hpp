#pragma once
/// An operation of a rank, from its submission to its result.

#include <distribute/base/config.hpp>
#include <distribute/horovod/detail/execution.hpp>
#include <distribute/horovod/detail/request.hpp>

#include <exception>

namespace distribute::horovod_internal {

/// An operation that was submitted; `part`, `number` and `error` may be read once it is done.
struct Operation {
  Request request;
  Part part;
  int number = 0;  // Join: the last rank; AddProcessSet: the new set
  std::exception_ptr error = {};
  bool done = false;  // the engine's mutex guards it
};

}  // namespace distribute::horovod_internal
