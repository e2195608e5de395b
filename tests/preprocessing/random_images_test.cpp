// Against Keras: answers.json.
#include <distribute/preprocessing/random_images.hpp>

#include <distribute/data/dataset.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/policy.hpp>
#include <distribute/nn/reshaping.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>

#include <tests/preprocessing/keras_answers.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/gradient_check.hpp>

using namespace distribute;
using namespace distribute::preprocessing;

namespace {

void flatten_into(const nlohmann::json& list, std::vector<float>& values) {
  if (list.is_number()) return values.push_back(list.get<float>());
  for (const auto& part : list) flatten_into(part, values);
}

Tensor answer(const std::string& name) {
  std::vector<float> values;
  flatten_into(keras_answer(name)["value"], values);
  return Tensor(Shape{3, 4, 5, 2}, values);
}

Tensor images() { return answer("images"); }
Tensor projection() { return {1.1f, 0.2f, -0.7f, -0.1f, 0.9f, 0.8f, 0.01f, -0.02f}; }
bool same(const Tensor& a, const Tensor& b) { return a.to_vector() == b.to_vector(); }
Tensor picture(const Tensor& all, int64_t index) { return all.rows(index, index + 1); }

}  // namespace

TEST_CASE("pictures are turned, zoomed and moved as by Keras", "[preprocessing][random_images]") {
  const std::pair<const char*, FillMode> modes[] = {{"reflect", FillMode::Reflect},
                                                    {"wrap", FillMode::Wrap},
                                                    {"constant", FillMode::Constant},
                                                    {"nearest", FillMode::Nearest}};
  constexpr double kTolerance = 5e-6;
  for (const auto& [mode, fill_mode] : modes)
    for (const auto interpolation : {Interpolation::Bilinear, Interpolation::Nearest}) {
      const AffineTransformOptions options{interpolation, fill_mode, 0.25f};
      const std::string name =
          str_cat(" ", mode, interpolation == Interpolation::Bilinear ? " bilinear" : " nearest");
      const Tensor turned = rotation_transforms({20.0f, -75.0f, 190.0f}, 4, 5);
      check_answer("rotated" + name, affine_transform(images(), turned, options), kTolerance);
      const Tensor zoomed = zoom_transforms({0.7f, 1.9f, 0.9f}, {0.6f, 1.3f, 1.0f}, 4, 5);
      check_answer("zoomed" + name, affine_transform(images(), zoomed, options), kTolerance);
      const Tensor moved = translation_transforms({-0.4f, 12.6f, 2.3f}, {0.7f, -9.3f, 3.2f});
      check_answer("moved" + name, affine_transform(images(), moved, options), kTolerance);
    }
  check_answer("projected", affine_transform(images(), projection()), kTolerance);
  const Tensor integers = cast(round(images() * 100.0f), DType::Int32);
  check_answer("integers rotated",
               affine_transform(integers, projection(), {.fill_mode = FillMode::Reflect}));
}

TEST_CASE("affine_transform has the exact gradient, twice", "[preprocessing][random_images]") {
  for (const FillMode mode : {FillMode::Reflect, FillMode::Constant})
    check_gradient(
        [&](const auto& in) {
          const Tensor y =
              affine_transform(in[0], projection(), {.fill_mode = mode, .fill_value = 2});
          return y * y;
        },
        {images()}, {.second = true});
  CHECK_THROWS_SAYING(affine_transform(images(), Tensor(zeros({2, 8}))), InvalidArgumentError,
                      "transforms [batch, 8], got");
  const Tensor one = images().rows(0, 1).view({4, 5, 2});
  CHECK(same(affine_transform(one, projection()),
             affine_transform(images(), projection()).rows(0, 1)));
  // Where the projection divides by 0 there is no point.
  const Tensor vanishing = {1.0f, 0.0f, 0.0f, 0.0f, 1.0f, 0.0f, -1.0f, 0.0f};
  CHECK(affine_transform(one, vanishing, {.fill_mode = FillMode::Reflect, .fill_value = 7})
            .to_vector()[2] == 7);
}

TEST_CASE("RandomFlip turns every second picture round", "[preprocessing][random_images]") {
  const std::pair<const char*, FlipMode> modes[] = {
      {"flipped horizontal", FlipMode::Horizontal},
      {"flipped vertical", FlipMode::Vertical},
      {"flipped horizontal_and_vertical", FlipMode::HorizontalAndVertical}};
  for (const auto& [name, mode] : modes) {
    const RandomFlip layer({.mode = mode});
    int flipped = 0;
    constexpr int kSeeds = 100;
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      const Tensor y = layer.transform(images(), seed);
      const bool turned = same(picture(y, 2), picture(answer(name), 2));
      REQUIRE((turned || same(picture(y, 2), picture(images(), 2))));
      flipped += turned;
    }
    CHECK(flipped > 30);
    CHECK(flipped < 70);
  }
}

TEST_CASE("random layers draw from their ranges", "[preprocessing][random_images]") {
  // A picture whose pixels say where they come from: column and row.
  constexpr int64_t kSize = 41, kBatch = 50;
  std::vector<float> places;
  for (int64_t i = 0; i < kSize * kSize; ++i) {
    places.push_back(float(i % kSize - kSize / 2));
    places.push_back(float(i / kSize - kSize / 2));
  }
  const Tensor grid =
      broadcast_to(Tensor(Shape{1, kSize, kSize, 2}, places), {kBatch, kSize, kSize, 2});
  /// Lowest and highest of a number over the pictures, from the pixel beside the middle.
  const auto range = [&](const RandomImages& layer, auto number) {
    const Tensor y = layer.transform(grid, 3);
    float low = 1e9f, high = -1e9f;
    for (int64_t i = 0; i < kBatch; ++i) {
      const float* row = y.data<float>().data() + (i * kSize + kSize / 2) * kSize * 2;
      const float value = number(row + (kSize / 2) * 2, row + (kSize / 2 + 1) * 2);
      low = std::min(low, value), high = std::max(high, value);
    }
    return std::pair{low, high};
  };
  const auto within = [](std::pair<float, float> got, float low, float high) {
    INFO(got.first << " to " << got.second);
    CHECK((got.first >= low - 1e-4f && got.first < low + 0.2f * (high - low)));
    CHECK((got.second <= high + 1e-4f && got.second > high - 0.2f * (high - low)));
  };
  const auto angle = [](const float* a, const float* b) {
    return std::atan2(b[1] - a[1], b[0] - a[0]) / 6.2831853f;
  };
  within(range(RandomRotation(0.2), angle), -0.2f, 0.2f);
  within(range(RandomRotation({.factor = {0.1, 0.3}}), angle), 0.1f, 0.3f);
  const auto scale = [](const float* a, const float* b) { return b[0] - a[0]; };
  within(range(RandomZoom(0.5), scale), 0.5f, 1.5f);
  within(range(RandomZoom({.height_factor = 0.9, .width_factor = {{-0.3, -0.2}}}), scale), 0.7f,
         0.8f);
  const auto right = [](const float* a, const float*) { return -a[0] / kSize; };
  const auto down = [](const float* a, const float*) { return -a[1] / kSize; };
  const RandomTranslation moves({.height_factor = {0.1, 0.2}, .width_factor = {-0.3, -0.1}});
  within(range(moves, right), -0.3f, -0.1f);
  within(range(moves, down), 0.1f, 0.2f);
  const auto contrast = [](const float* a, const float* b) { return (b[0] - a[0]); };
  const std::array<float, 2> wide = {-100, 100};
  within(range(RandomContrast({.factor = {0.4, 0.6}, .value_range = wide}), contrast), 0.6f, 1.6f);
  within(range(RandomContrast({.factor = 0.5, .value_range = wide}), contrast), 1.0f, 1.5f);
}

TEST_CASE("RandomContrast's formula is Keras's", "[preprocessing][random_images]") {
  const std::array<float, 2> range = {-0.9f, 0.8f}, wide = {-100, 100};
  const Tensor mean = reduce_mean(images(), {1, 2}, true);
  const auto contrasts = [&](const Tensor& y) {  // of each picture, from its pixel 7
    std::vector<float> result;
    for (int64_t i = 0; i < 3; ++i)
      result.push_back((picture(y, i) - picture(mean, i)).to_vector()[7] /
                       (picture(images(), i) - picture(mean, i)).to_vector()[7]);
    return Tensor(Shape{3, 1, 1, 1}, result);
  };
  const auto formula = [&](const Tensor& contrast) {
    return clip_by_value((images() - mean) * contrast + mean, range[0], range[1]);
  };
  CHECK(is_near(as_json(formula(Tensor(Shape{3, 1, 1, 1}, std::vector<float>{0.5f, 1.5f, 1.2f}))),
                keras_answer("contrasted")["value"], 1e-5));
  const FactorRange half(0.5, 0.5);
  const Tensor drawn =
      contrasts(RandomContrast({.factor = half, .value_range = wide}).transform(images(), 5));
  const RandomContrast layer({.factor = half, .value_range = range});
  CHECK(is_near(as_json(layer.transform(images(), 5)), as_json(formula(drawn)), 1e-5));
}

TEST_CASE("random layers work in models and in datasets", "[preprocessing][random_images]") {
  RandomRotation layer({.factor = 0.1, .seed = 4}), twin({.factor = 0.1, .seed = 4});
  CHECK(same(layer(images()), images()));
  const Tensor first = layer(images(), {.training = true});
  CHECK_FALSE(same(first, layer(images(), {.training = true})));
  CHECK(same(first, twin(images(), {.training = true})));
  const Tensor one = images().rows(0, 1).view({4, 5, 2});
  CHECK(layer(one, {.training = true}).shape() == one.shape());

  nn::Sequential model(RandomFlip(), RandomZoom({.height_factor = 0.2}), nn::Flatten());
  CHECK(model(images()).shape() == Shape{3, 40});
  check_gradient([&](const auto& in) { return RandomZoom(0.2).transform(in[0], 9); }, {images()});

  const auto pictures = data::Dataset::from_tensor_slices(images()).map([&](const data::Batch& b) {
    return data::Batch{twin.transform(b.x, 8), b.y};
  });
  for (const data::Batch& b : pictures) CHECK(b.x.shape() == Shape{4, 5, 2});

  RandomFlip bytes;
  CHECK(bytes(cast(images(), DType::UInt8), {.training = true}).dtype() == DType::Float32);
  RandomRotation half({.factor = 0.1, .seed = 4});
  half.set_dtype_policy(nn::Policy("mixed_bfloat16"));
  const Tensor rough = half(images(), {.training = true});
  CHECK(rough.dtype() == DType::BFloat16);
  CHECK(is_near(as_json(cast(rough, DType::Float32)), as_json(first), 2e-2));
}

TEST_CASE("random layers refuse factors out of range", "[preprocessing][random_images]") {
  CHECK_THROWS_SAYING(RandomRotation(1.5), InvalidArgumentError, "RandomRotation: a factor from");
  CHECK_THROWS_SAYING(RandomZoom(1.0), InvalidArgumentError, "one point");
  CHECK_THROWS_SAYING(RandomTranslation({.width_factor = 2}), InvalidArgumentError, "[-1, 1]");
  CHECK_THROWS_SAYING(RandomContrast({.factor = {-0.5, 0.2}}), InvalidArgumentError, "[0, 1]");
  RandomFlip flip;
  CHECK_THROWS_SAYING(flip(zeros({3, 4}), {.training = true}), InvalidArgumentError,
                      "pictures of 3 or 4 axes");
}
