#include <distribute/datasets/tables.hpp>

#include <distribute/base/error.hpp>
#include <distribute/data/element_spec.hpp>
#include <distribute/ops/random.hpp>

#include <tests/datasets/dataset_answers.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/check_close.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/temporary_directory.hpp>

#include <algorithm>
#include <filesystem>

using namespace distribute;
using namespace distribute::data;
using nlohmann::json;

namespace {

const json& directory_answers() {
  static const json answers = json::parse(std::ifstream(fixture("directory_answers.json")));
  return answers;
}

std::string from_hex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i < hex.size(); i += 2)
    bytes += char(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

void write_file(const TemporaryDirectory& root, const std::string& name, const std::string& bytes) {
  const std::filesystem::path path(root / name);
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

/// The directory that directory_answers.py showed to Keras.
struct SmallDirectory : TemporaryDirectory {
  SmallDirectory() {
    for (const auto& [name, hex] : directory_answers()["files"].items())
      write_file(*this, name, from_hex(hex));
  }
};

/// The values, shape and dtype of a component as the script writes them.
void check_tensor(const Tensor& got, const json& wanted) {
  if (wanted.is_string()) {  // a text
    CHECK(std::string(bytes_of(got)) == from_hex(wanted));
    return;
  }
  const auto values = got.to_vector();
  REQUIRE(wanted.size() == values.size() + 2);
  CHECK(name_of(got.dtype()) == wanted[values.size() + 1].get<std::string>());
  std::string shape;
  for (const int64_t size : got.shape().dims())
    shape += (shape.empty() ? "" : "x") + std::to_string(size);
  CHECK(shape == wanted[values.size()].get<std::string>());
  double worst = 0;
  for (size_t i = 0; i < values.size(); ++i)
    worst = std::max(worst, std::abs(double(values[i]) - wanted[i].get<double>()));
  CHECK(worst < 2e-3);  // of 255
}

/// A batch of texts: each row up to its zeros.
void check_texts(const Tensor& got, const json& wanted) {
  REQUIRE(got.shape()[0] == int64_t(wanted.size()));
  for (size_t i = 0; i < wanted.size(); ++i) {
    const Tensor row = got[int64_t(i)];
    const std::string_view bytes = bytes_of(row);
    CHECK(std::string(bytes.substr(0, bytes.find_last_not_of('\0') + 1)) == from_hex(wanted[i]));
  }
}

void check_part(const TemporaryDirectory& root, const DirectoryDataset& got, const json& wanted) {
  CHECK(json(got.class_names) ==
        (wanted["class_names"].is_null() ? json::array() : wanted["class_names"]));
  for (size_t i = 0; i < wanted["file_paths"].size(); ++i)
    CHECK(got.file_paths.at(i) == root / wanted["file_paths"][i].get<std::string>());
  size_t at = 0;
  for (const Batch& element : got) {
    const json& one = wanted["elements"].at(at++);
    REQUIRE(element.size() == one.size());
    const bool has_texts = one[0].is_array() && one[0].back().is_string() &&
                           element.x.dtype() == DType::UInt8 && element.x.shape().rank() == 2;
    has_texts ? check_texts(element.x, one[0]) : check_tensor(element.x, one[0]);
    if (element.y) check_tensor(element.y, one[1]);
    CHECK(spec_of(element).size() == got.element_spec().size());
  }
  CHECK(at == wanted["elements"].size());
}

void check_images(const std::string& name, ImageDirectoryOptions options) {
  INFO(name);
  const SmallDirectory root;
  options.image_size =
      options.image_size == ImageSize{256, 256} ? ImageSize{3, 4} : options.image_size;
  options.verbose = false;
  check_part(root, image_dataset_from_directory(root.path(), options),
             directory_answers()["images"][name]["parts"][0]);
}

ImageDirectoryOptions plain(ImageDirectoryOptions options = {}) {
  options.shuffle = false;
  options.batch_size = std::nullopt;
  return options;
}

}  // namespace

TEST_CASE("pictures of a directory have Keras's order, labels and pixels", "[datasets][tables]") {
  if (!has_png() || !has_jpeg()) SKIP("no libpng or no libjpeg");
  check_images("plain", {.batch_size = 4, .shuffle = false});
  check_images("binary", plain({.label_mode = "binary", .class_names = {"dogs", "cats"}}));
  check_images("categorical", plain({.label_mode = "categorical", .color_mode = "grayscale"}));
  check_images("no labels", plain({.labels = std::nullopt}));
  check_images("no mode", plain({.label_mode = std::nullopt}));
  const std::vector<int32_t> labels = {5, 3, 5, 0, 0, 1, 2, 3, 2, 2, 5};
  check_images("given", plain({.labels = labels, .label_mode = "categorical"}));
  check_images("given numbers", plain({.labels = labels}));
  check_images("channels first",
               {.batch_size = 5, .shuffle = false, .data_format = "channels_first"});
  check_images("training", plain({.validation_split = 0.3, .subset = "training"}));
  check_images("validation", plain({.validation_split = 0.3, .subset = "validation"}));
}

TEST_CASE("pictures of a directory are resized as by TensorFlow", "[datasets][tables]") {
  if (!has_png() || !has_jpeg()) SKIP("no libpng or no libjpeg");
  for (const std::string method : {"nearest", "bilinear", "bicubic", "area", "lanczos3", "lanczos5",
                                   "gaussian", "mitchellcubic"}) {
    check_images(method, plain({.interpolation = method}));
    check_images(
        method + " larger",
        plain({.class_names = {"birds", "dogs"}, .image_size = {10, 7}, .interpolation = method}));
    check_images(method + " padded", plain({.interpolation = method, .pad_to_aspect_ratio = true}));
    if (method != "gaussian" && method != "mitchellcubic")
      check_images(method + " cropped",
                   plain({.interpolation = method, .crop_to_aspect_ratio = true}));
  }
  check_images("cropped first",
               plain({.crop_to_aspect_ratio = true, .data_format = "channels_first"}));
}

TEST_CASE("both parts of a split directory are Keras's", "[datasets][tables]") {
  if (!has_png() || !has_jpeg()) SKIP("no libpng or no libjpeg");
  const SmallDirectory root;
  ImageDirectoryOptions options = plain({.image_size = {3, 4}, .validation_split = 0.3});
  options.verbose = false;
  const auto [training, validation] = image_datasets_from_directory(root.path(), options);
  const json& wanted = directory_answers()["images"]["both"]["parts"];
  check_part(root, training, wanted[0]);
  check_part(root, validation, wanted[1]);
}

TEST_CASE("texts of a directory are Keras's", "[datasets][tables]") {
  const SmallDirectory root;
  const json& texts = directory_answers()["texts"];
  const auto check = [&](const std::string& name, const TextDirectoryOptions& options) {
    INFO(name);
    check_part(root, text_dataset_from_directory(root.path(), options), texts[name]["parts"][0]);
  };
  check("plain", {.batch_size = 2, .shuffle = false, .verbose = false});
  check("cut", {.label_mode = "categorical",
                .batch_size = {},
                .max_length = 6,
                .shuffle = false,
                .verbose = false});
  check("no labels",
        {.labels = std::nullopt, .batch_size = {}, .shuffle = false, .verbose = false});
  const auto [training, validation] =
      text_datasets_from_directory(root.path(), {.batch_size = {},
                                                 .shuffle = false,
                                                 .validation_split = 0.3,
                                                 .subset = "both",
                                                 .verbose = false});
  check_part(root, training, texts["both"]["parts"][0]);
  check_part(root, validation, texts["both"]["parts"][1]);
}

TEST_CASE("files of a directory are shuffled as NumPy shuffles", "[datasets][tables]") {
  const TemporaryDirectory root;
  for (int i = 0; i < 150; ++i) {
    const std::string number = std::to_string(1000 + i).substr(1);
    write_file(root, std::string(1, "abc"[i % 3]) + "/" + number + ".txt", std::to_string(i));
  }
  for (const auto& [seed, wanted] : directory_answers()["orders"].items()) {
    INFO("seed " << seed);
    const DirectoryDataset all = text_dataset_from_directory(
        root.path(), {.batch_size = {}, .seed = std::stoull(seed), .verbose = false});
    std::vector<int> files, pass;
    for (const std::string& path : all.file_paths)
      files.push_back(std::stoi(path.substr(path.size() - 7, 3)));
    CHECK(files == wanted["files"].get<std::vector<int>>());
    for (const Batch& element : all) {
      const int number = std::stoi(std::string(bytes_of(element.x)));
      CHECK(element.y.item<int32_t>() == number % 3);
      pass.push_back(number);
    }
    CHECK(pass != files);  // a pass has an order of its own
    std::ranges::sort(pass);
    std::ranges::sort(files);
    CHECK(pass == files);
    const DirectoryDataset last =
        text_dataset_from_directory(root.path(), {.batch_size = {},
                                                  .seed = std::stoull(seed),
                                                  .validation_split = 0.29,
                                                  .subset = "validation",
                                                  .verbose = false});
    CHECK(last.file_paths ==
          std::vector<std::string>(all.file_paths.end() - 43, all.file_paths.end()));
  }
}

TEST_CASE("without a seed files are shuffled by the process's seed", "[datasets][tables]") {
  const TemporaryDirectory root;
  for (int i = 0; i < 30; ++i) write_file(root, "a/" + std::to_string(i) + ".txt", "x");
  const auto paths = [&] {
    return text_dataset_from_directory(root.path(), {.verbose = false}).file_paths;
  };
  random::set_seed(3);
  const auto first = paths(), second = paths();
  CHECK(first != second);
  random::set_seed(3);
  CHECK(paths() == first);
}

TEST_CASE("links to folders are followed when asked to", "[datasets][tables]") {
  const TemporaryDirectory root, elsewhere;
  write_file(root, "a/1.txt", "one");
  write_file(elsewhere, "2.txt", "two");
  std::filesystem::create_directory_symlink(elsewhere.path(), root / "a/more");
  std::filesystem::create_directory_symlink(elsewhere.path(), root / "b");  // a class is read
  const auto number = [&](bool follows) {
    return text_dataset_from_directory(root.path(), {.follow_links = follows, .verbose = false})
        .file_paths.size();
  };
  CHECK(number(false) == 2);
  CHECK(number(true) == 3);
}

TEST_CASE("options of a directory that do not fit are refused", "[datasets][tables]") {
  const SmallDirectory root;
  const auto refused = [&](ImageDirectoryOptions options, const std::string& why) {
    options.verbose = false;
    CHECK_THROWS_SAYING(image_dataset_from_directory(root.path(), options), InvalidArgumentError,
                        why);
  };
  CHECK_THROWS_SAYING(DirectoryLabels("cats"), InvalidArgumentError, "must be \"inferred\"");
  refused({.labels = {1, 2}}, "there are 2 labels and 11 files");
  refused({.labels = {1, 2}, .class_names = {"cats"}}, "class_names is only for");
  refused({.labels = std::nullopt, .class_names = {"cats"}}, "leave one out");
  refused({.label_mode = "float"}, "label_mode is \"float\"");
  refused({.label_mode = "binary"}, "needs two classes; there are [\"birds\", \"cats\", \"dogs\"]");
  refused({.class_names = {"cats", "cows"}}, "has the folders [\"birds\", \"cats\", \"dogs\"]");
  refused({.class_names = {"cats", "cats"}}, "a name is there twice");
  refused({.color_mode = "bgr"}, "color_mode is \"bgr\"");
  refused({.batch_size = 0}, "batch_size is 0");
  refused({.image_size = {160}}, "image_size is 160 x 0");
  refused({.seed = uint64_t{1} << 32}, "below 2^32");
  refused({.validation_split = 0.2}, "set both or neither");
  refused({.subset = "training"}, "set both or neither");
  refused({.seed = 1, .validation_split = 1.5, .subset = "training"}, "between 0 and 1");
  refused({.seed = 1, .validation_split = 0.5, .subset = "test"}, "subset is \"test\"");
  refused({.validation_split = 0.5, .subset = "training"}, "needs a seed");
  refused({.seed = 1, .validation_split = 0.5, .subset = "both"}, "gives both");
  refused({.seed = 1, .validation_split = 0.01, .subset = "validation"}, "leaves none of 9 files");
  refused({.interpolation = "cubic"}, "interpolation is \"cubic\"");
  refused({.interpolation = "gaussian", .crop_to_aspect_ratio = true}, "no interpolation");
  refused({.crop_to_aspect_ratio = true, .pad_to_aspect_ratio = true}, "only one of");
  refused({.data_format = "nchw"}, "data_format is \"nchw\"");
  CHECK_THROWS_SAYING(image_dataset_from_directory(root / "absent"), NotFoundError, "absent");
  CHECK_THROWS_SAYING(text_dataset_from_directory(root / "cats/deep", {.verbose = false}),
                      InvalidArgumentError, "no text files (.txt) found in");
}

TEST_CASE("a file of a directory that cannot be decoded is named", "[datasets][tables]") {
  const TemporaryDirectory root;
  write_file(root, "a/bad.png", "GIF89a");
  auto images = image_dataset_from_directory(root.path(), {.verbose = false}).iterator();
  CHECK_THROWS_SAYING(images.next(), InvalidArgumentError, "a/bad.png: ");
}
