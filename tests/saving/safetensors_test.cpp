#include <distribute/nn/dense.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/saving/keras_model.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/temporary_directory.hpp>

using namespace distribute;
namespace st = saving::safetensors;

namespace {

std::string file_of(const std::string& header, const std::string& data) {
  const uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + data;
}

void check_refused(const std::string& bytes, const std::string& part) {
  CHECK_THROWS_SAYING(st::deserialize(bytes, "x.safetensors"), DataLossError, part);
}

}  // namespace

TEST_CASE("safetensors: bytes as the format's own library writes them", "[saving][safetensors]") {
  // safetensors.numpy.save({"b": float32 [[1, 2]], "a": int64 [3]}, {"k": "v"})
  const std::string header =
      R"({"__metadata__":{"k":"v"},"a":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},)"
      R"("b":{"dtype":"F32","shape":[1,2],"data_offsets":[8,16]}})";
  std::string padded = header;
  while (padded.size() % 8) padded += ' ';
  const std::string data("\3\0\0\0\0\0\0\0\0\0\x80\x3f\0\0\0\x40", 16);
  const st::Tensors tensors = {{"a", Tensor(Shape{1}, std::vector<int64_t>{3})},
                               {"b", Tensor(Shape{1, 2}, std::vector<float>{1, 2})}};
  CHECK(st::serialize(tensors, {{"k", "v"}}) == file_of(padded, data));

  const st::Contents read = st::deserialize(file_of(header, data), "x");
  CHECK(read.metadata.at("k") == "v");
  CHECK(read.tensors.at("a").item<int64_t>() == 3);
  CHECK(read.tensors.at("b").shape() == Shape{1, 2});
  CHECK(read.tensors.at("b").to_vector() == std::vector<float>{1, 2});
}

TEST_CASE("safetensors: every dtype comes back, also empty and scalar ones",
          "[saving][safetensors]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "new/x.safetensors";
  st::Tensors tensors;
  for (const DType dtype : {DType::Float32, DType::BFloat16, DType::Float16, DType::Int32,
                            DType::Int64, DType::UInt8, DType::Bool})
    tensors[name_of(dtype)] = fill({3}, 1, dtype);
  tensors["scalar"] = Tensor(2.5f);
  tensors["empty"] = zeros({0, 4});
  st::save_file(tensors, path);
  const st::Contents read = st::load_file(path);
  REQUIRE(read.tensors.size() == tensors.size());
  for (const auto& [name, value] : tensors) {
    INFO(name);
    CHECK(read.tensors.at(name).dtype() == value.dtype());
    CHECK(read.tensors.at(name).shape() == value.shape());
    CHECK(read.tensors.at(name).to_vector() == value.to_vector());
  }
}

TEST_CASE("safetensors: damaged files end in one error", "[saving][safetensors]") {
  const auto entry = [](const std::string& name, const std::string& shape, const std::string& at) {
    return "\"" + name + R"(":{"dtype":"F32","shape":)" + shape + R"(,"data_offsets":)" + at + "}";
  };
  const std::string eight(8, '\0');
  check_refused("abc", "it has 3 bytes");
  check_refused(std::string("\xff\xff\xff\xff\xff\xff\xff\x7f", 8), "its header would have");
  check_refused(std::string("\x09\0\0\0\0\0\0\0{}", 10), "its header would have 9 bytes");
  check_refused(file_of("[1]", ""), "no JSON object");
  check_refused(file_of("{\"a\":", ""), "no JSON object");
  check_refused(file_of("{" + entry("a", "[3]", "[0,8]") + "}", eight), "tensor 'a' has 8 bytes");
  check_refused(file_of("{" + entry("a", "[2]", "[0,9]") + "}", eight), "not inside of the file");
  check_refused(file_of("{" + entry("a", "[2]", "[8,0]") + "}", eight), "not inside of the file");
  check_refused(file_of("{" + entry("a", "[-2]", "[0,8]") + "}", eight), "something else");
  check_refused(file_of("{" + entry("a", "[4294967296,4294967296,2]", "[0,8]") + "}", eight),
                "which its shape does not");
  check_refused(
      file_of("{" + entry("a", "[2]", "[0,8]") + "," + entry("b", "[1]", "[4,8]") + "}", eight),
      "tensors overlap");
  check_refused(file_of("{" + entry("a", "[1]", "[4,8]") + "}", eight), "bytes lie between");
  check_refused(file_of("{" + entry("a", "[1]", "[0,4]") + "}", eight), "its tensors end at 4");
  check_refused(
      file_of("{" + entry("a", "[1]", "[0,4]") + "," + entry("a", "[1]", "[4,8]") + "}", eight),
      "twice");
  check_throws<UnimplementedError>(
      [&] {
        st::deserialize(file_of(R"({"a":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}})", eight),
                        "x");
      },
      "tensor 'a' is F64");
  CHECK_THROWS_SAYING(st::load_file("/nowhere/x.safetensors"), NotFoundError, "/nowhere/x");
  CHECK_THROWS_SAYING(st::deserialize("version https://git-lfs.github.com/spec/v1\n", "x"),
                      DataLossError, "`git lfs pull` fetches it");
}

TEST_CASE("safetensors: a write that fails leaves the older file", "[saving][safetensors]") {
  const TemporaryDirectory directory;
  std::ofstream(directory / "file") << "old";
  CHECK_THROWS_AS(st::save_file({{"a", Tensor(1.0f)}}, directory / "file/x.safetensors"), Error);
  std::filesystem::create_directory(directory / "x.safetensors");
  CHECK_THROWS_AS(st::save_file({{"a", Tensor(1.0f)}}, directory / "x.safetensors"), Error);
  const auto entries = std::filesystem::directory_iterator(directory.path());
  CHECK(std::distance(begin(entries), end(entries)) == 2);  // and nothing temporary
}

TEST_CASE("safetensors: weights of a model are those of another one of the program",
          "[saving][safetensors]") {
  const TemporaryDirectory directory;
  nn::Sequential one(nn::Dense({.units = 2, .name = "out"}));
  nn::Sequential other(nn::Dense({.units = 2, .name = "out"}));
  const Tensor x = ones({1, 3});
  const Tensor wanted = one(x);
  other(x);
  const std::string whole = directory / "whole.safetensors",
                    layers = directory / "layers.safetensors";
  saving::save_weights(one, whole);
  const auto loaded = saving::load_weights(other, whole);
  CHECK(loaded.loaded.size() == 2);
  CHECK(loaded.unused.empty());
  CHECK(other(x).to_vector() == wanted.to_vector());
  st::save_file({{"out/kernel", ones({3, 2})}, {"out/bias", zeros({2})}}, layers);
  saving::load_weights(other, layers);
  CHECK(other(x).to_vector() == std::vector<float>{3, 3});
  st::save_file({{"a/out/kernel", ones({3, 2})}, {"b/out/bias", zeros({2})}}, layers);
  CHECK_THROWS_AS(saving::load_weights(other, layers), Error);
}
