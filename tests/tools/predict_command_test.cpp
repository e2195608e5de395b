#include "examples/mnist_cnn/model.hpp"

#include <distribute/checkpoint/checkpoint.hpp>
#include <distribute/checkpoint/flat_checkpoint.hpp>
#include <distribute/data/jpeg.hpp>
#include <distribute/nn/resnet.hpp>
#include <distribute/ops/random.hpp>
#include <distribute/ops/softmax.hpp>

#include <tests/data/idx_bytes.hpp>
#include <tests/data/picture_support.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/run_program.hpp>
#include <tests/support/temporary_directory.hpp>

#include <nlohmann/json.hpp>

using namespace distribute;
using Catch::Matchers::Contains;
using Json = nlohmann::json;

namespace {

ProgramResult predict(std::vector<std::string> words) {
  words.insert(words.begin(), "predict");
  return run_program("distribute", words, "OMP_NUM_THREADS=1");
}

/// Two images of 28 x 28 as an IDX file, and what they are to the network.
std::vector<uint8_t> image_bytes() {
  std::vector<uint8_t> pixels(2 * 28 * 28);
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = uint8_t(i * 7 % 251);
  return pixels;
}

std::string idx_images(const std::vector<uint8_t>& pixels) {
  return word(0x803) + word(2) + word(28) + word(28) + std::string(pixels.begin(), pixels.end());
}

Tensor as_input(const std::vector<uint8_t>& pixels, size_t image) {
  std::vector<float> values(28 * 28);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = float(pixels[image * values.size() + i]) / 255.0f;
  return Tensor({1, 28, 28, 1}, values);
}

}  // namespace

TEST_CASE("predict shows what the network gives for an image of an IDX file", "[tools][predict]") {
  const TemporaryDirectory directory;
  nn::Sequential net = mnist_cnn::tutorial_model();
  const auto pixels = image_bytes();
  const Tensor probabilities = nn::softmax(net(as_input(pixels, 1)));
  train::save_variables(directory / "weights", net.variables());
  train::Checkpoint({{"model", &net}}).save(directory / "all/ckpt");
  data::write_bytes(directory / "images", idx_images(pixels));
  data::write_bytes(directory / "names.txt", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n");
  for (const std::string place : {"weights", "all"}) {  // flat names; a directory of checkpoints
    const auto result = predict({"--model=tutorial", "--checkpoint", directory / place, "--labels",
                                 directory / "names.txt", "--json", directory / "images:1"});
    INFO(result.err);
    REQUIRE(result.status == 0);
    const Json classes = Json::parse(result.out)[0]["classes"];
    REQUIRE(classes.size() == 5);
    double last = 1;
    for (const Json& one : classes) {
      const size_t number = one["class"];
      CHECK(one["probability"].get<double>() ==
            Approx(double(probabilities.data<float>()[number])).epsilon(1e-4));
      CHECK(one["probability"] <= last);
      CHECK(one["label"] == std::string(1, char('a' + number)));
      last = one["probability"];
    }
  }
  const auto plain = predict({"--model=tutorial", "--checkpoint", directory / "weights", "--top=2",
                              directory / "images:0"});
  CHECK(plain.status == 0);
  CHECK_THAT(plain.out, Contains("images:0\n") && Contains(" %  "));
}

TEST_CASE("predict goes on after pictures that cannot be read", "[tools][predict]") {
  if (!data::has_jpeg()) SKIP("this build cannot read JPEG");
  const TemporaryDirectory directory;
  nn::applications::SmallResNet net({.classes = 4});
  net(zeros({1, 32, 32, 3}));
  train::save_variables(directory / "weights", net.variables());
  data::write_bytes(directory / "good.jpg", data::encode_jpeg(data::gradient_image(40, 50, 3, 1)));
  data::write_bytes(directory / "bad.jpg", "no picture");
  const auto result =
      predict({"--model=resnet8", "--checkpoint", directory / "weights", "--json",
               directory / "bad.jpg", directory / "none.jpg", directory / "good.jpg"});
  CHECK(result.status == 1);
  CHECK_THAT(result.err, Contains("bad.jpg") && Contains("JPEG") && Contains("none.jpg"));
  const Json all = Json::parse(result.out);
  REQUIRE(all.size() == 1);
  CHECK(all[0]["classes"].size() == 4);  // as many as the checkpoint has
}

TEST_CASE("predict names what does not fit", "[tools][predict]") {
  const TemporaryDirectory directory;
  nn::Sequential net = mnist_cnn::tutorial_model();
  net(zeros({1, 28, 28, 1}));
  train::save_variables(directory / "weights", net.variables());
  const std::string checkpoint = directory / "weights";
  data::write_bytes(directory / "images", idx_images(image_bytes()));
  data::write_bytes(directory / "two", "a\nb\n");
  const auto other = predict({"--model=book", "--checkpoint", checkpoint, "x"});
  CHECK(other.status == 1);
  CHECK_THAT(other.err, Contains("--model=book") && Contains("conv1/kernel"));
  const auto third = predict({"--model=resnet8", "--checkpoint", checkpoint, "x"});
  CHECK_THAT(third.err, Contains("--model=resnet8") && Contains("conv1/kernel"));
  const auto missing = predict({"--model=book", "--checkpoint", directory / "none", "x"});
  CHECK(missing.status == 1);
  CHECK_THAT(missing.err, Contains("none"));
  const auto beyond =
      predict({"--model=tutorial", "--checkpoint", checkpoint, directory / "images:2"});
  CHECK(beyond.status == 1);
  CHECK_THAT(beyond.err, Contains("images 0 to 1"));
  const auto labels = predict({"--model=tutorial", "--checkpoint", checkpoint, "--labels",
                               directory / "two", directory / "images:0"});
  CHECK_THAT(labels.err, Contains("2 lines") && Contains("10 classes"));
  CHECK(predict({"--model=alexnet", "--checkpoint", checkpoint, "x"}).status == 2);
  CHECK(predict({"--model=book", "x"}).status == 2);
  CHECK(predict({"--model=book", "--checkpoint", checkpoint}).status == 2);
}
