#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/nn/module_saver.hpp>

#include <map>
#include <string>
#include <utility>

namespace distribute::nn {

namespace nn_internal {

struct SaversOfModules {
  std::map<std::string, ModuleSaver> by_ending;
};

}  // namespace nn_internal

DISTRIBUTE_INLINE void register_module_saver(ModuleSaver saver, const std::string& ending) {
  in_process<nn_internal::SaversOfModules>().by_ending[ending] = std::move(saver);
}

DISTRIBUTE_INLINE void save_module(Module& module, const std::string& path,
                                   const saved_model::SaveOptions* options) {
  const auto& savers = in_process<nn_internal::SaversOfModules>().by_ending;
  std::string ending;
  for (const char* known : {".keras", ".h5", ".hdf5"})
    if (path.ends_with(known)) ending = known;
  const auto saver = savers.find(ending);
  if (saver != savers.end()) return saver->second(module, path, options);
  const bool keras = !ending.empty();
  const std::string annex = keras ? "saving" : "saved_model";
  throw FailedPreconditionError(str_cat("cannot save ", path, keras ? "" : " as a SavedModel",
                                        ": include <distribute/", annex,
                                        ".hpp> and link distribute::", annex));
}

}  // namespace distribute::nn
