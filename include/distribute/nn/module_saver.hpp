#pragma once
/// How a module is written for other programs; <distribute/saved_model.hpp> brings the SavedModel,
/// <distribute/saving.hpp> the files of Keras.

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

/// The saver of Model::save for paths that end so, such as ".keras"; without an ending of all
/// others; an empty one takes it away. Thread-compatible.
void register_module_saver(ModuleSaver saver, const std::string& ending = "");

/// Throws  FailedPreconditionError in a program without the headers of that saver.
void save_module(Module& module, const std::string& path, const saved_model::SaveOptions* options);
/// Throws  the same for such a path, before a long training.
void check_module_saver(const std::string& path);

}  // namespace distribute::nn
