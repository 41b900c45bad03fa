#include "longtail/base/confine.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "longtail/base/text.h"

namespace longtail::base {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kMachine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kMachine = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t kMachine = 0;  // no filter for this machine: nothing is started
#endif

// What the child writes to the pipe if it could not start the program. If it could, exec closes the pipe.
constexpr char kCannotStart = 's';
constexpr char kCannotConfine = 'c';
constexpr std::uint32_t kWriting = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND;

// Calls that are refused whatever their arguments.
constexpr std::uint32_t kRefused[] = {
#ifdef __NR_fork
    __NR_fork,        __NR_vfork,        __NR_creat,
    __NR_unlink,      __NR_rmdir,        __NR_mkdir,
    __NR_rename,      __NR_link,         __NR_symlink,
    __NR_chmod,       __NR_chown,        __NR_lchown,
    __NR_mknod,       __NR_utime,        __NR_utimes,
#endif
#ifdef __NR_renameat
    __NR_renameat,
#endif
    __NR_execveat,    __NR_unlinkat,     __NR_mkdirat,
    __NR_renameat2,   __NR_linkat,       __NR_symlinkat,
    __NR_mknodat,     __NR_fchmod,       __NR_fchmodat,
    __NR_fchown,      __NR_fchownat,     __NR_truncate,
    __NR_setxattr,    __NR_lsetxattr,    __NR_fsetxattr,
    __NR_mount,       __NR_umount2,      __NR_chroot,
    __NR_pivot_root,  __NR_unshare,      __NR_setns,
    __NR_socket,      __NR_socketpair,   __NR_connect,
    __NR_bind,        __NR_ptrace,       __NR_process_vm_writev,
    __NR_kill,        __NR_tkill,        __NR_bpf,
    __NR_init_module, __NR_finit_module, __NR_kexec_load,
    __NR_memfd_create};
// Calls that the C library can do without: it is told that they do not exist and uses others. Their
// arguments are in memory, which a filter cannot read.
constexpr std::uint32_t kUnknown[] = {__NR_clone3, __NR_openat2, 425 /* io_uring_setup */};

constexpr std::size_t kNumber = offsetof(seccomp_data, nr);
constexpr std::size_t kArch = offsetof(seccomp_data, arch);
constexpr std::size_t low_half(std::size_t argument) {
  return offsetof(seccomp_data, args) + 8 * argument;  // little-endian, like every machine this runs on
}

class Filter {
 public:
  // `path` is the only program that may be started. The filter compares the address of this string, which is
  // in memory only until exec.
  explicit Filter(const char* path) {
    load(kArch);
    add(BPF_JMP | BPF_JEQ | BPF_K, kMachine, 1, 0);
    answer(SECCOMP_RET_KILL_PROCESS);
    load(kNumber);
#if defined(__x86_64__)
    add(BPF_JMP | BPF_JGE | BPF_K, 0x40000000U, 0, 1);  // call numbers of the x32 interface
    answer(SECCOMP_RET_KILL_PROCESS);
#endif
    for (const std::uint32_t call : kRefused) when(call, SECCOMP_RET_ERRNO | EPERM);
    for (const std::uint32_t call : kUnknown) when(call, SECCOMP_RET_ERRNO | ENOSYS);
    refuse_unless_set(__NR_clone, low_half(0), CLONE_THREAD);
#ifdef __NR_open
    refuse_if_set(__NR_open, low_half(1), kWriting);
#endif
    refuse_if_set(__NR_openat, low_half(2), kWriting);
    const auto address = reinterpret_cast<std::uintptr_t>(path);
    add(BPF_JMP | BPF_JEQ | BPF_K, __NR_execve, 0, 5);
    load(low_half(0));
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(address), 0, 2);
    load(low_half(0) + 4);
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(address >> 32U), 1, 0);
    answer(SECCOMP_RET_ERRNO | EPERM);
    answer(SECCOMP_RET_ALLOW);
  }

  sock_fprog program() { return {static_cast<unsigned short>(code_.size()), code_.data()}; }

 private:
  void add(int code, std::uint32_t value, int if_true, int if_false) {
    code_.push_back({static_cast<std::uint16_t>(code), static_cast<std::uint8_t>(if_true),
                     static_cast<std::uint8_t>(if_false), value});
  }
  void load(std::size_t offset) { add(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset), 0, 0); }
  void answer(std::uint32_t value) { add(BPF_RET | BPF_K, value, 0, 0); }
  void when(std::uint32_t call, std::uint32_t value) {
    add(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1);
    answer(value);
  }
  // Both expect the call number to be loaded, and leave it loaded.
  void refuse_if_set(std::uint32_t call, std::size_t argument, std::uint32_t bits) {
    add(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 4);
    load(argument);
    add(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1);
    answer(SECCOMP_RET_ERRNO | EPERM);
    load(kNumber);
  }
  void refuse_unless_set(std::uint32_t call, std::size_t argument, std::uint32_t bits) {
    add(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 4);
    load(argument);
    add(BPF_JMP | BPF_JSET | BPF_K, bits, 1, 0);
    answer(SECCOMP_RET_ERRNO | EPERM);
    load(kNumber);
  }

  std::vector<sock_filter> code_;
};

std::string found_in_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  for (const std::string& folder : split(path ? path : "/usr/local/bin:/usr/bin:/bin", ':')) {
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + program;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return "";
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> list;
  for (std::string& word : words) list.push_back(word.data());
  list.push_back(nullptr);
  return list;
}

// In the child, between fork and exec: only calls that are safe there.
[[noreturn]] void give_up(int teller, char why) {
  if (::write(teller, &why, 1) != 1) ::_exit(126);
  ::_exit(127);
}

[[noreturn]] void become(const char* path, char* const* arguments, char* const* environment,
                         const ConfinedOptions& options, sock_fprog* filter, int teller) {
  const int null = ::open("/dev/null", O_RDONLY);
  const int out = ::open(options.output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int err = ::open(options.messages.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (null < 0 || out < 0 || err < 0) give_up(teller, kCannotStart);
  ::dup2(null, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  constexpr int kTeller = 3;
  if (teller != kTeller) ::dup3(teller, kTeller, O_CLOEXEC);
  ::syscall(SYS_close_range, 4U, ~0U, 0U);  // those not marked close-on-exec
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filter, 0, 0) != 0) {
    give_up(kTeller, kCannotConfine);
  }
  ::execve(path, arguments, environment);
  give_up(kTeller, kCannotStart);
}

}  // namespace

ConfinedResult run_confined(const std::string& program, const std::vector<std::string>& arguments,
                            const ConfinedOptions& options) {
  if (kMachine == 0) return {ConfinedEnd::kNoFilter, 0};
  const std::string path = found_in_path(program);
  if (path.empty()) return {ConfinedEnd::kNoProgram, 0};
  std::vector<std::string> words = {program}, settings = options.environment;
  words.insert(words.end(), arguments.begin(), arguments.end());
  const std::vector<char*> argv = pointers(words), environment = pointers(settings);
  Filter filter(path.c_str());
  sock_fprog code = filter.program();
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {ConfinedEnd::kNoProgram, 0};
  const pid_t child = ::fork();
  if (child == 0) become(path.c_str(), argv.data(), environment.data(), options, &code, ends[1]);
  ::close(ends[1]);
  char why = 0;
  const bool told = child > 0 && ::read(ends[0], &why, 1) == 1;
  ::close(ends[0]);
  if (child < 0) return {ConfinedEnd::kNoProgram, 0};
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return {ConfinedEnd::kNoProgram, 0};
  }
  if (told) return {why == kCannotConfine ? ConfinedEnd::kNoFilter : ConfinedEnd::kNoProgram, 0};
  return {ConfinedEnd::kExited, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)};
}

}  // namespace longtail::base
