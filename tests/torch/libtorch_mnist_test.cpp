/// The example libtorch_mnist, as its page starts it.

#include <distribute/base/error.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/run_program.hpp>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

void write_big_endian(std::ofstream& out, std::vector<uint32_t> numbers) {
  for (const uint32_t number : numbers)
    for (const int shift : {24, 16, 8, 0}) out.put(char(number >> shift));
}

/// Writes as many pictures as libtorch expects: stripes whose place tells their class.
void write_mnist(const std::string& prefix, uint32_t count) {
  std::ofstream images(prefix + "-images-idx3-ubyte", std::ios::binary);
  std::ofstream labels(prefix + "-labels-idx1-ubyte", std::ios::binary);
  write_big_endian(images, {2051, count, 28, 28});
  write_big_endian(labels, {2049, count});
  for (uint32_t number = 0; number < count; ++number) {
    const uint32_t label = number * 7 % 10;
    std::string picture(28 * 28, '\0');
    for (size_t i = 0; i < 28; ++i)
      for (size_t row = 0; row < 3; ++row) picture[(label * 2 + row + 3) * 28 + i] = char(200);
    images << picture;
    labels.put(char(label));
  }
}

}  // namespace

TEST_CASE("libtorch_mnist learns on two ranks, and one rank writes the file", "[multiproc]") {
  skip_without_program("libtorch_mnist");
  const TemporaryDirectory folder;
  write_mnist(folder / "train", 60'000);
  write_mnist(folder / "t10k", 10'000);
  const std::string bin = distribute::testing::binary_dir();
  const ProgramResult result =
      run_line(distribute::str_cat("cd ", folder / "", " && OMP_NUM_THREADS=1 ", bin,
                                   "/distribute run -np 2 -- ", bin, "/libtorch_mnist . 1 200"));
  INFO(result.out << result.err);
  REQUIRE(result.status == 0);
  double loss = 9, accuracy = 0;
  const size_t line = result.out.find("test loss");
  REQUIRE(line != std::string::npos);
  std::sscanf(result.out.c_str() + line, "test loss %lf accuracy %lf", &loss, &accuracy);
  CHECK(accuracy > 0.9);
  CHECK(std::filesystem::exists(folder / "libtorch_mnist.pt"));
  const ProgramResult wrong = run_line(bin + "/libtorch_mnist /no/such/folder");
  CHECK(wrong.status == 1);
  CHECK(wrong.err.starts_with("error: "));
  CHECK(wrong.err.find("frame #") == std::string::npos);
}
