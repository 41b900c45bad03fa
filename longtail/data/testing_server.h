// For tests: a web server on loopback that can also misbehave.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace longtail::data {

class LoopbackServer {
 public:
  struct Request {
    std::string path;
    std::size_t from = 0;  // of a Range header
    bool ranged = false;
    int number = 0;  // of the request, from 0
  };
  struct Reply {
    int status = 200;
    std::string body;             // of the whole file; the range is cut from it
    bool ranges = true;           // honours a Range header
    std::size_t cut_after = ~0U;  // bytes of this answer after which the connection is closed
  };
  using Handler = std::function<Reply(const Request&)>;

  explicit LoopbackServer(Handler handler) : handler_(std::move(handler)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(listener_, 8) != 0)
      throw std::runtime_error("no port of this machine to listen on");
    socklen_t size = sizeof address;
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~LoopbackServer() {
    stop_ = true;
    thread_.join();
    ::close(listener_);
  }
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;

  std::string url(const std::string& path = "/") const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
  }
  std::vector<Request> requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  void serve() {
    while (!stop_) {
      pollfd waiting{listener_, POLLIN, 0};
      if (::poll(&waiting, 1, 20) <= 0) continue;
      const int client = ::accept(listener_, nullptr, nullptr);
      if (client < 0) continue;
      answer(client);
      ::close(client);
    }
  }

  void answer(int client) {
    std::string text;
    char buffer[4096];
    while (text.find("\r\n\r\n") == std::string::npos) {
      const ssize_t got = ::recv(client, buffer, sizeof buffer, 0);
      if (got <= 0) return;
      text.append(buffer, static_cast<std::size_t>(got));
    }
    Request request;
    request.path = text.substr(4, text.find(' ', 4) - 4);
    if (const auto range = text.find("Range: bytes="); range != std::string::npos) {
      request.ranged = true;
      request.from = std::stoul(text.substr(range + 13));
    }
    {
      const std::lock_guard lock(mutex_);
      request.number = static_cast<int>(requests_.size());
      requests_.push_back(request);
    }
    const Reply reply = handler_(request);
    const bool partial = reply.status == 200 && reply.ranges && request.ranged;
    const std::string body =
        partial ? reply.body.substr(std::min(request.from, reply.body.size())) : reply.body;
    std::string out =
        "HTTP/1.1 " + std::to_string(partial ? 206 : reply.status) + " X\r\nConnection: close\r\n";
    if (partial) {
      out += "Content-Range: bytes " + std::to_string(request.from) + "-" +
             std::to_string(reply.body.size() - 1) + "/" + std::to_string(reply.body.size()) + "\r\n";
    }
    out += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body.substr(0, reply.cut_after);
    for (std::size_t at = 0; at < out.size();) {
      const ssize_t put = ::send(client, out.data() + at, out.size() - at, MSG_NOSIGNAL);
      if (put <= 0) return;
      at += static_cast<std::size_t>(put);
    }
    ::shutdown(client, SHUT_WR);
    while (::recv(client, buffer, sizeof buffer, 0) > 0) {
    }
  }

  Handler handler_;
  int listener_ = -1;
  int port_ = 0;
  std::mutex mutex_;
  std::vector<Request> requests_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace longtail::data
