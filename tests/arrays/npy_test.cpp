// Against NumPy 2: numpy_files.py, which wrote tests/arrays/files.
#include <distribute/arrays/npy.hpp>

#include <distribute/ops/array.hpp>
#include <distribute/saving/zip_file.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/file_text.hpp>
#include <tests/support/python_script.hpp>
#include <tests/support/source_dir.hpp>
#include <tests/support/temporary_directory.hpp>

#include <numeric>
#include <random>

using namespace distribute;
using namespace distribute::arrays;

namespace {

std::string numpy_file(const std::string& name) {
  return distribute::testing::source_dir() + "/tests/arrays/files/" + name;
}

const std::vector<float> kMatrix = {0.5f, -1.5f, 3.0f, 4.25f, 1e-3f, -7.0f};

template <typename T>
std::vector<T> values_of(const Tensor& tensor) {
  const auto data = tensor.data<T>();
  return {data.begin(), data.end()};
}

std::vector<int32_t> counted(int32_t count) {
  std::vector<int32_t> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 0);
  return values;
}

/// The arrays that numpy_files.py checks.
std::map<std::string, Tensor> all_dtypes() {
  const Tensor matrix({2, 3}, kMatrix);
  return {{"float32", matrix},
          {"float16", cast(matrix, DType::Float16)},
          {"int32", Tensor({2, 3, 4}, counted(24))},
          {"int64", Tensor{int64_t(1), int64_t(-2), int64_t(1) << 40}},
          {"uint8", Tensor{uint8_t(0), uint8_t(7), uint8_t(255)}},
          {"bool", Tensor{true, false, true}},
          {"scalar", Tensor(2.5f)},
          {"empty", Tensor({0, 3}, std::vector<float>())}};
}

void check_same(const Tensor& got, const Tensor& wanted) {
  CHECK(got.shape() == wanted.shape());
  REQUIRE(got.dtype() == wanted.dtype());
  CHECK(cast(got, DType::Float32).to_vector() == cast(wanted, DType::Float32).to_vector());
}

}  // namespace

TEST_CASE("arrays of NumPy are read as they are", "[npy]") {
  for (const auto& [name, wanted] : all_dtypes()) {
    INFO(name);
    check_same(load_npy(numpy_file(name + ".npy")), wanted);
  }
  CHECK(values_of<int64_t>(load_npy(numpy_file("int64.npy"))) ==
        std::vector<int64_t>{1, -2, int64_t(1) << 40});
}

TEST_CASE("byte orders, Fortran's order and all versions are read", "[npy]") {
  const Tensor matrix({2, 3}, kMatrix), cube({2, 3, 4}, counted(24));
  for (const char* name : {"big_endian", "fortran"}) {
    INFO(name);
    check_same(load_npy(numpy_file(str_cat(name, ".npy"))), matrix);
  }
  for (const char* name : {"fortran_cube", "version_2", "version_3"}) {
    INFO(name);
    check_same(load_npy(numpy_file(str_cat(name, ".npy"))), cube);
  }
}

TEST_CASE("float64 is rounded where that is asked for, and else refused", "[npy]") {
  const Tensor matrix({2, 3}, kMatrix);
  for (const char* name : {"float64", "big_endian_float64"}) {
    INFO(name);
    const std::string path = numpy_file(str_cat(name, ".npy"));
    check_same(load_npy(path, {.float64_to_float32 = true}), matrix);
    CHECK_THROWS_SAYING(load_npy(path), InvalidArgumentError, "f8'; save .astype('float32')");
  }
}

TEST_CASE("arrays that no tensor can hold are refused", "[npy]") {
  const std::map<std::string, std::string> refused = {
      {"int16", "'<i2'; save it as float32"},
      {"complex64", "'<c8'"},
      {"text", "'<U2'"},
      {"records", "an array of records"},
      {"nine_axes", "9 axes; tensors have at most 8"}};
  for (const auto& file : refused) {
    INFO(file.first);
    CHECK_THROWS_SAYING(load_npy(numpy_file(file.first + ".npy")), InvalidArgumentError,
                        file.second);
  }
  CHECK_THROWS_AS(load_npy(numpy_file("missing.npy")), NotFoundError);
}

TEST_CASE("archives of NumPy are read, compressed or not", "[npy]") {
  if (!saving::has_zip()) {
    CHECK_THROWS_AS(load_npz(numpy_file("plain.npz")), UnimplementedError);
    return;
  }
  for (const char* name : {"plain.npz", "compressed.npz"}) {
    INFO(name);
    const auto tensors = load_npz(numpy_file(name));
    REQUIRE(tensors.size() == 2);
    check_same(tensors.at("kernel"), Tensor({2, 3}, kMatrix));
    check_same(tensors.at("layer/bias"), Tensor{int64_t(1), int64_t(2)});
  }
  CHECK_THROWS_SAYING(load_npz(numpy_file("float64.npz")), InvalidArgumentError,
                      "float64.npz: kernel: no dtype");
  CHECK_THROWS_AS(load_npz(numpy_file("float32.npy")), DataLossError);
}

TEST_CASE("what is saved is loaded again, and NumPy reads it", "[npy]") {
  const TemporaryDirectory folder;
  for (const auto& [name, tensor] : all_dtypes()) {
    INFO(name);
    save_npy(folder / (name + ".npy"), tensor);
    check_same(load_npy(folder / (name + ".npy")), tensor);
    // The bytes are those of numpy.save, except for the spaces that end its head.
    CHECK(file_text(folder / (name + ".npy")).substr(128) ==
          file_text(numpy_file(name + ".npy")).substr(128));
  }
  if (saving::has_zip()) {
    save_npz(folder / "all.npz", all_dtypes());
    const auto again = load_npz(folder / "all.npz");
    for (const auto& [name, tensor] : all_dtypes()) check_same(again.at(name), tensor);
  }
  if (!run_tensorflow_script("arrays/numpy_files.py", "check " + folder.path(), folder / "log"))
    WARN("skipped: NumPy does not read these files here, as Python has none");
}

TEST_CASE("tensors that NumPy cannot hold, and arrays without a name, are refused", "[npy]") {
  const TemporaryDirectory folder;
  const Tensor half = cast(Tensor{1.0f}, DType::BFloat16);
  CHECK_THROWS_SAYING(save_npy(folder / "x.npy", half), InvalidArgumentError, "bfloat16");
  CHECK_THROWS_SAYING(save_npz(folder / "x.npz", {{"a", half}}), InvalidArgumentError,
                      "x.npz: a: NumPy has no type");
  CHECK_THROWS_SAYING(save_npz(folder / "x.npz", {{"", Tensor{1.0f}}}), InvalidArgumentError,
                      "without a name");
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("files that are cut off, or longer than their array, are damaged", "[npy]") {
  const std::string whole = file_text(numpy_file("int32.npy"));
  for (size_t size = 0; size < whole.size(); ++size) {
    INFO(size);
    CHECK_THROWS_AS(arrays_internal::decode_npy(whole.substr(0, size), {}, "x"), DataLossError);
  }
  CHECK_THROWS_SAYING(arrays_internal::decode_npy(whole + "x", {}, "x"), DataLossError,
                      "97 bytes of elements, and an array of shape [2, 3, 4] has 96");
}

TEST_CASE("a shape that no file can hold is damage", "[npy]") {
  std::string bytes = file_text(numpy_file("int32.npy"));
  const std::string large = "(9223372036854775807, 9223372036854775807), }";
  const size_t at = bytes.find("(2, 3, 4)");
  bytes.replace(at, large.size(), large);
  CHECK_THROWS_SAYING(arrays_internal::decode_npy(bytes, {}, "x"), DataLossError, "more than");
}

TEST_CASE("damaged heads end in an error, never in a crash", "[npy][fuzz]") {
  const std::string whole = file_text(numpy_file("fortran_cube.npy"));
  std::mt19937 random(1);
  int read = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = whole;
    for (int changes = int(random() % 4); changes >= 0; --changes)
      bytes[random() % 80] = char(random());
    try {
      read += arrays_internal::decode_npy(bytes, {.float64_to_float32 = true}, "x").dtype() ==
              DType::Int32;
    } catch (const Error&) {
    }
  }
  CHECK(read < 20000);
}
