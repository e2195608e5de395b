/// Layers that resize, as wrapper_layer_cases.py prints them.
#include "layer_cases.hpp"

#include <distribute/nn/reshaping.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>

namespace comparison {

namespace {

using dist::DType;
using nn::Interpolation;
using nn::ResizingOptions;

const std::vector<std::pair<std::string, Interpolation>> kMethods{
    {"nearest", Interpolation::Nearest},
    {"bilinear", Interpolation::Bilinear},
    {"bicubic", Interpolation::Bicubic},
    {"lanczos3", Interpolation::Lanczos3},
    {"lanczos5", Interpolation::Lanczos5}};
const std::vector<nn::Size2D> kSizes{{5, 6}, {3, 4}, {9, 7}, {2, 11}, {1, 1}, {12, 3}, {4, 6}};
const Shape kPictures{2, 5, 6, 3};

auto resizing(const nn::Size2D& size, ResizingOptions options) {
  options.height = size.height;
  options.width = size.width;
  return [=] { return nn::Resizing(options); };
}

std::string name_of_size(const nn::Size2D& size) {
  return str_cat("resizing ", size.height, " ", size.width);
}

/// Numbers from 0 to 250.
Tensor integers() {
  std::vector<int32_t> values;
  for (int32_t i = 0; i < 180; ++i) values.push_back((((i * 7 - 200) % 251) + 251) % 251);
  return Tensor(kPictures, values);
}

void method_cases() {
  for (const auto& [name, method] : kMethods)
    for (const nn::Size2D& size : kSizes)
      for (const bool antialias : {false, true})
        check(str_cat(name_of_size(size), " ", name, ", antialias ", text(antialias)),
              resizing(size, {.interpolation = method, .antialias = antialias}), {kPictures});
  for (const auto& [name, method] : kMethods)
    for (const nn::Size2D& size : kSizes) {
      const std::string start = str_cat(name_of_size(size), " ", name);
      check(start + ", crop",
            resizing(size, {.interpolation = method, .crop_to_aspect_ratio = true}), {kPictures});
      check(start + ", pad", resizing(size, {.interpolation = method, .pad_to_aspect_ratio = true}),
            {kPictures});
    }
  for (const nn::Size2D& size : kSizes) {
    check(name_of_size(size) + ", pad with 0.5",
          resizing(size, {.pad_to_aspect_ratio = true, .fill_value = 0.5}), {{2, 6, 5, 3}});
    check(name_of_size(size) + ", crop of one image, antialias",
          resizing(size, {.crop_to_aspect_ratio = true, .antialias = true}), {{6, 5, 3}});
    check(name_of_size(size) + ", pad of one image", resizing(size, {.pad_to_aspect_ratio = true}),
          {{6, 5, 3}});
  }
}

void integer_cases() {
  const nn::Size2D size{3, 8};
  for (const auto& [dtype, pictures] : std::vector<std::pair<std::string, Tensor>>{
           {"uint8", cast(integers(), DType::UInt8)}, {"int32", integers()}})
    for (const auto& [name, method] : kMethods) {
      const std::string start = str_cat("resizing of ", dtype, " ", name);
      check(start + ", stretch", resizing(size, {.interpolation = method}), {pictures});
      check(start + ", crop",
            resizing(size, {.interpolation = method, .crop_to_aspect_ratio = true}), {pictures});
      check(start + ", pad", resizing(size, {.interpolation = method, .pad_to_aspect_ratio = true}),
            {pictures});
    }
  check("resizing fill_value 1 of integers",
        resizing({9, 3}, {.pad_to_aspect_ratio = true, .fill_value = 1}), {integers()});
}

}  // namespace

void resizing_layer_cases() {
  method_cases();
  integer_cases();
  check("resizing crop and pad",
        resizing(3, {.crop_to_aspect_ratio = true, .pad_to_aspect_ratio = true}), {kPictures});
  for (const auto& [name, method] : kMethods)
    for (const nn::Size2D& size : std::vector<nn::Size2D>{{2, 2}, {1, 3}, {3, 1}, {1, 1}})
      check(str_cat("up sampling (", size.height, ", ", size.width, ") ", name),
            [&, method = method] { return nn::UpSampling2D(size, method); }, {kPictures});
}

}  // namespace comparison
