// Against TensorFlow: cifar/batches.json, which cifar.py beside it makes.

#include <distribute/data/mnist_and_cifar.hpp>

#include <distribute/base/error.hpp>
#include <distribute/data/element_spec.hpp>

#include <tests/data/cifar_files.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/source_dir.hpp>
#include <tests/support/temporary_directory.hpp>

#include <nlohmann/json.hpp>

using namespace distribute;
using namespace distribute::data;
using nlohmann::json;

namespace {

json wanted(const char* name) {
  std::ifstream file(distribute::testing::source_dir() + "/tests/data/cifar/batches.json");
  return json::parse(file)[name];
}

void check(const CifarImages& set, const json& pictures) {
  REQUIRE(set.images.shape() == Shape{int64_t(pictures.size()), 32, 32, 3});
  REQUIRE(set.labels.shape() == Shape{int64_t(pictures.size())});
  const auto pixels = set.images.data<uint8_t>();
  const auto pixel = [&](size_t n, size_t row, size_t column) {
    const size_t at = ((n * 32 + row) * 32 + column) * 3;
    return json{pixels[at], pixels[at + 1], pixels[at + 2]};
  };
  const size_t rows[] = {0, 1, 31};
  for (size_t n = 0; n < pictures.size(); ++n) {
    CHECK(set.labels.data<uint8_t>()[n] == pictures[n]["label"]);
    for (size_t i = 0; i < 3; ++i) {
      CHECK(pixel(n, rows[i], 0) == pictures[n]["first"][i]);
      CHECK(pixel(n, rows[i], 31) == pictures[n]["last"][i]);
    }
    const auto own = pixels.subspan(n * 3072, 3072);
    CHECK(std::accumulate(own.begin(), own.end(), int64_t{0}) == pictures[n]["sum"]);
  }
}

}  // namespace

TEST_CASE("binary files of CIFAR are TensorFlow's pictures", "[data][cifar]") {
  const TemporaryDirectory root;
  cifar_files::write(root / "ten.bin", 3, false);
  cifar_files::write(root / "hundred.bin", 3, true);
  check(read_cifar({root / "ten.bin"}, CifarLabels::Cifar10), wanted("cifar10"));
  check(read_cifar({root / "hundred.bin"}, CifarLabels::Cifar100Fine), wanted("fine"));
  check(read_cifar({root / "hundred.bin"}, CifarLabels::Cifar100Coarse), wanted("coarse"));
  const CifarImages twice = read_cifar({root / "ten.bin", root / "ten.bin"}, CifarLabels::Cifar10);
  CHECK(twice.images.shape()[0] == 6);
  CHECK(bytes_of(twice.images).substr(0, 9216) == bytes_of(twice.images).substr(9216));
}

TEST_CASE("files of CIFAR that are not whole or of the wrong set are named", "[data][cifar]") {
  const TemporaryDirectory root;
  cifar_files::write(root / "hundred.bin", 3, true);
  CHECK_THROWS_SAYING(read_cifar({root / "hundred.bin"}, CifarLabels::Cifar10), DataLossError,
                      "hundred.bin: has 9222 bytes, expected a multiple of 3073");
  std::ofstream(root / "empty.bin");
  CHECK_THROWS_SAYING(read_cifar({root / "empty.bin"}, CifarLabels::Cifar10), DataLossError,
                      "empty.bin: has 0 bytes");
  cifar_files::write(root / "label.bin", 12, false);
  CHECK_THROWS_SAYING(read_cifar({root / "label.bin"}, CifarLabels::Cifar10), InvalidArgumentError,
                      "label.bin: label 9 is 10, expected 0 to 9");
  CHECK_THROWS_SAYING(read_cifar({root / "none.bin"}, CifarLabels::Cifar10), NotFoundError,
                      "none.bin");
  CHECK_THROWS_AS(read_cifar({}, CifarLabels::Cifar10), InvalidArgumentError);
}

TEST_CASE("the files of CIFAR are found in the folder or in the archive's", "[data][cifar]") {
  const auto found = [](const std::string& folder, bool training) {
    return find_cifar_files(folder, CifarLabels::Cifar10, training);
  };
  const TemporaryDirectory root;
  CHECK(found(root.path(), true).empty());
  const std::string inner = root / "cifar-10-batches-bin";
  cifar_files::write_cifar10(inner, 2);
  for (const std::string& folder : {root.path(), inner}) {
    CHECK(found(folder, true) ==
          std::vector<std::string>{inner + "/data_batch_1.bin", inner + "/data_batch_2.bin",
                                   inner + "/data_batch_3.bin", inner + "/data_batch_4.bin",
                                   inner + "/data_batch_5.bin"});
    CHECK(found(folder, false) == std::vector<std::string>{inner + "/test_batch.bin"});
  }
  std::filesystem::remove(inner + "/data_batch_3.bin");
  CHECK_THROWS_SAYING(found(root.path(), true), NotFoundError, "data_batch_3.bin is missing");
  CHECK(find_cifar_files(root.path(), CifarLabels::Cifar100Fine, true).empty());
}

TEST_CASE("the Python version of CIFAR is refused with the name of the other", "[data][cifar]") {
  const TemporaryDirectory root;
  std::ofstream(root / "data_batch_1") << "x";
  CHECK_THROWS_SAYING(find_cifar_files(root.path(), CifarLabels::Cifar10, true),
                      InvalidArgumentError, "cifar-10-batches-bin");
}
