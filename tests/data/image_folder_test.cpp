#include <distribute/data/pictures.hpp>

#include <distribute/base/error.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/temporary_directory.hpp>

#include <unistd.h>

using namespace distribute;
using namespace distribute::data;

namespace {

void make_files(const TemporaryDirectory& root, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    std::filesystem::create_directories(std::filesystem::path(root / name).parent_path());
    std::ofstream(root / name) << "x";
  }
}

}  // namespace

TEST_CASE("classes are the sorted folders, pictures the sorted files in them", "[data][pictures]") {
  const TemporaryDirectory root;
  make_files(root, {"dog/b.jpg", "dog/a.JPEG", "cat/1.jpeg", "cat/2.JPG", "cat/3.PNG",
                    "cat/notes.txt", "cat/.3.jpg", "readme.jpg", ".hidden/x.jpg"});
  const ImageFolder folder = list_image_folder(root.path());
  CHECK(folder.class_names == std::vector<std::string>{"cat", "dog"});
  CHECK(folder.paths == std::vector<std::string>{root / "cat/1.jpeg", root / "cat/2.JPG",
                                                 root / "cat/3.PNG", root / "dog/a.JPEG",
                                                 root / "dog/b.jpg"});
  CHECK(folder.labels == std::vector<int64_t>{0, 0, 0, 1, 1});
}

TEST_CASE("folders that cannot serve are refused with their names", "[data][pictures]") {
  const TemporaryDirectory root;
  CHECK_THROWS_SAYING(list_image_folder(root / "absent"), NotFoundError, "absent");
  CHECK_THROWS_SAYING(list_image_folder(root.path()), NotFoundError, "no folders of pictures");
  make_files(root, {"cat/1.jpg", "empty/readme.txt"});
  CHECK_THROWS_SAYING(list_image_folder(root.path()), InvalidArgumentError, "\"empty\"");
}

TEST_CASE("a folder that must not be read is refused with its name", "[data][pictures]") {
  if (geteuid() == 0) SKIP("root may read everything");
  const TemporaryDirectory root;
  make_files(root, {"cat/1.jpg"});
  std::filesystem::permissions(root / "cat", std::filesystem::perms::none);
  CHECK_THROWS_SAYING(list_image_folder(root.path()), PermissionDeniedError, "cat");
  std::filesystem::permissions(root / "cat", std::filesystem::perms::owner_all);
}
