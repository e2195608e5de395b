#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/datasets/detail/directory_files.hpp>
#include <distribute/datasets/detail/resized_picture.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/ops/array.hpp>

#include <algorithm>
#include <cctype>

namespace distribute::data {

namespace data_internal {

/// How files become pictures.
struct PictureLoader {
  int64_t channels = 3;
  ImageSize size = {};
  image::ResizeMethod method = {};
  bool crops = false, pads = false, channels_first = false;

  Tensor operator()(const std::string& path) const {
    const std::string bytes = value_or_throw(io::read_file(path));
    try {
      const Tensor picture = sized(decode_image(bytes, {.channels = channels}));
      return channels_first ? transpose(picture, {2, 0, 1}) : picture;
    } catch (const InvalidArgumentError& error) {
      throw InvalidArgumentError(str_cat(path, ": ", error.what()));
    }
  }
  Tensor sized(const Tensor& image) const {
    if (crops) return cropped_and_resized(image, size, method);
    return pads ? resized_and_padded(image, size, method) : resized_picture(image, size, method);
  }
  TensorSpec spec() const {
    const DType dtype = method == image::ResizeMethod::Nearest ? DType::UInt8 : DType::Float32;
    if (channels_first) return {{channels, size.height, size.width}, dtype};
    return {{size.height, size.width, channels}, dtype};
  }
};

/// Throws  InvalidArgumentError unless `value` is one of `allowed`.
DISTRIBUTE_INLINE size_t place_of(const char* option, const std::string& value,
                                  std::initializer_list<const char*> allowed) {
  const auto found = std::ranges::find(allowed, value);
  if (found != allowed.end()) return size_t(found - allowed.begin());
  std::string list;
  for (const char* one : allowed) list += str_cat(list.empty() ? "\"" : ", \"", one, "\"");
  throw InvalidArgumentError(str_cat("image_dataset_from_directory: ", option, " is \"", value,
                                     "\"; it must be one of ", list));
}

DISTRIBUTE_INLINE void check_loader(const PictureLoader& loader) {
  const auto refuse = [](const std::string& why) {
    throw InvalidArgumentError("image_dataset_from_directory: " + why);
  };
  if (loader.size.height < 1 || loader.size.width < 1)
    refuse(str_cat("image_size is ", loader.size.height, " x ", loader.size.width,
                   "; give height and width, at least 1"));
  if (loader.crops && loader.pads)
    refuse("only one of crop_to_aspect_ratio and pad_to_aspect_ratio can be true");
  if (loader.crops && loader.method >= image::ResizeMethod::Gaussian)
    refuse("crop_to_aspect_ratio has no interpolation \"gaussian\" and none \"mitchellcubic\"");
}

DISTRIBUTE_INLINE image::ResizeMethod resize_method(std::string name) {
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return char(std::tolower(c)); });
  return image::ResizeMethod(place_of("interpolation", name,
                                      {"nearest", "bilinear", "bicubic", "lanczos3", "lanczos5",
                                       "area", "gaussian", "mitchellcubic"}));
}

DISTRIBUTE_INLINE PictureLoader picture_loader(const ImageDirectoryOptions& options) {
  static constexpr int64_t kChannels[] = {3, 1, 4};
  PictureLoader loader{
      .channels =
          kChannels[place_of("color_mode", options.color_mode, {"rgb", "grayscale", "rgba"})],
      .size = options.image_size,
      .method = resize_method(options.interpolation),
      .crops = options.crop_to_aspect_ratio,
      .pads = options.pad_to_aspect_ratio,
      .channels_first = place_of("data_format", options.data_format.value_or("channels_last"),
                                 {"channels_last", "channels_first"}) == 1};
  check_loader(loader);
  return loader;
}

DISTRIBUTE_INLINE DirectoryRequest image_request(const std::string& directory,
                                                 const ImageDirectoryOptions& options) {
  const PictureLoader loader = picture_loader(options);
  DirectoryRequest request = directory_request(directory, options);
  request.function = "image_dataset_from_directory";
  request.contents = "images (.bmp, .gif, .jpeg, .jpg, .png)";
  request.endings = {".bmp", ".gif", ".jpeg", ".jpg", ".png"};
  request.load = loader;
  request.spec = loader.spec();
  return request;
}

}  // namespace data_internal

DISTRIBUTE_INLINE DirectoryDataset
image_dataset_from_directory(const std::string& directory, const ImageDirectoryOptions& options) {
  return data_internal::directory_dataset(data_internal::image_request(directory, options));
}

DISTRIBUTE_INLINE std::pair<DirectoryDataset, DirectoryDataset> image_datasets_from_directory(
    const std::string& directory, const ImageDirectoryOptions& options) {
  return data_internal::directory_datasets(data_internal::image_request(directory, options));
}

}  // namespace distribute::data
