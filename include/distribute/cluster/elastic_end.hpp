#pragma once
/// How a worker's part in an elastic job ends.

#include <distribute/base/config.hpp>

namespace distribute {

/// How a worker's part in an elastic job has ended.
enum class ElasticEnd {
  Finished,  // the body has returned, on all members
  Left,      // this worker was told to leave; the others go on
  TooLate,   // the others had finished before this worker could join
};

}  // namespace distribute
