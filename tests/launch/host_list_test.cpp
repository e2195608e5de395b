#include <distribute/base/error.hpp>
#include <distribute/launch/launcher.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/temporary_directory.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace distribute;
using namespace distribute::launch;

namespace {

/// "a:2 b:1"
std::string text_of(const std::vector<Host>& hosts) {
  std::string text;
  for (const Host& host : hosts)
    text += (text.empty() ? "" : " ") + host.name + ":" + std::to_string(host.slots);
  return text;
}

}  // namespace

TEST_CASE("a list names hosts and their slots", "[launch][host_list]") {
  CHECK(text_of(parse_host_list("node1:4,node2:2")) == "node1:4 node2:2");
  CHECK(text_of(parse_host_list("node1,node2")) == "node1:1 node2:1");
  CHECK(text_of(parse_host_list("a:2,b,a:3")) == "a:5 b:1");
  CHECK(text_of(parse_host_list("user@10.0.0.1:2")) == "user@10.0.0.1:2");
  CHECK(text_of(parse_host_list("[fd00::1]:2,fd00::2,me@[::1]")) == "fd00::1:2 fd00::2:1 me@::1:1");
  CHECK(count_slots(parse_host_list("a:2,b,a:3")) == 6);
  CHECK(parse_host_list("user@node1")[0].address() == "node1");
}

TEST_CASE("what is no list of hosts is refused with the part that is wrong",
          "[launch][host_list]") {
  // clang-format off
  const char* const bad[] = {
      "", ",", "a,", "a,,b", ":2", "a:", "a:0", "a:-1", "a:x", "a:2x", "a: 2", "a:65537",
      "10.0.0.1:22:2", "node1:22:2", "me@node1:22:2", "fd00::1::2",
      "a:9999999999999999999999", "[::1", "[::1]2", "[::1]:", "[]:2", "x[::1]:2",
      "-oProxyCommand=x", "a b", "a;b", "$(x)", "a'b", "a\nb", "-v:2", "\"a\"", "a/b", "a|b"};
  // clang-format on
  for (const char* text : bad) {
    INFO("'" << text << "'");
    CHECK_THROWS_AS(parse_host_list(text), InvalidArgumentError);
  }
  CHECK_THROWS_WITH(parse_host_list("a:2,b:x"), Contains("'x'"));
  CHECK_THROWS_WITH(parse_host_list("10.0.0.1:22:2"),
                    Contains("'10.0.0.1:22:2' is not name:slots"));
  CHECK(text_of(parse_host_list("fe80::1%eth0,me@fe80::2%eth0")) ==
        "fe80::1%eth0:1 me@fe80::2%eth0:1");
  CHECK_THROWS_WITH(parse_host_list("a,-v"), Contains("'-v' is not the name of a host"));
}

TEST_CASE("a host file may have Open MPI's other spellings", "[launch][host_list]") {
  CHECK(text_of(parse_host_file("node1 slots = 2 max-slots=4\nnode2 slots= 3\nnode3 slots =4 "
                                "max_slots = 9\n",
                                "f")) == "node1:2 node2:3 node3:4");
  CHECK_THROWS_WITH(parse_host_file("node1 slots =\n", "f"), Contains("f, line 1"));
  CHECK_THROWS_WITH(parse_host_file("node1 slots 2\n", "f"), Contains("'slots' is not understood"));
}

TEST_CASE("a host file may be written for Open MPI, for MPICH or by PBS", "[launch][host_list]") {
  CHECK(text_of(parse_host_file(
            "# cluster\nnode1 slots=4 max_slots=8\n\n  node2\tslots=2 # old\r\n", "f")) ==
        "node1:4 node2:2");
  CHECK(text_of(parse_host_file("node1:4\nnode2:2", "f")) == "node1:4 node2:2");
  CHECK(text_of(parse_host_file("node1\nnode1\nnode2\n", "f")) == "node1:2 node2:1");
}

TEST_CASE("a bad host file is refused with its name and line", "[launch][host_list]") {
  CHECK_THROWS_WITH(parse_host_file("a\n\nb slots=zero\n", "hosts"), Contains("hosts, line 3"));
  CHECK_THROWS_WITH(parse_host_file("a 4\n", "hosts"), Contains("'4' is not understood"));
  CHECK_THROWS_WITH(parse_host_file("# no host\n", "hosts"), Contains("names no host"));
  CHECK_THROWS_AS(parse_host_file(std::string("a\0b", 3), "hosts"), InvalidArgumentError);
  CHECK_THROWS_AS(read_host_file("/no/such/file"), NotFoundError);
  const TemporaryDirectory directory;
  CHECK_THROWS_AS(read_host_file(directory.path()), Error);
  std::ofstream(directory / "hosts") << "node1 slots=3\n";
  CHECK(text_of(read_host_file(directory / "hosts")) == "node1:3");
}

TEST_CASE("this machine is known by the addresses of its interfaces", "[launch][host_list]") {
  // The address that the system would send from; a UDP socket sends nothing to find it.
  const int socket = ::socket(AF_INET, SOCK_DGRAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(9);
  ::inet_pton(AF_INET, "192.0.2.1", &address.sin_addr);  // reserved for documentation
  const int connected =
      ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  socklen_t size = sizeof(address);
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  ::close(socket);
  if (connected != 0) SKIP("this machine has no network");
  char text[64] = "";
  ::inet_ntop(AF_INET, &address.sin_addr, text, sizeof(text));
  CHECK(Host{text}.is_local());
  CHECK_FALSE(Host{text}.is_loopback());
  CHECK_FALSE(Host{"192.0.2.1"}.is_local());
}

TEST_CASE("this machine is known by its names", "[launch][host_list]") {
  char own[256] = "";
  ::gethostname(own, sizeof(own) - 1);
  for (const std::string& name : {std::string("localhost"), std::string("127.0.0.1"),
                                  std::string("127.1.2.3"), std::string("::1"), std::string(own)})
    CHECK(Host{name}.is_local());
  for (const char* name : {"elsewhere", "10.1.2.3", "localhost.elsewhere", "me@elsewhere"})
    CHECK_FALSE(Host{name}.is_local());
}
