#pragma once
#include <distribute/base/error.hpp>
#include <distribute/nn/module_saver.hpp>
#include <distribute/saving/detail/registration.hpp>
#include <distribute/saving/keras_model.hpp>

namespace distribute::saving_internal {

DISTRIBUTE_INLINE bool register_keras_saver() {
  const nn::ModuleSaver saver = [](nn::Module& module, const std::string& path,
                                   const saved_model::SaveOptions* options) {
    if (options)
      throw InvalidArgumentError(
          "Model::save: the options are those of a SavedModel, and a file of Keras has none");
    saving::save_model(module, path);
  };
  for (const char* ending : {".keras", ".h5", ".hdf5"}) nn::register_module_saver(saver, ending);
  return true;
}

}  // namespace distribute::saving_internal
