// A small HTTP server for a user at this machine: on 127.0.0.1 only, GET and HEAD only, one thread, nothing
// stored. It answers only requests for the host `localhost`, 127.0.0.1 or [::1], so that a page elsewhere
// that lets its own name point to 127.0.0.1 (DNS rebinding) is refused. It serves what the handler returns
// and reads no files.
//
//   LoopbackServer server(8765, [](const std::string& path) { ... return answer; });
//   while (!interrupted()) { server.serve(250ms); if (news) server.send_event("change", "7"); }
#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <string>
#include <string_view>

namespace longtail::base {

struct HttpAnswer {
  int code = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body{};
  bool events = false;  // keep the connection open and send it what send_event() gets
};

class LoopbackServer {
 public:
  // Gets the path of the request, without `?` and what follows it.
  using Handler = std::function<HttpAnswer(const std::string& path)>;
  // An Error if the port is taken; 0 takes a free one.
  LoopbackServer(int port, Handler handler);
  ~LoopbackServer();
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;

  int port() const { return port_; }
  // Answers requests for this long, or until a signal arrives.
  void serve(std::chrono::milliseconds time);
  // Sends an event to every client whose answer had `events` set. `name` and `data` are one line each.
  void send_event(std::string_view name, std::string_view data);

 private:
  struct Guest;
  void welcome();
  void hear(Guest& guest);
  void talk(Guest& guest);
  void drop_idle();

  int listener_ = -1;
  int port_ = 0;
  Handler handler_;
  std::list<Guest> guests_;
};

namespace detail {
// The answer to a request that must not reach the handler. Its body is empty for a GET or HEAD to a name of
// this machine; `path` and `head` are then filled in.
HttpAnswer refuse_request(std::string_view request, std::string& path, bool& head);
}  // namespace detail

}  // namespace longtail::base
