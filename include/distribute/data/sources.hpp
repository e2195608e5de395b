#pragma once
/// Where elements come from when not from tensors: functions of the user, and lists of files.

#include <distribute/base/config.hpp>
#include <distribute/data/node.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace distribute::data {

/// Gives the next element, or none at the end.
using Generator = std::function<std::optional<Batch>()>;
/// Starts a generator from its beginning; called once per pass.
using GeneratorFactory = std::function<Generator()>;
/// Makes the dataset of one file.
using FileReader = std::function<NodePtr(const std::string& path)>;

/// Elements must have the shapes and dtypes of `spec` (-1: any size).
/// Throws  InvalidArgumentError at an element that has not; what the generator throws.
/// Source  tf.data.Dataset.from_generator
NodePtr generator_source(GeneratorFactory factory, ElementSpec spec);

/// One element.
/// Throws  InvalidArgumentError for one without components.
/// Source  tf.data.Dataset.from_tensors
NodePtr element_source(Batch element);

/// All elements of the first file, then of the second, and so on. Autosharding by File gives each
/// worker other files.
/// Throws  InvalidArgumentError for no files.
NodePtr file_source(std::vector<std::string> files, FileReader reader);

}  // namespace distribute::data
