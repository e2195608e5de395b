#include <distribute/checkpoint/bundle.hpp>
#include <distribute/checkpoint/checkpoint.hpp>
#include <distribute/checkpoint/checkpoint_manager.hpp>
#include <distribute/checkpoint/named_weights.hpp>
#include <distribute/train/checkpoint_files.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/temporary_directory.hpp>

using namespace distribute;
using namespace distribute::train;

namespace {

/// A checkpoint of tensor "x" alone.
template <typename T>
std::string write_x(const std::string& prefix, io::DataType dtype, const std::vector<T>& values) {
  BundleWriter writer(prefix);
  const auto bytes = std::as_bytes(std::span(values));
  writer.add("x", dtype, {int64_t(values.size())}, {bytes.begin(), bytes.end()});
  writer.finish();
  return prefix;
}

std::string difference(const std::string& a, const std::string& b, double tolerance = 0) {
  BundleReader left(a), right(b);
  const auto all = compare_checkpoints(left, right, tolerance);
  return all.empty() ? "" : all[0].name + ": " + all[0].reason;
}

}  // namespace

TEST_CASE("a checkpoint is found by prefix, index file and directory",
          "[train][checkpoint_files]") {
  const TemporaryDirectory root;
  Checkpoint checkpoint({{"x", Variable(Tensor{1.0f}, {.name = "x"})}});
  CheckpointManager manager(checkpoint, {.directory = root / "ckpt", .max_to_keep = 2});
  for (int i = 0; i < 3; ++i) manager.save();
  const std::string first = root / "ckpt/ckpt-2", last = root / "ckpt/ckpt-3";
  CHECK(find_checkpoint(first) == first);
  CHECK(find_checkpoint(first + ".index") == first);
  CHECK(find_checkpoint(root / "ckpt") == last);
  CHECK(find_checkpoints(root / "ckpt") == std::vector<std::string>{first, last});
  CHECK(find_checkpoints(first) == std::vector<std::string>{first});
  CHECK_THROWS_WITH(find_checkpoint(root / "none"), Contains("none.index is missing"));
}

TEST_CASE("type and size of a tensor in a file", "[train][checkpoint_files]") {
  const TemporaryDirectory root;
  const BundleReader reader(write_x<uint16_t>(root / "a", io::DataType::BFloat16, {1, 2, 3}));
  CHECK(type_text(reader.entry("x")) == "bfloat16 [3]");
  CHECK(num_bytes(reader.entry("x")) == 6);
}

TEST_CASE("numbers of two checkpoints are compared within a tolerance",
          "[train][checkpoint_files]") {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  const TemporaryDirectory root;
  const auto a = write_x<double>(root / "a", io::DataType::Double, {1, 2, kNaN});
  const auto b = write_x<double>(root / "b", io::DataType::Double, {1.25, 4, kNaN});
  CHECK(difference(a, a) == "");
  CHECK(difference(a, b) == "x: 2 of 3 elements differ, most at element 1: 2 and 4");
  CHECK_THAT(difference(a, b, 0.25), Contains("1 of 3 elements differ"));
  CHECK(difference(a, b, 2) == "");
  const auto c = write_x<float>(root / "c", io::DataType::Float, {1, 2, 3});
  CHECK(difference(a, c) == "x: float64 [3] and float32 [3]");
  // Whole numbers that are one as doubles.
  const auto d = write_x<int64_t>(root / "d", io::DataType::Int64, {int64_t{1} << 60});
  const auto e = write_x<int64_t>(root / "e", io::DataType::Int64, {(int64_t{1} << 60) + 1});
  CHECK(difference(d, e) == "x: the values differ");
  CHECK(difference(d, e, 1) == "");
}

TEST_CASE("an object-based checkpoint is rewritten under flat names", "[train][checkpoint_files]") {
  const TemporaryDirectory root;
  const Variable variable(Tensor{1.0f, 2.0f}, {.name = "layer/kernel"});
  BundleReader from(Checkpoint({{"part", variable}}).write(root / "from"));
  CHECK(write_flat_checkpoint(from, root / "names") > 0);
  CHECK(BundleReader(root / "names").contains("layer/kernel"));
  write_flat_checkpoint(from, root / "paths", FlatNames::Paths);
  BundleReader paths(root / "paths");
  CHECK(paths.read_values<float>("part") == std::vector<float>{1, 2});
  CHECK_THROWS_WITH(write_flat_checkpoint(paths, root / "again"), Contains("flat already"));
}
