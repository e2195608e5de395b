#include <distribute/parameter_server/detail/shared_arena.hpp>

#include <tests/support/catch.hpp>

#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

using distribute::parameter_server::SharedArena;

TEST_CASE("two mappings see the same memory", "[parameter_server][shared_arena]") {
  const auto one = SharedArena::create(int64_t{1} << 20);
  REQUIRE(one);
  const auto other = SharedArena::attach(::dup(one->descriptor()));
  REQUIRE(other);
  CHECK(other->bytes() == one->bytes());
  const int64_t offset = one->allocate(100);
  std::memcpy(one->at(offset), "hello", 6);
  CHECK(std::string(reinterpret_cast<const char*>(other->at(offset))) == "hello");
  CHECK(one->offset_of(one->at(offset) + 5) == offset + 5);
  CHECK(one->offset_of(&offset) == -1);
}

TEST_CASE("blocks do not overlap, come back, and run out", "[parameter_server][shared_arena]") {
  const auto arena = SharedArena::create(16 * 4096);
  const int64_t a = arena->allocate(4097), b = arena->allocate(1);
  CHECK(b >= a + 4097);
  CHECK(a % 4096 == 0);
  arena->release(a, 4097);
  CHECK(arena->allocate(8192) == a);  // the same number of pages
  CHECK(arena->allocate(16 * 4096) == -1);
}

TEST_CASE("memory that could become shorter is not mapped", "[parameter_server][shared_arena]") {
  const int file = ::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  REQUIRE(::ftruncate(file, 4096) == 0);
  CHECK_FALSE(SharedArena::attach(file));
  const auto arena = SharedArena::create(4096);
  CHECK(::ftruncate(arena->descriptor(), 0) != 0);
}
