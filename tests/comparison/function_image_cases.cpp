/// Functions of pictures, as function_window_cases.py prints them.
#include "function_cases.hpp"

#include <distribute/base/error.hpp>
#include <distribute/data/image.hpp>
#include <distribute/ops/math.hpp>

#include <limits>

namespace comparison {

namespace {

namespace image = dist::image;
using dist::str_cat;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// uint8 [4, 5, 3].
Tensor picture() {
  std::vector<uint8_t> values;
  for (int i = 0; i < 60; ++i) values.push_back(uint8_t(i * 37 % 256));
  return Tensor({4, 5, 3}, values);
}
Tensor floats() { return cast(picture(), DType::Float32) / 255.0f; }

/// The line of a function without inputs that have a gradient.
template <typename F>
void line(const std::string& name, F function) {
  of(name, [&](const Tensors&) -> Tensor { return function(); });
}

void resize_cases() {
  const std::vector<dist::data::ImageSize> sizes{{4, 5}, {8, 10}, {2, 2}, {7, 3}, {1, 1}, {3, 9}};
  for (const auto& size : sizes)
    for (const bool antialias : {false, true})
      line(str_cat("resize ", size.height, " ", size.width, " antialias ",
                   antialias ? "True" : "False"),
           [&] { return image::resize(picture(), size, {.antialias = antialias}); });
  line("resize of a batch", [] {
    return image::resize(dist::stack({floats(), floats() * 2.0f}), {2, 7});
  });
  line("resize float32", [] { return image::resize(floats() * 4.0f - 1.0f, {3, 3}); });
  line("resize nan", [] { return image::resize(matrix({2, 2, 1}, {kNan, 1, 2, 3}), {4, 4}); });
  line("resize to 0", [] { return image::resize(picture(), {0, 2}); });
  line("resize of one pixel", [] {
    return image::resize(image::crop_to_bounding_box(picture(), {0, 0, 1, 1}), {2, 3});
  });
}

void box_cases() {
  const auto name = [](const dist::data::ImageWindow& box) {
    return str_cat("_to_bounding_box ", box.y, " ", box.x, " ", box.height, " ", box.width);
  };
  for (const auto& box : std::vector<dist::data::ImageWindow>{
           {1, 2, 2, 3}, {0, 0, 4, 5}, {2, 2, 3, 3}, {-1, 0, 2, 2}, {0, 0, 0, 2}})
    line("crop" + name(box), [&] { return image::crop_to_bounding_box(picture(), box); });
  for (const auto& box : std::vector<dist::data::ImageWindow>{
           {1, 2, 6, 8}, {0, 0, 4, 5}, {2, 2, 5, 8}, {-1, 0, 6, 6}, {1, 0, 5, 5}})
    line("pad" + name(box), [&] { return image::pad_to_bounding_box(picture(), box); });
  line("flip_left_right", [] { return image::flip_left_right(picture()); });
  line("flip_left_right float32", [] { return image::flip_left_right(floats()); });
}

void colour_cases() {
  using Amounts = std::vector<std::pair<std::string, float>>;
  for (const auto& [text, delta] : Amounts{{"0.0", 0}, {"0.3", 0.3f}, {"-0.7", -0.7f}}) {
    line("adjust_brightness " + text,
         [d = delta] { return image::adjust_brightness(floats(), d); });
    line("adjust_contrast " + text, [d = delta] { return image::adjust_contrast(floats(), d); });
    line("adjust_hue " + text, [d = delta] { return image::adjust_hue(floats(), d); });
    line("adjust_saturation " + text,
         [d = delta] { return image::adjust_saturation(floats(), d); });
  }
  for (const auto& [text, factor] : Amounts{{"1.0", 1}, {"3.0", 3}, {"10.0", 10}}) {
    line("adjust_saturation " + text,
         [f = factor] { return image::adjust_saturation(floats(), f); });
    line("adjust_contrast " + text, [f = factor] { return image::adjust_contrast(floats(), f); });
  }
  for (const auto& [text, delta] : Amounts{{"1.0", 1}, {"-1.0", -1}, {"2.5", 2.5f}})
    line("adjust_hue " + text, [d = delta] { return image::adjust_hue(floats(), d); });
  const Tensor odd = matrix({2, 3, 3}, {0, 0, 0, 1, 1, 1, -1, 0.5f, 2,  //
                                        3, 3, 1, -2, -1, -3, 0, 1, 0});
  using Adjust = Tensor (*)(const Tensor&, float);
  for (const auto& [name, f] : std::vector<std::pair<std::string, Adjust>>{
           {"adjust_hue", image::adjust_hue}, {"adjust_saturation", image::adjust_saturation}}) {
    for (const auto& [text, amount] : Amounts{{"0.0", 0}, {"0.4", 0.4f}, {"1.0", 1}})
      line(name + " odd " + text, [&, f = f, a = amount] { return f(odd, a); });
    line(name + " of 4 channels", [f = f] { return f(dist::zeros({2, 2, 4}), 0.5f); });
    line(name + " of 1 channel", [f = f] { return f(dist::zeros({2, 2, 1}), 0.5f); });
  }
  line("adjust_contrast nan", [] {
    return image::adjust_contrast(matrix({2, 1, 3}, {kNan, 1, 2, 1, 2, 4}), 2);
  });
}

}  // namespace

void image_cases() {
  resize_cases();
  box_cases();
  colour_cases();
  const std::vector<Named> pictures{{"bytes", picture()},
                                    {"floats", floats()},
                                    {"equal", dist::fill({2, 2, 3}, 7.0f)},
                                    {"zero", dist::zeros({2, 2, 1})},
                                    {"one pixel", matrix({1, 1, 3}, {1, 2, 4})},
                                    {"batch", dist::stack({floats(), floats() * 3.0f})},
                                    {"large", floats() + 0.5f}};
  for (const auto& [text, x] : pictures)
    line("per_image_standardization " + text,
         [x = x] { return image::per_image_standardization(x); });
}

}  // namespace comparison
