#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/launch/launcher.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace distribute::launch_internal {

using launch::Host;

/// Whether an interface of this machine has the address.
DISTRIBUTE_INLINE bool is_own_address(const std::string& text) {
  ifaddrs* interfaces = nullptr;
  if (::getifaddrs(&interfaces) != 0) return false;
  bool found = false;
  for (const ifaddrs* entry = interfaces; entry && !found; entry = entry->ifa_next) {
    char address[64] = "";
    const int family = entry->ifa_addr ? entry->ifa_addr->sa_family : AF_UNSPEC;
    const socklen_t size = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    found = (family == AF_INET || family == AF_INET6) &&
            ::getnameinfo(entry->ifa_addr, size, address, sizeof(address), nullptr, 0,
                          NI_NUMERICHOST) == 0 &&
            text == address;
  }
  ::freeifaddrs(interfaces);
  return found;
}

inline constexpr int kMostSlots = 65536;

DISTRIBUTE_INLINE int parse_slots(std::string_view text, const std::string& where) {
  int slots = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), slots);
  if (error != std::errc() || end != text.data() + text.size() || slots < 1 || slots > kMostSlots)
    throw InvalidArgumentError(
        str_cat(where, ": the number of slots is 1 to ", kMostSlots, ", not '", text, "'"));
  return slots;
}

/// Names that ssh, a shell and TF_CONFIG take as they are; a leading '-' would be an option of ssh.
DISTRIBUTE_INLINE void check_host_name(std::string_view name, const std::string& where) {
  bool good = !name.empty() && name[0] != '-';
  for (const char c : name)
    good = good && (std::isalnum(static_cast<unsigned char>(c)) ||
                    std::string_view(".-_:@%").find(c) != std::string_view::npos);
  if (!good) throw InvalidArgumentError(str_cat(where, ": '", name, "' is not the name of a host"));
}

/// Whether it is an IPv6 address, which may have a zone such as "%eth0".
DISTRIBUTE_INLINE bool is_ipv6(const std::string& text) {
  in6_addr address;
  return ::inet_pton(AF_INET6, text.substr(0, text.find('%')).c_str(), &address) == 1;
}

/// Parses "name", "name:slots", "[v6]:slots", "v6".
DISTRIBUTE_INLINE Host parse_host(std::string_view text, const std::string& where) {
  Host host;
  std::string_view slots;
  const size_t open = text.find('['), close = text.find(']');
  if (open != std::string_view::npos) {
    if (close == std::string_view::npos || (close + 1 < text.size() && text[close + 1] != ':') ||
        (open > 0 && text[open - 1] != '@'))
      throw InvalidArgumentError(str_cat(where, ": '", text, "' is not [address]:slots"));
    host.name =
        std::string(text.substr(0, open)) + std::string(text.substr(open + 1, close - open - 1));
    if (close + 1 < text.size()) slots = text.substr(close + 2);
    if (close + 2 == text.size()) parse_slots("", where);
  } else {
    const size_t colon = text.find(':');
    const bool one = colon != std::string_view::npos && text.rfind(':') == colon;
    host.name = std::string(one ? text.substr(0, colon) : text);
    if (one) slots = text.substr(colon + 1);
    if (one && slots.empty()) parse_slots("", where);
  }
  check_host_name(host.name, where);
  const std::string address = host.address();
  if (address.find(':') != std::string::npos && !is_ipv6(address))
    throw InvalidArgumentError(
        str_cat(where, ": '", text,
                "' is not name:slots; a port of ssh is set in ~/.ssh/config or by DISTRIBUTE_SSH"));
  if (!slots.empty()) host.slots = parse_slots(slots, where);
  return host;
}

DISTRIBUTE_INLINE void add_host(std::vector<Host>& hosts, const Host& host) {
  for (Host& known : hosts) {
    if (known.name != host.name) continue;
    known.slots += host.slots;
    return;
  }
  hosts.push_back(host);
}

/// Returns the words of a line up to '#'.
DISTRIBUTE_INLINE std::vector<std::string_view> words_of(std::string_view line) {
  line = line.substr(0, line.find('#'));
  std::vector<std::string_view> words;
  constexpr std::string_view kBlank = " \t\r";
  for (size_t at = line.find_first_not_of(kBlank); at != std::string_view::npos;
       at = line.find_first_not_of(kBlank, at)) {
    const size_t end = std::min(line.find_first_of(kBlank, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

DISTRIBUTE_INLINE Host parse_host_line(const std::vector<std::string_view>& words,
                                       const std::string& where) {
  Host host = parse_host(words[0], where);
  for (size_t i = 1; i < words.size(); ++i) {
    std::string word(words[i]);
    // Open MPI takes blanks around the sign.
    if (i + 1 < words.size() && (words[i + 1].starts_with('=') || word.ends_with('=')))
      word.append(words[++i]);
    if (i + 1 < words.size() && word.ends_with('=')) word.append(words[++i]);
    constexpr std::string_view kSlots = "slots=";
    if (word.starts_with(kSlots))
      host.slots = parse_slots(std::string_view(word).substr(kSlots.size()), where);
    else if (!word.starts_with("max_slots=") && !word.starts_with("max-slots="))
      throw InvalidArgumentError(
          str_cat(where, ": '", word, "' is not understood; a line is: host slots=N"));
  }
  return host;
}

}  // namespace distribute::launch_internal

namespace distribute::launch {

DISTRIBUTE_INLINE std::string Host::address() const { return name.substr(name.find('@') + 1); }

DISTRIBUTE_INLINE bool Host::is_loopback() const {
  return name == "localhost" || name == "::1" || name.starts_with("127.");
}

DISTRIBUTE_INLINE bool Host::is_local() const {
  char own[256] = "";
  ::gethostname(own, sizeof(own) - 1);
  return is_loopback() || (own[0] && name == own) || launch_internal::is_own_address(name);
}

DISTRIBUTE_INLINE std::vector<Host> parse_host_list(std::string_view text) {
  std::vector<Host> hosts;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    launch_internal::add_host(
        hosts, launch_internal::parse_host(text.substr(at, end - at), str_cat("-H ", text)));
    at = end + 1;
  }
  return hosts;
}

DISTRIBUTE_INLINE std::vector<Host> parse_host_file(std::string_view text,
                                                    const std::string& source) {
  std::vector<Host> hosts;
  int line = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const auto words = launch_internal::words_of(text.substr(at, end - at));
    at = end + 1;
    ++line;
    if (!words.empty())
      launch_internal::add_host(
          hosts, launch_internal::parse_host_line(words, str_cat(source, ", line ", line)));
  }
  if (hosts.empty()) throw InvalidArgumentError(source + ": the file names no host");
  return hosts;
}

DISTRIBUTE_INLINE std::vector<Host> read_host_file(const std::string& path) {
  return parse_host_file(untrusted::read_text_file(path), path);
}

DISTRIBUTE_INLINE int count_slots(const std::vector<Host>& hosts) {
  int slots = 0;
  for (const Host& host : hosts) slots += host.slots;
  return slots;
}

}  // namespace distribute::launch
