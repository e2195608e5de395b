#include <distribute/base/error.hpp>
#include <distribute/base/limits.hpp>
#include <distribute/device/detail/host_arena.hpp>

#include <tests/support/catch.hpp>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using distribute::device_internal::HostArena;

namespace {

constexpr int64_t kMiB = 1 << 20;

struct Block {
  char* data;
  int64_t bytes;
  int fill;
};

/// A block that is full of one number.
Block make(HostArena& arena, int64_t bytes, int fill) {
  bytes = HostArena::block_size(bytes);
  auto* data = static_cast<char*>(arena.allocate(bytes));
  std::memset(data, fill, size_t(bytes));
  return {data, bytes, fill};
}

bool is_whole(const Block& block) {
  for (int64_t i = 0; i < block.bytes; i += 509)
    if (block.data[i] != char(block.fill)) return false;
  return block.data[block.bytes - 1] == char(block.fill);
}

}  // namespace

TEST_CASE("what several blocks leave serves one large block", "[device][host_arena]") {
  HostArena arena;
  std::vector<Block> small;
  for (int i = 0; i < 8; ++i) small.push_back(make(arena, 2 * kMiB, i));
  const Block last = make(arena, kMiB, 9);
  for (size_t i : {1, 3, 5, 7, 6, 4, 2, 0}) arena.release(small[i].data, small[i].bytes);
  CHECK(arena.cached() == 16 * kMiB);
  const Block large = make(arena, 16 * kMiB, 1);
  CHECK(large.data == small[0].data);
  CHECK(arena.cached() == 0);
  CHECK(is_whole(last));
}

TEST_CASE("the smallest extent that fits is taken", "[device][host_arena]") {
  HostArena arena;
  const Block a = make(arena, 8 * kMiB, 1), wall = make(arena, kMiB, 2);
  const Block b = make(arena, 3 * kMiB, 3), other = make(arena, kMiB, 4);
  arena.release(a.data, a.bytes);
  arena.release(b.data, b.bytes);
  CHECK(make(arena, 2 * kMiB, 5).data == b.data);
  CHECK(make(arena, 4 * kMiB, 6).data == a.data);
  CHECK(is_whole(wall));
  CHECK(is_whole(other));
}

TEST_CASE("a free end grows into memory that was never written", "[device][host_arena]") {
  HostArena arena;
  const Block a = make(arena, kMiB, 1), b = make(arena, 2 * kMiB, 2);
  arena.release(b.data, b.bytes);
  CHECK(make(arena, 5 * kMiB, 3).data == b.data);
  CHECK(is_whole(a));
}

TEST_CASE("trimming gives memory back and leaves blocks in use alone", "[device][host_arena]") {
  HostArena arena;
  const Block a = make(arena, 3 * kMiB, 1), b = make(arena, 3 * kMiB, 2);
  const Block huge = make(arena, 80 * kMiB, 3);  // a reservation of its own
  arena.release(a.data, a.bytes);
  arena.release(huge.data, huge.bytes);
  CHECK(arena.cached() == 83 * kMiB);
  arena.trim();
  CHECK(arena.cached() == 0);
  CHECK(is_whole(b));
  const Block again = make(arena, 3 * kMiB, 4);
  CHECK(again.data == a.data);
  CHECK(is_whole(b));
  arena.release(again.data, again.bytes);
  arena.release(b.data, b.bytes);
  arena.trim();
  CHECK(arena.cached() == 0);
  CHECK(is_whole(make(arena, 2 * kMiB, 5)));
}

TEST_CASE("blocks never overlap, in any order of making and freeing", "[device][host_arena]") {
  HostArena arena;
  std::mt19937 random(7);
  std::vector<Block> blocks;
  int64_t used = 0, most = 0;
  for (int i = 0; i < 2000; ++i) {
    if (blocks.empty() || random() % 5 < 3) {
      blocks.push_back(make(arena, 1 + int64_t(random() % 200'000), int(random() % 100)));
      used += blocks.back().bytes;
      most = std::max(most, used + arena.cached());
    } else {
      const size_t n = random() % blocks.size();
      REQUIRE(is_whole(blocks[n]));
      arena.release(blocks[n].data, blocks[n].bytes);
      used -= blocks[n].bytes;
      blocks[n] = blocks.back();
      blocks.pop_back();
    }
    if (i % 500 == 499) arena.trim();
  }
  for (const Block& block : blocks) CHECK(is_whole(block));
  CHECK(most < 2 * used);  // the number of blocks only grows
  for (const Block& block : blocks) arena.release(block.data, block.bytes);
  arena.trim();
  CHECK(arena.cached() == 0);
}

TEST_CASE("under ulimit -v the last megabytes are left to others", "[device][host_arena]") {
  const pid_t child = ::fork();
  if (child == 0) {
    rlimit limit{rlim_t{1} << 46, RLIM_INFINITY};
    ::setrlimit(RLIMIT_AS, &limit);  // for address_room()
    limit.rlim_cur = rlim_t(distribute::address_room()->used + 48 * kMiB);
    ::setrlimit(RLIMIT_AS, &limit);
    HostArena arena;
    bool refused = false;
    try {
      arena.allocate(32 * kMiB);
    } catch (const distribute::ResourceExhaustedError&) {
      refused = true;
    }
    ::_exit(refused && arena.allocate(16 * kMiB) ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
}
