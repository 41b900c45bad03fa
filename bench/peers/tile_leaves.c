// Lets oneDNN's AMX kernels run on virtual machines that have tiles but hide the CPUID leaves that describe
// them (0x1d and 0x1e): oneDNN 2.6 then configures no tiles and dies of an illegal instruction at the first
// one. Preload it into PyTorch to race its true best:
//
//   cc -O1 -shared -fPIC -o tile_leaves.so tile_leaves.c && LD_PRELOAD=./tile_leaves.so python3 ...
//
// It asks the kernel to make CPUID fault (arch_prctl ARCH_SET_CPUID), answers each by the real one, and fills
// in the two leaves with what every CPU with tiles has so far: 8 tiles of 16 rows of 64 bytes. Linux on
// x86-64 only.
#define _GNU_SOURCE
#include <cpuid.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { kSetCpuid = 0x1012 };

static struct sigaction previous;

static void answer(uint32_t leaf, uint32_t sub, uint32_t r[4]) {
  syscall(SYS_arch_prctl, kSetCpuid, 1);
  __cpuid_count(leaf, sub, r[0], r[1], r[2], r[3]);
  syscall(SYS_arch_prctl, kSetCpuid, 0);
  if (leaf == 0 && r[0] < 0x1e) r[0] = 0x1e;
  if (leaf == 0x1d) {
    r[0] = sub == 0 ? 1 : sub == 1 ? (1024u << 16) | 8192u : 0;  // palettes; bytes of a tile, of all
    r[1] = sub == 1 ? (8u << 16) | 64u : 0;                      // tiles, bytes of a row
    r[2] = sub == 1 ? 16 : 0;                                    // rows
    r[3] = 0;
  }
  if (leaf == 0x1e) {
    r[0] = r[2] = r[3] = 0;
    r[1] = sub == 0 ? (64u << 8) | 16u : 0;  // columns in bytes, rows of the multiplier
  }
}

static void on_fault(int signal, siginfo_t* info, void* context) {
  greg_t* g = ((ucontext_t*)context)->uc_mcontext.gregs;
  const unsigned char* code = (const unsigned char*)g[REG_RIP];
  if (info->si_addr != NULL || code[0] != 0x0f || code[1] != 0xa2) {  // not a CPUID: a real fault
    sigaction(signal, &previous, NULL);
    return;
  }
  uint32_t r[4];
  answer((uint32_t)g[REG_RAX], (uint32_t)g[REG_RCX], r);
  g[REG_RAX] = r[0];
  g[REG_RBX] = r[1];
  g[REG_RCX] = r[2];
  g[REG_RDX] = r[3];
  g[REG_RIP] += 2;
}

__attribute__((constructor)) static void start(void) {
  uint32_t a, b, c, d;
  __cpuid_count(0, 0, a, b, c, d);
  if (a >= 0x1e) return;  // nothing is hidden here
  struct sigaction action = {0};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGSEGV, &action, &previous);
  syscall(SYS_arch_prctl, kSetCpuid, 0);
}
