#pragma once
#include <distribute/base/error.hpp>
#include <distribute/train/model_checkpoint.hpp>

#include <string_view>

namespace distribute::train {

DISTRIBUTE_INLINE SaveFrequency::SaveFrequency(const char* text) {
  if (std::string_view(text) != "epoch")
    throw InvalidArgumentError(str_cat(
        "save_freq: expected \"epoch\", a number of batches, or false; it is \"", text, "\""));
}

DISTRIBUTE_INLINE int64_t SaveFrequency::checked(int64_t batches, bool is_switch) {
  if (is_switch ? batches == 0 : batches >= 1) return batches;
  throw InvalidArgumentError(
      str_cat("save_freq: expected \"epoch\", a number of batches, or false; it is ", batches));
}

}  // namespace distribute::train
