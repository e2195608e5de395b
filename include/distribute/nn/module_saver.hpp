#pragma once
/// Functions that write a module for other programs; <distribute/saved_model.hpp> brings the
/// SavedModel, <distribute/saving.hpp> the files of Keras.

#include <distribute/base/config.hpp>

#include <functional>
#include <string>

namespace distribute::saved_model {
struct SaveOptions;
}

namespace distribute::nn {

class Module;

/// Writes `module` at `path`; null options are the default ones.
using ModuleSaver = std::function<void(Module& module, const std::string& path,
                                       const saved_model::SaveOptions* options)>;

/// Sets the saver that Model::save uses for paths with this ending, such as ".keras"; an empty
/// ending stands for all other paths. An empty saver removes the entry. Thread-compatible.
void register_module_saver(ModuleSaver saver, const std::string& ending = "");

/// Writes the module with the saver registered for the path.
/// Throws  FailedPreconditionError in a program without the headers of that saver.
void save_module(Module& module, const std::string& path, const saved_model::SaveOptions* options);
/// Checks before a long training that save_module() has a saver for the path.
/// Throws  FailedPreconditionError if it has none.
void check_module_saver(const std::string& path);

}  // namespace distribute::nn
