#pragma once
/// The table of a model's layers as text, in Keras's columns.

#include <distribute/base/config.hpp>
#include <distribute/nn/module.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace distribute::nn::nn_internal {

/// Returns Keras's lower-case name of a class, "conv2d_transpose" for Conv2DTranspose.
/// Source  keras.src.utils.naming.to_snake_case
std::string kind_of_class(const std::string& name);

/// Returns the class of a module, "Conv2D"; of your own module the name that it has in the source.
std::string class_of(const Module& module);

/// Joins "conv2d (Conv2D)", "(None, 26, 26, 32)" and "320" with tabs; an unknown shape is "?". A
/// fixed batch size stands in place of None.
std::string summary_line(const std::string& name, const std::string& class_name,
                         const std::optional<Shape>& output, std::optional<int64_t> batch_size,
                         int64_t parameters);

/// Makes the whole table from `lines`, each of which ends with a line break. With 4 columns the
/// lines also say what each layer is connected to.
/// Source  keras.src.utils.summary_utils.print_summary
std::string summary_table(const Module& model, const std::string& lines, int columns = 3);

}  // namespace distribute::nn::nn_internal
