#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/nn/module_saver.hpp>

#include <utility>

namespace distribute::nn {

namespace nn_internal {

struct SaverOfModules {
  ModuleSaver saver;
};

}  // namespace nn_internal

DISTRIBUTE_INLINE void register_module_saver(ModuleSaver saver) {
  in_process<nn_internal::SaverOfModules>().saver = std::move(saver);
}

DISTRIBUTE_INLINE void save_module(Module& module, const std::string& path,
                                   const saved_model::SaveOptions* options) {
  const ModuleSaver& saver = in_process<nn_internal::SaverOfModules>().saver;
  if (!saver)
    throw FailedPreconditionError(
        str_cat("cannot save ", path,
                " as a SavedModel: include <distribute/saved_model.hpp> and "
                "link distribute::saved_model"));
  saver(module, path, options);
}

}  // namespace distribute::nn
