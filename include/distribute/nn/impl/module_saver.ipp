#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/nn/module_saver.hpp>

#include <memory>
#include <utility>

namespace distribute::nn {

DISTRIBUTE_INLINE void register_module_saver(ModuleSaver saver) {
  process_state().module_saver = std::make_shared<ModuleSaver>(std::move(saver));
}

DISTRIBUTE_INLINE void save_module(Module& module, const std::string& path,
                                   const saved_model::SaveOptions* options) {
  const auto* saver = static_cast<const ModuleSaver*>(process_state().module_saver.get());
  if (!saver)
    throw FailedPreconditionError(
        str_cat("cannot save ", path,
                " as a SavedModel: include <distribute/saved_model.hpp> and "
                "link distribute::saved_model"));
  (*saver)(module, path, options);
}

}  // namespace distribute::nn
