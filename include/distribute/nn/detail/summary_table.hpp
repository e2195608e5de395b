#pragma once
/// The table of a model's layers as text, in Keras's columns.

#include <distribute/base/config.hpp>
#include <distribute/nn/module.hpp>

#include <string>

namespace distribute::nn::nn_internal {

/// "conv2d (Conv2D)", "(None, 26, 26, 32)", "320" with tabs between; no shape: "?".
std::string summary_line(const std::string& name, const std::string& kind,
                         const std::optional<Shape>& output, int64_t parameters);

/// The whole table of `lines`, which end with line breaks; those of `columns` 4 also say what each
/// layer is connected to.
/// Source  keras.src.utils.summary_utils.print_summary
std::string summary_table(const Module& model, const std::string& lines, int columns = 3);

}  // namespace distribute::nn::nn_internal
