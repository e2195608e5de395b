/// What the Dockerfile's stages for one's own program run: the library is the one of this build,
/// and the image is a folder.

#include "shell.hpp"
#include "teaching.hpp"

using namespace mnist_cluster;

namespace {

const std::string kSource = distribute::testing::source_dir();
/// Shell: `library` is a build folder with the flags of this build.
const std::string kLibrary = "cd " + kSource + "\nlibrary=$(dirname " +
                             distribute::testing::binary_dir() +
                             ")\n[ -f $library/libdistribute.a ] || exit 77\n"
                             "scripts/build_library.sh --from $library > /dev/null || exit 1\n"
                             "cd - > /dev/null\n";

}  // namespace

TEST_CASE("a file becomes the program of an image, which runs from its libraries alone",
          "[examples][deploy][container]") {
  const ProgramResult run = shell(
      kLibrary +
      "printf '%s' '#include <distribute/platforms.hpp>\n#include <cstdio>\n"
      "int main(int argc, char** argv) {\n  distribute::take_job_arguments(argc, argv);\n"
      "  std::printf(\"%s %zu\\n\", argv[1], distribute::read_job_paths().model.size());\n}\n' "
      "> own.cpp\n"
      "export PATH\n" +
      kSource +
      "/examples/deploy/container/build_program.sh own.cpp image $library || exit 1\n"
      "image/usr/local/bin/trainer --job-dir=x; ls image/usr/local/bin; "
      "cat image/opt/distribute/runtime_packages\n" +
      kSource + "/examples/deploy/container/build_program.sh nothing image2 $library; echo $?\n");
  if (run.status == 77) SKIP("the library was not built");
  INFO(run.out);
  CHECK_THAT(run.out,
             Contains("--job_dir=x 0\n") && Contains("trainer\n") && Contains("ca-certificates\n"));
  CHECK_THAT(run.out, Contains("no .cpp file in nothing\n1\n"));
}

TEST_CASE("the Dockerfile's stages copy what exists and run scripts that exist",
          "[examples][deploy][container]") {
  std::istringstream lines(file_text(kSource + "/examples/deploy/container/Dockerfile"));
  int copied = 0, run = 0;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    const bool copies = word == "COPY", runs = word == "RUN";
    std::vector<std::string> rest;
    while (words >> word) rest.push_back(word);
    if (copies && !rest.front().starts_with("--from") && !rest.front().starts_with("${"))
      for (size_t i = 0; i + 1 < rest.size(); ++i, ++copied)
        CHECK(fs::exists(kSource + "/" + rest[i]));
    for (const std::string& program : rest)
      if (runs && program.ends_with(".sh")) {
        ++run;
        CHECK((fs::status(kSource + "/" + program).permissions() & fs::perms::owner_exec) !=
              fs::perms::none);
      }
  }
  CHECK(copied > 15);
  CHECK(run > 7);
}
