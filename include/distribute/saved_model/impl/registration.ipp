#pragma once
#include <distribute/nn/module_saver.hpp>
#include <distribute/saved_model/detail/registration.hpp>
#include <distribute/saved_model/saved_model.hpp>

namespace distribute::saved_model_internal {

DISTRIBUTE_INLINE bool register_saved_model() {
  nn::register_module_saver(
      [](nn::Module& module, const std::string& path, const saved_model::SaveOptions* options) {
        saved_model::save(module, path, options ? *options : saved_model::SaveOptions());
      });
  return true;
}

}  // namespace distribute::saved_model_internal
