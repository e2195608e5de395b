#pragma once
#include <distribute/base/error.hpp>
#include <distribute/train/callback.hpp>

namespace distribute::train {

DISTRIBUTE_INLINE Model& Callback::model() const {
  if (!model_)
    throw FailedPreconditionError(
        "this callback needs a model: give it to fit, evaluate or predict of a train::Model");
  return *model_;
}

}  // namespace distribute::train
