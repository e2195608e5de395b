#include <distribute/data/mnist_and_cifar.hpp>

#include <tests/data/dataset_support.hpp>
#include <tests/data/idx_bytes.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/temporary_directory.hpp>

using namespace distribute;
using namespace distribute::data;

namespace {

std::string message_of(const std::string& bytes) {
  try {
    parse_idx(bytes, "f");
  } catch (const DataLossError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("IDX files hold bytes, integers or floats, big-endian", "[data][idx]") {
  const Tensor bytes = parse_idx(word(0x802) + word(2) + word(3) + "abcdef", "f");
  CHECK(bytes.shape() == Shape{2, 3});
  CHECK(bytes.data<uint8_t>()[4] == 'e');
  CHECK(parse_idx(word(0xc01) + word(2) + word(258) + word(0xffffffff), "f").data<int32_t>()[1] ==
        -1);
  CHECK(parse_idx(word(0xd01) + word(1) + word(0x40490fdb), "f").item<float>() == 3.14159274f);
  CHECK(parse_idx(word(0x801) + word(0), "f").num_elements() == 0);
}

TEST_CASE("damaged IDX files say what was expected and what was found", "[data][idx]") {
  CHECK(message_of("") == "f: too short for an IDX file: 0 bytes");
  CHECK(message_of(word(0x12345678)) ==
        "f: not an IDX file: the magic number is 0x12345678, expected such as 0x00000803");
  CHECK(message_of(word(0x0e01) + word(1) + std::string(8, '0')) ==
        "f: not an IDX file of uint8, int32 or float32: the magic number is 0x00000e01, expected "
        "such as 0x00000803");
  CHECK(message_of(word(0x803) + word(1)) ==
        "f: truncated: the header of 16 bytes is cut off after 8");
  CHECK(message_of(images(3).substr(0, 20)) ==
        "f: truncated: shape [3, 2, 2] of uint8 needs 12 bytes after the header, found 4");
  CHECK(message_of(images(3) + "x") ==
        "f: too long: shape [3, 2, 2] of uint8 needs 12 bytes after the header, found 13");
  std::string huge = word(0x808);
  for (int i = 0; i < 8; ++i) huge += word(0xffffffff);
  CHECK(message_of(huge).find("truncated") != std::string::npos);
  huge.replace(4 + 7 * 4, 4, word(0));
  CHECK(message_of(huge).find("truncated") != std::string::npos);
  CHECK(message_of(word(0x809) + std::string(64, '\1')).find("magic") != std::string::npos);
}

TEST_CASE("images and labels make examples, converted when a batch is made", "[data][idx]") {
  TemporaryDirectory folder;
  write(folder / "images", images(3));
  write(folder / "labels", labels(3));
  const auto raw = from_idx_files(folder / "images", folder / "labels");
  CHECK(to_string(raw.element_spec()) == "([2, 2] uint8, [] uint8)");
  const auto scaled = from_idx_files(folder / "images", folder / "labels",
                                     {.x_dtype = DType::Float32,
                                      .divide_x_by = 255,
                                      .add_channel_axis = true,
                                      .y_dtype = DType::Int32});
  CHECK(to_string(scaled.element_spec()) == "([2, 2, 1] float32, [] int32)");
  const auto [x, y] = scaled.batch(2).iterator().next();
  CHECK(x.shape() == Shape{2, 2, 2, 1});
  CHECK(x.data<float>()[5] == 51.0f / 255.0f);
  CHECK(y.data<int32_t>()[1] == 7);
  CHECK(scaled.iterator().next().x.shape() == Shape{2, 2, 1});
}

TEST_CASE("images and labels must belong together", "[data][idx]") {
  TemporaryDirectory folder;
  write(folder / "images", images(3));
  write(folder / "labels", labels(2));
  const std::string i = folder / "images", l = folder / "labels";
  CHECK_THROWS_WITH(from_idx_files(i, l),
                    l + " has 2 labels, expected 3, the number of images in " + i);
  write(folder / "labels", labels(3, 10));
  CHECK_THROWS_WITH(from_idx_files(i, l, {.num_classes = 10}),
                    l + ": label 0 is 10, expected 0 to 9");
  CHECK_THROWS_WITH(from_idx_files(l, l), l + ": expected images (uint8, 3 axes), found uint8 [3]");
  CHECK_THROWS_AS(from_idx_files(folder / "none", l), NotFoundError);
}

TEST_CASE("mutated IDX bytes are read or refused, never worse", "[data][idx]") {
  std::mt19937 random(1);
  const std::vector<std::string> seeds = {images(3), labels(5),
                                          word(0xd02) + word(1) + word(2) + std::string(8, '\1')};
  int refused = 0, read = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = seeds[random() % seeds.size()];
    for (unsigned flips = random() % 4; flips > 0; --flips)
      bytes[random() % bytes.size()] = char(random());
    if (random() % 4 == 0) bytes.resize(random() % (bytes.size() + 4));
    try {
      const Tensor tensor = parse_idx(bytes, "f");
      CHECK(tensor.to_vector().size() == size_t(tensor.num_elements()));
      ++read;
    } catch (const DataLossError&) {
      ++refused;
    }
  }
  CHECK(refused > 1000);
  CHECK(read > 1000);
}
