#include "longtail/base/loopback.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "longtail/base/error.h"

namespace longtail::base {
namespace {

using std::chrono::milliseconds;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// A server in a thread of its own, and what it says to raw requests.
class Loopback : public testing::Test {
 protected:
  void SetUp() override {
    thread_ = std::thread([this] {
      while (!stop_) {
        server_.serve(milliseconds(20));
        if (events_.exchange(false)) server_.send_event("change", "7");
      }
    });
  }
  void TearDown() override {
    stop_ = true;
    thread_.join();
  }
  int connect() const {
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(server_.port()));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    return fd;
  }
  static void send(int fd, const std::string& text) {
    EXPECT_EQ(::send(fd, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
  }
  // Until the server closes, or `words` have come.
  static std::string receive(int fd, const std::string& words = "") {
    std::string all;
    char part[512];
    for (ssize_t got = 1; got > 0 && (words.empty() || all.find(words) == std::string::npos);) {
      got = ::recv(fd, part, sizeof part, 0);
      if (got > 0) all.append(part, static_cast<std::size_t>(got));
    }
    return all;
  }
  std::string ask(const std::string& request) const {
    const int fd = connect();
    send(fd, request);
    const std::string answer = receive(fd);
    ::close(fd);
    return answer;
  }
  std::string get(const std::string& path, const std::string& host = "localhost") const {
    return ask("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
  }

  LoopbackServer server_{0, [this](const std::string& path) -> HttpAnswer {
                           asked_.push_back(path);
                           if (path == "/") return {200, "text/html", std::string(300000, 'x') + "end"};
                           if (path == "/events") return {200, "text/event-stream", "", true};
                           if (path == "/bad") fail("it went wrong");
                           return {404, "text/plain", "nothing\n"};
                         }};
  std::vector<std::string> asked_;
  std::atomic<bool> stop_ = false, events_ = false;
  std::thread thread_;
};

TEST_F(Loopback, GivesAWholeAnswerAndItsLength) {
  const std::string answer = get("/?x=1");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("Content-Length: 300003\r\n"));
  EXPECT_THAT(answer, HasSubstr("X-Content-Type-Options: nosniff\r\n"));
  EXPECT_THAT(answer, EndsWith("end"));
  EXPECT_THAT(ask("HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n"), EndsWith("\r\n\r\n"));
}

TEST_F(Loopback, AnswersOnlyWhoAsksForThisMachineByName) {
  for (const char* host : {"localhost", "LocalHost:8765", "127.0.0.1:1", "[::1]:99", "[::1]"})
    EXPECT_THAT(get("/x", host), StartsWith("HTTP/1.1 404")) << host;
  asked_.clear();
  for (const char* host : {"evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80",
                           "localhost:80:80", "localhost:x", "", "192.168.1.7", "0.0.0.0", "[::1]evil"}) {
    EXPECT_THAT(get("/", host), StartsWith("HTTP/1.1 403")) << host;
  }
  EXPECT_THAT(ask("GET / HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 403")) << "no name at all";
  EXPECT_THAT(ask("GET / HTTP/1.1\r\nHost: evil\r\nHost: localhost\r\n\r\n"), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(asked_, testing::IsEmpty()) << "nobody was asked for the page";
}

TEST_F(Loopback, CanOnlyBeRead) {
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "get"}) {
    EXPECT_THAT(ask(std::string(method) + " / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
                StartsWith("HTTP/1.1 405"));
  }
  EXPECT_THAT(ask("nonsense\r\n\r\n"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(ask("GET /" + std::string(20000, 'a')), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(get("/bad"), HasSubstr("it went wrong"));
}

TEST_F(Loopback, TellsEventsToWhoListensAndToNobodyElse) {
  const int listener = connect(), silent = connect();
  send(listener, "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(receive(listener, ": here\n\n"), HasSubstr("Content-Type: text/event-stream"));
  events_ = true;
  EXPECT_EQ(receive(listener, "\n\n"), "event: change\ndata: 7\n\n");
  EXPECT_THAT(get("/x"), Not(HasSubstr("change")));
  ::close(listener);
  ::close(silent);
  events_ = true;  // to somebody who is gone: no signal ends the process
  EXPECT_THAT(get("/x"), StartsWith("HTTP/1.1 404"));
}

TEST_F(Loopback, ListensOnTheLoopbackAddressAlone) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(server_.port()));
  ::inet_pton(AF_INET, "127.0.0.2", &address.sin_addr);  // another address of the same machine
  EXPECT_NE(::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ::close(fd);
}

TEST(LoopbackTest, APortThatIsTakenIsSaid) {
  const LoopbackServer first(0, [](const std::string&) { return HttpAnswer{}; });
  try {
    const LoopbackServer second(first.port(), [](const std::string&) { return HttpAnswer{}; });
    ADD_FAILURE() << "two servers on one port";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("is taken by another program; --port 0 takes a free one"));
  }
  EXPECT_THROW(LoopbackServer(70000, [](const std::string&) { return HttpAnswer{}; }), UsageError);
}

}  // namespace
}  // namespace longtail::base
