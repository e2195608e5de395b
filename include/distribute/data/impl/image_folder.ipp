#pragma once
#include <distribute/base/status.hpp>
#include <distribute/data/pictures.hpp>
#include <distribute/io/file_system.hpp>

#include <algorithm>
#include <cctype>

namespace distribute::data {

DISTRIBUTE_INLINE bool is_picture_name(std::string name) {
  if (name.starts_with(".")) return false;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return char(std::tolower(c)); });
  return name.ends_with(".jpg") || name.ends_with(".jpeg") || name.ends_with(".png");
}

namespace data_internal {

DISTRIBUTE_INLINE void list_class(io::FileSystem& files, const std::string& folder,
                                  ImageFolder& result) {
  const size_t before = result.paths.size();
  for (const std::string& name : value_or_throw(files.list_directory(folder))) {
    if (!is_picture_name(name)) continue;
    result.paths.push_back(io::join_path(folder, name));
    result.labels.push_back(int64_t(result.class_names.size()) - 1);
  }
  if (result.paths.size() == before)
    throw InvalidArgumentError(str_cat("the folder of class \"", result.class_names.back(), "\", ",
                                       folder, ", has no picture (.jpg, .jpeg or .png)"));
}

}  // namespace data_internal

DISTRIBUTE_INLINE ImageFolder list_image_folder(const std::string& directory) {
  io::FileSystem* files = value_or_throw(io::file_system_for(directory));
  ImageFolder result;
  for (const std::string& name : value_or_throw(files->list_directory(directory))) {
    const std::string folder = io::join_path(directory, name);
    if (name.starts_with(".") || !value_or_throw(files->is_directory(folder))) continue;
    result.class_names.push_back(name);
    data_internal::list_class(*files, folder, result);
  }
  if (result.paths.empty())
    throw NotFoundError("\"" + directory +
                        "\" holds no folders of pictures: expected one folder for each class");
  return result;
}

}  // namespace distribute::data
