/// Convolutions, pooling, normalization, products, pictures and attention, as
/// function_window_cases.py prints them.
#include "function_cases.hpp"
#include "layer_cases.hpp"

#include <distribute/data/image.hpp>
#include <distribute/ops/convolution.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/normalization.hpp>
#include <distribute/ops/sequence.hpp>

#include <algorithm>
#include <limits>

namespace comparison {

namespace {

namespace image = dist::image;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

Tensor data(uint64_t seed, const Shape& shape, DType dtype = DType::Float32) {
  return cast(uniform(shape, seed), dtype);
}

std::string name_of(dist::Padding padding) {
  return padding == dist::Padding::Same ? "same" : "valid";
}
constexpr dist::Padding kPaddings[] = {dist::Padding::Same, dist::Padding::Valid};

/// Calls f(text, kernel, stride, size, padding) for each of them.
template <typename F>
void windows(F f) {
  for (const int64_t kernel : {1, 2, 3})
    for (const int64_t stride : {1, 2, 3})
      for (const int64_t size : {4, 5})
        for (const auto padding : kPaddings)
          f(str_cat("kernel ", kernel, " stride ", stride, " size ", size, " ", name_of(padding)),
            kernel, stride, size, padding);
}

Function conv(const nn::Conv2DOptions& options) {
  return [options](const Tensors& in) -> Tensors { return {nn::conv2d(in[0], in[1], options)}; };
}
Function depthwise(const nn::Conv2DOptions& options) {
  return [options](const Tensors& in) -> Tensors {
    return {nn::depthwise_conv2d(in[0], in[1], options)};
  };
}

}  // namespace

void window_cases() {
  windows([](const std::string& text, int64_t kernel, int64_t stride, int64_t size, auto padding) {
    const nn::Conv2DOptions options{.strides = {stride, stride}, .padding = padding};
    of("conv2d " + text, conv(options), {data(1, {1, size, 4, 2}), data(2, {kernel, 2, 2, 3})});
    of("depthwise_conv2d " + text, depthwise(options),
       {data(1, {1, size, 4, 2}), data(2, {kernel, 2, 2, 2})});
    of("conv2d_transpose " + text,
       [=](const Tensors& in) { return nn::conv2d_transpose(in[0], in[1], options); },
       {data(1, {1, size, 3, 2}), data(2, {kernel, 2, 3, 2})});
  });
  const Tensor x = data(3, {2, 5, 5, 2}), w = data(4, {2, 3, 2, 2});
  for (const auto padding : kPaddings) {
    const std::string name = name_of(padding);
    of("conv2d dilation 2 " + name, conv({.padding = padding, .dilations = {2, 2}}), {x, w});
    of("conv2d strides 1 2 " + name, conv({.strides = {1, 2}, .padding = padding}), {x, w});
    of("depthwise_conv2d dilation 2 " + name, depthwise({.padding = padding, .dilations = {2, 2}}),
       {x, w});
  }
  of("conv2d explicit",
     conv({.strides = {2, 2},
           .padding = dist::Padding::Explicit,
           .explicit_paddings = {1, 2, 0, 3}}),
     {x, w});
  of("conv2d too small", conv({}), {data(1, {1, 1, 1, 2}), w});
  const nn::Conv2DOptions same{.padding = dist::Padding::Same};
  of("conv2d too small, same", conv(same), {data(1, {1, 1, 1, 2}), w});
  of("conv2d other channels", conv(same), {data(1, {1, 4, 4, 3}), w});
  of("conv2d empty", conv(same), {data(1, {0, 4, 4, 2}), w});
  of("conv2d nan", conv({}), {where(greater(x, Tensor(0.9f)), Tensor(kNan), x), w});
}

namespace {

using Pool = Tensor (*)(const Tensor&, const nn::PoolOptions&);

Function pooled(Pool f, const nn::PoolOptions& options) {
  return [=](const Tensors& in) -> Tensors { return {f(in[0], options)}; };
}

std::vector<Named> special() {
  std::vector<float> one(16, 1), negative, infinite(16, -kInf), odd, large;
  for (int i = 0; i < 16; ++i) {
    negative.push_back(float(-1 - i));
    odd.push_back(i == 5 ? kNan : float(i));
    large.push_back(i == 5 ? kInf : float(i));
  }
  const Shape shape{1, 4, 4, 1};
  return {{"equal", matrix(shape, one)},
          {"negative", matrix(shape, negative)},
          {"minus infinity", matrix(shape, infinite)},
          {"nan", matrix(shape, odd)},
          {"all nan", matrix({1, 2, 2, 1}, {kNan, kNan, kNan, kNan})},
          {"infinity", matrix(shape, large)}};
}

void one_pool(const std::string& name, Pool f) {
  windows([&](const std::string& text, int64_t kernel, int64_t stride, int64_t size, auto padding) {
    of(name + " " + text,
       pooled(f, {.ksize = {kernel, 2}, .strides = {stride, stride}, .padding = padding}),
       {data(5, {1, size, 4, 2})});
  });
  for (const auto& [text, x] : special())
    for (const auto padding : kPaddings) {
      const std::string line = name + " " + text + " " + name_of(padding);
      const int64_t wide = x.shape()[1] > 2 ? 3 : 2;
      of(line, pooled(f, {.ksize = {2, 2}, .strides = {2, 2}, .padding = padding}), {x});
      of(line + " overlapping",
         pooled(f, {.ksize = {wide, wide}, .strides = {1, 1}, .padding = padding}), {x});
    }
  for (const DType dtype : kHalves)
    of(name + " " + dtype_name(dtype),
       pooled(f, {.ksize = {3, 3}, .strides = {2, 2}, .padding = dist::Padding::Same}),
       {data(5, {1, 5, 4, 2}, dtype)});
  of(name + " too small", pooled(f, {.ksize = {5, 5}, .strides = {1, 1}}), {data(5, {1, 3, 3, 1})});
  of(name + " empty", pooled(f, {}), {data(5, {0, 4, 4, 1})});
}

}  // namespace

void pool_cases() {
  one_pool("max_pool2d", nn::max_pool2d);
  one_pool("avg_pool2d", nn::avg_pool2d);
  of("max_pool2d explicit",
     pooled(nn::max_pool2d, {.ksize = {3, 3},
                             .strides = {2, 2},
                             .padding = dist::Padding::Explicit,
                             .explicit_paddings = {1, 0, 0, 1}}),
     {data(5, {1, 4, 4, 1})});
}

namespace {

void moments_cases() {
  const auto over = [](const std::vector<int>& axes, bool keepdims = false) {
    return [=](const Tensors& in) -> Tensors {
      const auto found = nn::moments(in[0], axes, keepdims);
      return {found.mean, found.variance};
    };
  };
  const Tensor x = data(6, {2, 3, 4});
  for (const auto& axes :
       std::vector<std::vector<int>>{{0}, {0, 1}, {-1}, {0, 1, 2}, {1}, {0, 0}, {3}, {}}) {
    of("moments " + list(axes), over(axes), {x});
    of("moments " + list(axes) + " keepdims", over(axes, true), {x});
  }
  of("moments large", over({0, 1}), {x + 30.0f});
  of("moments of equal", over({0}), {matrix({4, 2}, std::vector<float>(8, 0.1f))});
  of("moments nan", over({0}), {matrix({2, 2}, {1, kNan, kInf, 2})});
  of("moments empty", over({0}), {nothing({0, 2})});
  of("moments int32", over({0}), {reshape(ints({1, 2, 4, 8}), {2, 2})});
  for (const DType dtype : kHalves) {
    of("moments " + dtype_name(dtype), over({0, 1}), {cast(x, dtype)});
    of("moments " + dtype_name(dtype) + " 300", over({0}),
       {cast(matrix({3, 1}, {300, -300, 301}), dtype)});
  }
}

}  // namespace

void moment_cases() {
  moments_cases();
  const Tensor x = data(6, {2, 3, 4}), mean = data(7, {4}), root = data(8, {4});
  const Tensor variance = root * root, beta = data(9, {4}), gamma = data(10, {4});
  const auto normal = [](bool offset, bool scale, float epsilon = 0.01f) {
    return [=](const Tensors& in) {
      return nn::batch_normalization(in[0], in[1], in[2], offset ? in[3] : Tensor(),
                                     scale ? in.back() : Tensor(), epsilon);
    };
  };
  const std::string name = "batch_normalization ";
  of(name + "both", normal(true, true), {x, mean, variance, beta, gamma});
  of(name + "offset", normal(true, false), {x, mean, variance, beta});
  of(name + "scale", normal(false, true), {x, mean, variance, gamma});
  of(name + "none", normal(false, false), {x, mean, variance});
  of(name + "zero", normal(false, false, 0), {x, mean, vec({0, 1, 1, 1})});
  for (const DType dtype : kHalves)
    of(name + dtype_name(dtype), normal(false, false),
       {cast(x, dtype), cast(mean, dtype), cast(variance, dtype)});
}

namespace {

void matrix_cases() {
  const auto product = [](bool a, bool b) {
    return [=](const Tensors& in) {
      return matmul(in[0], in[1], {.transpose_a = a, .transpose_b = b});
    };
  };
  const auto plain = product(false, false);
  const Tensor a = data(11, {2, 3, 4}), b = data(12, {2, 4, 2});
  of("matmul", plain, {a, b});
  of("matmul transpose_a", product(true, false), {data(11, {2, 4, 3}), b});
  of("matmul transpose_b", product(false, true), {a, data(12, {2, 2, 4})});
  of("matmul both", product(true, true), {data(11, {2, 4, 3}), data(12, {2, 2, 4})});
  of("matmul [3][4] [2][4][2]", plain, {data(11, {3, 4}), b});
  of("matmul [2][1][3][4] [3][4][2]", plain, {data(11, {2, 1, 3, 4}), data(12, {3, 4, 2})});
  of("matmul [0][4] [4][2]", plain, {data(11, {0, 4}), data(12, {4, 2})});
  of("matmul [3][0] [0][2]", plain, {data(11, {3, 0}), data(12, {0, 2})});
  of("matmul of a vector", plain, {data(11, {3, 4}), data(12, {4})});
  of("matmul of sizes", plain, {data(11, {3, 4}), data(12, {3, 4})});
  of("matmul int32", plain,
     {reshape(ints({2147483647, 2, 3, 4}), {2, 2}), reshape(ints({2, 1, 1, -1}), {2, 2})});
  of("matmul int64", plain,
     {reshape(longs({1, 2, 3, 4}), {2, 2}), reshape(longs({2, 1, 1, -1}), {2, 2})});
  of("matmul uint8", plain,
     {reshape(bytes({1, 2, 3, 4}), {2, 2}), reshape(bytes({2, 1, 1, 1}), {2, 2})});
  of("matmul of dtypes", plain, {matrix({1, 1}, {1}), reshape(ints({1}), {1, 1})});
  of("matmul nan", plain, {matrix({2, 2}, {0, 1, kInf, 1}), matrix({2, 2}, {kNan, 1, 1, 0})});
  for (const DType dtype : kHalves)
    of("matmul " + dtype_name(dtype), plain, {cast(a, dtype), cast(b, dtype)});
}

}  // namespace

void product_cases() {
  matrix_cases();
  const std::vector<std::pair<std::string, std::vector<Shape>>> equations{
      {"bij,bjk->bik", {{2, 3, 4}, {2, 4, 2}}},
      {"ij->ji", {{2, 3}}},
      {"ij", {{2, 3}}},
      {"ii", {{3, 3}}},
      {"ii->i", {{3, 3}}},
      {"ij,jk", {{2, 3}, {3, 2}}},
      {"ba", {{2, 3}}},
      {"i,j->ij", {{2}, {3}}},
      {"i,i->", {{3}, {3}}},
      {"ij->", {{2, 3}}},
      {"...ij,...jk->...ik", {{2, 2, 3}, {3, 2}}},
      {"...i->...", {{2, 2, 3}}},
      {"ij,jk,kl->il", {{2, 3}, {3, 2}, {2, 4}}},
      {"abc,cd->abd", {{2, 3, 4}, {4, 2}}},
      {"ij,ij->i", {{2, 3}, {2, 3}}},
      {"ij,kj->ik", {{2, 3}, {4, 3}}},
      {"ij,jk->ikm", {{2, 3}, {3, 2}}},
      {"ij,jk->ii", {{2, 3}, {3, 3}}},
      {"ij,j", {{2, 3}, {4}}},
      {"ijk->ij", {{2, 3}}},
      {"ij,jk->ik", {{2, 1}, {3, 2}}},
      {" i j , j k -> i k ", {{2, 3}, {3, 2}}},
      {"aA->A", {{2, 3}}},
      {"->", {Shape{}}},
      {",i->i", {Shape{}, {3}}}};
  for (const auto& [equation, shapes] : equations) {
    Tensors inputs;
    for (const auto& shape : shapes) inputs.push_back(data(13 + inputs.size(), shape));
    of(
        "einsum " + equation,
        [equation = equation](const Tensors& in) { return dist::einsum(equation, in); }, inputs);
  }
  of("einsum int32", [](const Tensors& in) { return dist::einsum("ij->j", in); },
     {reshape(ints({1, 2, 3, 4}), {2, 2})});
}

void attention_function_cases() {
  const auto attend = [](const nn::AttentionOptions& options) {
    return
        [=](const Tensors& in) { return nn::dot_product_attention(in[0], in[1], in[2], options); };
  };
  const Tensor q = data(20, {2, 3, 2, 4}), k = data(21, {2, 5, 2, 4}), v = data(22, {2, 5, 2, 4});
  of("dot_product_attention", attend({}), {q, k, v});
  of("dot_product_attention scale", attend({.scale = 0.3}), {q, k, v});
  of("dot_product_attention scale 0", attend({.scale = 0.0}), {q, k, v});
  of("dot_product_attention causal", attend({.is_causal = true}),
     {q, data(21, {2, 3, 2, 4}), data(22, {2, 3, 2, 4})});
  of("dot_product_attention causal of 5", attend({.is_causal = true}), {q, k, v});
  const Tensor mask = bools({2, 3, 5}, {1, 0, 1, 1, 0, 1, 0, 1, 1, 0, 1, 0, 1, 1, 0,  //
                                        0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 1, 0, 0});
  of("dot_product_attention mask", attend({.mask = mask}), {q, k, v});
  of("dot_product_attention large", attend({}), {q * 4.0f, k, v});
  for (const DType dtype : kHalves)
    of("dot_product_attention " + dtype_name(dtype), attend({}),
       {cast(q, dtype), cast(k, dtype), cast(v, dtype)});
}

}  // namespace comparison
