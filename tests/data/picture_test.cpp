#include <distribute/data/pictures.hpp>

#include <tests/data/picture_support.hpp>
#include <tests/support/catch.hpp>

using namespace distribute;
using namespace distribute::data;

namespace {

const image::Normalization kNone{{0, 0, 0}, {1, 1, 1}};

}  // namespace

TEST_CASE("evaluation takes the middle of the resized picture", "[data][picture]") {
  if (!has_jpeg()) SKIP("no libjpeg");
  const std::string jpeg = encode_jpeg(gradient_image(60, 90));
  PictureTransform transform{.image_size = 28, .normalization = kNone, .scaled_decoding = false};
  const Tensor resized = image::resize(decode_jpeg(jpeg), {32, 48});
  CHECK(evaluation_picture(jpeg, transform).to_vector() ==
        image::crop_to_bounding_box(resized, {2, 10, 28, 28}).to_vector());
  transform.shorter_side = 28;
  CHECK(evaluation_picture(jpeg, transform).shape() == Shape{28, 28, 3});
  transform.augmentation = Augmentation::None;
  CHECK(training_picture(jpeg, transform, 1).to_vector() ==
        evaluation_picture(jpeg, transform).to_vector());
}

TEST_CASE("scaled decoding changes a picture little and only when it is large", "[data][picture]") {
  if (!has_jpeg()) SKIP("no libjpeg");
  PictureTransform whole{.image_size = 28, .normalization = kNone, .scaled_decoding = false};
  PictureTransform scaled{.image_size = 28, .normalization = kNone};
  const std::string large = encode_jpeg(gradient_image(300, 400));
  CHECK(mean_difference(evaluation_picture(large, whole), evaluation_picture(large, scaled)) < 3);
  CHECK(evaluation_picture(large, whole).to_vector() !=
        evaluation_picture(large, scaled).to_vector());
  const std::string small = encode_jpeg(gradient_image(63, 63));
  CHECK(evaluation_picture(small, whole).to_vector() ==
        evaluation_picture(small, scaled).to_vector());
}

TEST_CASE("training pictures depend on the key alone and differ between keys", "[data][picture]") {
  if (!has_jpeg()) SKIP("no libjpeg");
  const std::string jpeg = encode_jpeg(gradient_image(80, 120));
  for (auto augmentation : {Augmentation::DistortedCrop, Augmentation::PadAndCrop}) {
    const PictureTransform transform{.image_size = 24, .augmentation = augmentation};
    std::set<std::vector<float>> seen;
    for (uint64_t key = 0; key < 20; ++key) {
      const Tensor picture = training_picture(jpeg, transform, key);
      CHECK(picture.shape() == Shape{24, 24, 3});
      CHECK(picture.to_vector() == training_picture(jpeg, transform, key).to_vector());
      seen.insert(picture.to_vector());
    }
    CHECK(seen.size() >= 15);
  }
}

TEST_CASE("half of the training pictures are mirrored", "[data][picture]") {
  if (!has_jpeg()) SKIP("no libjpeg");
  const std::string jpeg = encode_jpeg(gradient_image(32, 32));
  const PictureTransform transform{.image_size = 32,
                                   .augmentation = Augmentation::PadAndCrop,
                                   .border = 0,
                                   .normalization = kNone};
  const Tensor plain = image::resize(decode_jpeg(jpeg), {32, 32});
  const auto upright = plain.to_vector(), mirrored = image::flip_left_right(plain).to_vector();
  int flipped = 0;
  for (uint64_t key = 0; key < 200; ++key) {
    const auto values = training_picture(jpeg, transform, key).to_vector();
    REQUIRE((values == upright || values == mirrored));
    flipped += values == mirrored;
  }
  CHECK(flipped > 70);
  CHECK(flipped < 130);
}

TEST_CASE("pictures smaller than the target are made larger", "[data][picture]") {
  if (!has_jpeg()) SKIP("no libjpeg");
  const std::string jpeg = encode_jpeg(gradient_image(1, 5));
  for (auto augmentation :
       {Augmentation::None, Augmentation::DistortedCrop, Augmentation::PadAndCrop})
    CHECK(training_picture(jpeg, {.image_size = 40, .augmentation = augmentation}, 3).shape() ==
          Shape{40, 40, 3});
}
