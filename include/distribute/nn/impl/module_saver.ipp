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

namespace nn_internal {

DISTRIBUTE_INLINE const ModuleSaver& saver_of(const std::string& path) {
  const auto& savers = in_process<SaversOfModules>().by_ending;
  std::string ending;
  for (const char* known : {".keras", ".h5", ".hdf5"})
    if (path.ends_with(known)) ending = known;
  const auto saver = savers.find(ending);
  if (saver != savers.end() && saver->second) return saver->second;
  const bool keras = !ending.empty();
  const std::string annex = keras ? "saving" : "saved_model";
  throw FailedPreconditionError(str_cat("cannot save ", path, keras ? "" : " as a SavedModel",
                                        ": include <distribute/", annex,
                                        ".hpp> and link distribute::", annex));
}

}  // namespace nn_internal

DISTRIBUTE_INLINE void check_module_saver(const std::string& path) { nn_internal::saver_of(path); }

DISTRIBUTE_INLINE void save_module(Module& module, const std::string& path,
                                   const saved_model::SaveOptions* options) {
  nn_internal::saver_of(path)(module, path, options);
}

}  // namespace distribute::nn
