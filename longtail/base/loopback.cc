#include "longtail/base/loopback.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <vector>

#include "longtail/base/error.h"
#include "longtail/base/text.h"

namespace longtail::base {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kLongestRequest = 16384;
constexpr std::size_t kMostGuests = 64;
constexpr std::size_t kMostUnread = std::size_t{64} << 20;  // output for a guest that does not read
constexpr std::chrono::seconds kPatience(20);  // for a request to be complete and an answer to be read
constexpr std::chrono::seconds kPulse(15);     // a listener that is gone is only noticed by writing to it

std::string_view reason(int code) {
  switch (code) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    default:
      return "Internal Server Error";
  }
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

// localhost:8765, 127.0.0.1, [::1]:80. Any port is accepted: the other end of a tunnel has another one.
bool names_this_machine(std::string_view host) {
  const std::string name = lower(trim(host));
  const std::size_t colon = name.starts_with('[') ? name.find("]:") + 1 : name.find(':');
  const bool port = colon != std::string::npos && colon > 0;
  const std::string digits = port ? name.substr(colon + 1) : "0";
  const std::string bare = port ? name.substr(0, colon) : name;
  return !digits.empty() && digits.size() <= 5 && std::all_of(digits.begin(), digits.end(), ::isdigit) &&
         (bare == "localhost" || bare == "127.0.0.1" || bare == "[::1]");
}

std::string text_of(const HttpAnswer& answer, bool head) {
  std::string out = fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
      "X-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: "
      "same-origin\r\n",
      answer.code, reason(answer.code), answer.type);
  if (answer.code == 405) out += "Allow: GET, HEAD\r\n";
  if (answer.events) return out + "\r\n: here\n\n";
  out += fmt::format("Connection: close\r\nContent-Length: {}\r\n\r\n", answer.body.size());
  return head ? out : out + answer.body;
}

}  // namespace

namespace detail {

HttpAnswer refuse_request(std::string_view request, std::string& path, bool& head) {
  const std::vector<std::string> lines = split(request, '\n');
  const std::vector<std::string> first = split(trim(lines[0]), ' ');
  if (first.size() != 3 || !first[2].starts_with("HTTP/1.")) return {400, "text/plain", "not a request\n"};
  int hosts = 0;
  bool ours = false;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::size_t colon = lines[i].find(':');
    if (colon == std::string::npos || lower(lines[i].substr(0, colon)) != "host") continue;
    ++hosts;
    ours = names_this_machine(std::string_view(lines[i]).substr(colon + 1));
  }
  if (hosts != 1 || !ours) return {403, "text/plain", "ask for localhost or 127.0.0.1\n"};
  if (first[0] != "GET" && first[0] != "HEAD") return {405, "text/plain", "this page can only be read\n"};
  head = first[0] == "HEAD";
  path = first[1].substr(0, first[1].find('?'));
  return {};
}

}  // namespace detail

struct LoopbackServer::Guest {
  explicit Guest(int descriptor) : fd(descriptor) {}
  int fd;
  std::string heard{}, unsaid{};
  bool listens = false;  // to events
  bool answered = false;
  bool gone = false;
  Clock::time_point since = Clock::now();
};

LoopbackServer::LoopbackServer(int port, Handler handler) : handler_(std::move(handler)) {
  if (port < 0 || port > 65535)
    fail<UsageError>("{} is no port; one is from 1 to 65535, 0 takes a free one", port);
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (listener_ < 0) fail("cannot open a socket: {}", std::strerror(errno));
  const int yes = 1;
  ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(listener_, 16) != 0 ||
      ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    const int error = errno;
    ::close(listener_);
    if (error == EADDRINUSE) fail("port {} is taken by another program; --port 0 takes a free one", port);
    fail("cannot listen on port {} of 127.0.0.1: {}", port, std::strerror(error));
  }
  port_ = ntohs(address.sin_port);
}

LoopbackServer::~LoopbackServer() {
  for (const Guest& guest : guests_) ::close(guest.fd);
  ::close(listener_);
}

void LoopbackServer::welcome() {
  for (;;) {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    if (guests_.size() >= kMostGuests) {
      ::close(fd);
      continue;
    }
    guests_.emplace_back(fd);
  }
}

void LoopbackServer::hear(Guest& guest) {
  std::array<char, 4096> part{};
  const ssize_t got = ::recv(guest.fd, part.data(), part.size(), 0);
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) guest.gone = true;
  if (got <= 0 || guest.answered) return;
  guest.heard.append(part.data(), static_cast<std::size_t>(got));
  const std::size_t end = guest.heard.find("\r\n\r\n");
  if (end == std::string::npos) {
    if (guest.heard.size() <= kLongestRequest) return;
    guest.unsaid = text_of({400, "text/plain", "the request is too long\n"}, false);
    guest.answered = true;
    return;
  }
  std::string path;
  bool head = false;
  HttpAnswer answer = detail::refuse_request(std::string_view(guest.heard).substr(0, end), path, head);
  if (answer.body.empty()) {
    try {
      answer = handler_(path);
    } catch (const Error& error) {
      answer = {500, "text/plain; charset=utf-8", std::string(error.what()) + "\n"};
    }
  }
  guest.answered = true;
  guest.listens = answer.events && !head;
  guest.unsaid = text_of(answer, head);
  guest.heard.clear();
  guest.since = Clock::now();
}

void LoopbackServer::talk(Guest& guest) {
  while (!guest.unsaid.empty()) {
    const ssize_t put = ::send(guest.fd, guest.unsaid.data(), guest.unsaid.size(), MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      guest.gone = errno != EAGAIN;
      return;
    }
    guest.unsaid.erase(0, static_cast<std::size_t>(put));
    guest.since = Clock::now();
  }
  if (guest.answered && !guest.listens) {
    ::shutdown(guest.fd, SHUT_WR);
    guest.gone = true;
  }
}

void LoopbackServer::drop_idle() {
  const auto now = Clock::now();
  for (Guest& guest : guests_) {
    if (guest.listens && guest.unsaid.empty() && now - guest.since > kPulse)
      guest.unsaid = ": still here\n\n";
    const bool stuck = !guest.listens || !guest.unsaid.empty();
    if ((stuck && now - guest.since > kPatience) || guest.unsaid.size() > kMostUnread) guest.gone = true;
  }
  for (auto guest = guests_.begin(); guest != guests_.end();) {
    if (guest->gone) ::close(guest->fd);
    guest = guest->gone ? guests_.erase(guest) : std::next(guest);
  }
}

void LoopbackServer::serve(std::chrono::milliseconds time) {
  const auto end = Clock::now() + time;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) return;
    std::vector<pollfd> waits = {{listener_, POLLIN, 0}};
    for (const Guest& guest : guests_) {
      waits.push_back({guest.fd, static_cast<short>(guest.unsaid.empty() ? POLLIN : POLLIN | POLLOUT), 0});
    }
    if (::poll(waits.data(), waits.size(), static_cast<int>(left)) < 0) return;  // a signal: the caller acts
    std::size_t at = 1;
    for (Guest& guest : guests_) {
      if ((waits[at++].revents & (POLLIN | POLLHUP | POLLERR)) != 0) hear(guest);
      if (!guest.gone) talk(guest);
    }
    if (waits[0].revents != 0) welcome();
    drop_idle();
  }
}

void LoopbackServer::send_event(std::string_view name, std::string_view data) {
  for (Guest& guest : guests_) {
    if (!guest.listens) continue;
    guest.unsaid += fmt::format("event: {}\ndata: {}\n\n", name, data);
    talk(guest);
  }
}

}  // namespace longtail::base
