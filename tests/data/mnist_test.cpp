#include <distribute/data/mnist_and_cifar.hpp>

#include <distribute/data/files.hpp>
#include <distribute/http/http_client.hpp>
#include <distribute/io/file_system.hpp>

#include <tests/data/dataset_support.hpp>
#include <tests/data/idx_bytes.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/fake_gcs.hpp>
#include <tests/support/source_dir.hpp>
#include <tests/support/temporary_directory.hpp>

using namespace distribute;
using namespace distribute::data;

namespace {

const std::string kBundled = distribute::testing::source_dir() + "/examples/mnist_cnn/data";

}  // namespace

TEST_CASE("a split may be given by its name", "[data][mnist]") {
  CHECK(load_mnist(kBundled, {.split = "test"}).cardinality() == 1000);
  CHECK(load_mnist(kBundled, {.split = "train"}).cardinality() == 9000);
  CHECK_THROWS_SAYING(load_mnist(kBundled, {.split = "tset"}), InvalidArgumentError,
                      "split 'tset': wanted 'train' or 'test'");
}

TEST_CASE("the bundled MNIST digits load", "[data][mnist]") {
  const auto train = load_mnist(kBundled);
  const auto test = load_mnist(kBundled, {.split = Split::Test, .label_dtype = DType::Int32});
  CHECK(train.cardinality() == 9000);
  CHECK(test.cardinality() == 1000);
  CHECK(to_string(train.batch(50).element_spec()) == "([-1, 28, 28, 1] float32, [-1] int64)");
  const auto [x, y] = train.batch(6).iterator().next();
  CHECK(numbers_of(y) == Numbers{5, 0, 4, 1, 9, 2});
  float largest = 0, sum = 0;
  for (float value : x.data<float>()) {
    largest = std::max(largest, value);
    sum += value;
  }
  CHECK(largest == 1.0f);
  CHECK(sum > 300.0f);
  CHECK(test.iterator().next().y.dtype() == DType::Int32);
}

TEST_CASE("shuffled digits keep their labels", "[data][mnist]") {
  const auto test = load_mnist(kBundled, {.split = Split::Test});
  std::vector<std::pair<std::vector<float>, int64_t>> plain, shuffled;
  const auto collect = [](const Dataset& dataset, auto& all) {
    for (const Batch& example : dataset)
      all.emplace_back(example.x.to_vector(), example.y.item<int64_t>());
    std::sort(all.begin(), all.end());
  };
  collect(test, plain);
  collect(test.shuffle(60'000).batch(64).unbatch(), shuffled);
  CHECK(plain == shuffled);
}

TEST_CASE("a bucket that is not there is not a directory without files", "[data][mnist]") {
  if (!io::has_http()) SKIP("no libcurl");
  FakeGcs::serve_process();
  CHECK_THROWS_SAYING(load_mnist("gs://nosuchbucket/a"), FailedPreconditionError,
                      "bucket does not exist");
  CHECK_THROWS_SAYING(match_files("gs://nosuchbucket/a/*"), FailedPreconditionError,
                      "bucket does not exist");
}

TEST_CASE("missing and cut off MNIST files are named", "[data][mnist]") {
  TemporaryDirectory folder;
  CHECK_THROWS_WITH(load_mnist(folder.path()),
                    "MNIST: directory \"" + folder.path() +
                        "\" has no file train-images-idx3-ubyte or train-images-idx3-ubyte.gz");
  write(folder / "train-labels-idx1-ubyte", labels(1));
  const std::string packed = io::read_file(kBundled + "/t10k-images-idx3-ubyte.gz").value();
  write(folder / "train-images-idx3-ubyte.gz", packed.substr(0, 5000));
  CHECK_THROWS_AS(load_mnist(folder.path()), DataLossError);
  write(folder / "train-images-idx3-ubyte", images(1));  // the plain file is taken first
  CHECK(load_mnist(folder.path()).cardinality() == 1);
  write(folder / "train-labels-idx1-ubyte", labels(1, 9) + "x");
  CHECK_THROWS_AS(load_mnist(folder.path()), DataLossError);
  write(folder / "train-labels-idx1-ubyte", labels(1, 33));
  CHECK_THROWS_AS(load_mnist(folder.path()), InvalidArgumentError);
  write(folder / "train-images-idx3-ubyte", images(0));
  write(folder / "train-labels-idx1-ubyte", labels(0));
  CHECK_THROWS_WITH(load_mnist(folder.path()),
                    folder / "train-images-idx3-ubyte" + ": the file has no images");
}
