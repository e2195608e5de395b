#include "examples/mnist_cnn/model.hpp"

#include <distribute/checkpoint/checkpoint.hpp>
#include <distribute/checkpoint/named_weights.hpp>
#include <distribute/data/decode_image.hpp>
#include <distribute/data/example.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/io/tfrecord.hpp>
#include <distribute/nn/resnet.hpp>
#include <distribute/ops/activation.hpp>
#include <distribute/ops/random.hpp>

#include <tests/data/idx_bytes.hpp>
#include <tests/data/picture_support.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/run_program.hpp>
#include <tests/support/source_dir.hpp>
#include <tests/support/temporary_directory.hpp>

#include <nlohmann/json.hpp>

using namespace distribute;
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
  train::save_weights(directory / "weights", net.variables());
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
  data::write_bytes(directory / "of_windows.txt",
                    "\xef\xbb\xbf"
                    "a\r\nb\r\nc\r\nd\r\ne\r\nf\r\ng\r\nh\r\ni\r\nj\r\n");
  const auto all =
      predict({"--model=tutorial", "--checkpoint", directory / "weights", "--labels",
               directory / "of_windows.txt", "--json", "--top=10", directory / "images:1"});
  REQUIRE(all.status == 0);
  for (const Json& one : Json::parse(all.out)[0]["classes"])
    CHECK(one["label"] == std::string(1, char('a' + one["class"].get<int>())));
  const auto plain = predict({"--model=tutorial", "--checkpoint", directory / "weights", "--top=2",
                              directory / "images:0"});
  CHECK(plain.status == 0);
  CHECK_THAT(plain.out, Contains("images:0\n") && Contains(" %  "));
}

TEST_CASE("predict takes folders, record files and whole IDX files", "[tools][predict]") {
  if (!data::has_jpeg()) SKIP("this build cannot read JPEG");
  const TemporaryDirectory directory;
  nn::Sequential net = mnist_cnn::tutorial_model();
  net(zeros({1, 28, 28, 1}));
  train::save_weights(directory / "weights", net.variables());
  std::vector<std::string> jpegs;
  for (int i = 0; i < 3; ++i)
    jpegs.push_back(data::encode_jpeg(data::gradient_image(28, 28, 1, i)));
  std::filesystem::create_directories(directory / "photos/b");
  std::filesystem::create_directories(directory / "empty");
  data::write_bytes(directory / "photos/1.JPG", jpegs[0]);
  data::write_bytes(directory / "photos/b/2.jpeg", jpegs[1]);
  data::write_bytes(directory / "photos/notes.txt", "no picture");
  data::write_bytes(directory / "images", idx_images(image_bytes()));
  data::write_bytes(directory / "shot.png", "\x89PNG\r\n");
  auto writer = *io::RecordWriter::create(directory / "records.gz", io::Compression::Gzip);
  for (const std::string& jpeg : jpegs)
    REQUIRE(writer.write(data::encode_example({{"image/encoded", data::BytesList{jpeg}}})).ok());
  REQUIRE(writer.write(data::encode_example({{"other", data::BytesList{"x"}}})).ok());
  REQUIRE(writer.close().ok());

  const auto names = [&](std::vector<std::string> words) {
    words.insert(words.begin(),
                 {"--model=tutorial", "--checkpoint", directory / "weights", "--json"});
    std::string all;
    const auto result = predict(words);
    for (const Json& one : Json::parse(result.out))
      all += one["picture"].get<std::string>().substr(directory.path().size() + 1) + " ";
    return std::pair(all, result);
  };
  SECTION("folders and all of a file, in order") {
    const auto [seen, result] = names({directory / "photos", directory / "images"});
    CHECK(seen == "photos/1.JPG photos/b/2.jpeg images:0 images:1 ");
    CHECK(result.status == 0);
    // The same picture has the same answer wherever it stands.
    const Json all = Json::parse(result.out);
    const auto [one, alone] = names({directory / "photos/b/2.jpeg"});
    CHECK(Json::parse(alone.out)[0]["classes"][0]["class"] == all[1]["classes"][0]["class"]);
  }
  SECTION("records") {
    const auto [seen, result] = names({directory / "records.gz", directory / "records.gz:2"});
    CHECK(seen == "records.gz:0 records.gz:1 records.gz:2 records.gz:2 ");
    CHECK(result.status == 1);
    CHECK_THAT(result.err, Contains("records.gz:3") && Contains("image/encoded"));
    CHECK_THAT(names({directory / "records.gz:9"}).second.err, Contains("fewer records"));
  }
  SECTION("what is none of these is told") {
    const auto [seen, result] = names({directory / "empty", directory / "shot.png",
                                       directory / "photos/notes.txt", directory / "images:1"});
    CHECK(seen == "images:1 ");
    CHECK(result.status == 1);
    CHECK_THAT(result.err, Contains("empty: the folder has no") &&
                               Contains("shot.png: decode_png: the PNG file ends") &&
                               Contains("notes.txt: is no JPEG, PNG, IDX or TFRecord"));
  }
  SECTION("names from the standard input") {
    data::write_bytes(directory / "list",
                      (directory / "images:1") + "\n\n" + (directory / "photos/1.JPG") + "\r\n");
    const std::string program = distribute::testing::binary_dir() + "/distribute";
    const std::string command = "OMP_NUM_THREADS=1 '" + program + "' predict --model=tutorial" +
                                " --json --checkpoint='" + (directory / "weights") + "' - <'" +
                                (directory / "list") + "' >'" + (directory / "out") + "'";
    REQUIRE(std::system(command.c_str()) == 0);
    const Json all = Json::parse(*io::read_file(directory / "out"));
    REQUIRE(all.size() == 2);
    CHECK(all[0]["picture"] == (directory / "images:1"));
  }
  SECTION("images of IDX files are for digits") {
    nn::applications::SmallResNet other({.classes = 4});
    other(zeros({1, 32, 32, 3}));
    train::save_weights(directory / "resnet", other.variables());
    const auto result =
        predict({"--model=resnet8", "--checkpoint", directory / "resnet", directory / "images"});
    CHECK(result.status == 1);
    CHECK_THAT(result.err, Contains("images:0") && Contains("--model=book"));
  }
}

TEST_CASE("predict goes on after pictures that cannot be read", "[tools][predict]") {
  if (!data::has_jpeg()) SKIP("this build cannot read JPEG");
  const TemporaryDirectory directory;
  nn::applications::SmallResNet net({.classes = 4});
  net(zeros({1, 32, 32, 3}));
  train::save_weights(directory / "weights", net.variables());
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

TEST_CASE("predict finds a small network's channels and blocks in its checkpoint",
          "[tools][predict]") {
  if (!data::has_jpeg()) SKIP("this build cannot read JPEG");
  const TemporaryDirectory directory;
  const std::string picture = directory / "picture.jpg";
  data::write_bytes(picture, data::encode_jpeg(data::gradient_image(32, 32, 3, 1)));
  const auto classes_of = [&](nn::Module& net, const std::string& model) {
    net(zeros({1, 32, 32, 3}));
    train::save_weights(directory / model, net.variables());
    const auto result =
        predict({"--model=" + model, "--checkpoint", directory / model, "--json", picture});
    INFO(result.err);
    REQUIRE(result.status == 0);
    return Json::parse(result.out)[0]["classes"].size();
  };
  nn::applications::SmallResNet small({.filters = {8, 12}, .blocks = 2, .classes = 4});
  CHECK(classes_of(small, "resnet20") == 4);
  nn::applications::ResNet9 wide({.width = 4, .classes = 3});
  CHECK(classes_of(wide, "resnet9") == 3);
}

TEST_CASE("predict names what does not fit", "[tools][predict]") {
  const TemporaryDirectory directory;
  nn::Sequential net = mnist_cnn::tutorial_model();
  net(zeros({1, 28, 28, 1}));
  train::save_weights(directory / "weights", net.variables());
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
