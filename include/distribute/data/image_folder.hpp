#pragma once
/// Finds labelled pictures in a folder with one folder for each class.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace distribute::data {

/// Pictures in the order of their classes, then of their names.
struct ImageFolder {
  std::vector<std::string> class_names;  // sorted; the label is the place here
  std::vector<std::string> paths;
  std::vector<int64_t> labels;  // of `paths`
};

/// Whether a file of this name is taken for a picture: .jpg, .jpeg and .png, in small or capital
/// letters, but no hidden file.
bool is_picture_name(std::string name);

/// The pictures in `directory`/<class>/; files of other names are passed over, and so are files
/// beside the folders.
/// Throws  NotFoundError for no directory or no pictures; PermissionDeniedError; for a class
///         without pictures InvalidArgumentError that names it.
/// Source  tf.keras.utils.image_dataset_from_directory(labels="inferred")
ImageFolder list_image_folder(const std::string& directory);

}  // namespace distribute::data
