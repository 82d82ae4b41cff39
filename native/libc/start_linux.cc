// Where the keeper begins when it is linked without a libc: relocate ourselves, seed the stack protector, run
// main.
//
// A static glibc asks the processor 68 times about its features and caches before main, and in a virtual
// machine each question is an exit to the hypervisor: with the rest of its start-up, 0.6 ms for every
// terminal that is opened (docs/decisions/keeper-build.md). None of the answers is of use to a program that
// copies a few hundred bytes.
#include <asm/unistd.h>
#include <elf.h>
#include <linux/auxvec.h>

#include "libc/system_call.h"

#if defined(__has_attribute) && __has_attribute(no_stack_protector)
#define SPTY_START_ATTRIBUTES __attribute__((used, no_stack_protector))
#else
#define SPTY_START_ATTRIBUTES __attribute__((used))
#endif

extern "C" {

int main();
// Made by the linker. Hidden and not weak: their addresses must not need the relocations that are still to be
// done.
extern const Elf64_Dyn _DYNAMIC[] __attribute__((visibility("hidden")));
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern void (*const __init_array_start[])() __attribute__((visibility("hidden")));
extern void (*const __init_array_end[])() __attribute__((visibility("hidden")));

// Read by the compiler's own code at the edges of functions with buffers.
unsigned long __stack_chk_guard = 0;

[[noreturn]] void __stack_chk_fail() {
  spty::libc::SystemCall(__NR_kill, spty::libc::SystemCall(__NR_getpid), 6);
  for (;;) spty::libc::SystemCall(__NR_exit_group, 127);
}

// Called by _start with the stack as the kernel left it: argc, argv, NULL, environment, NULL, auxiliary
// vector. No stack protector here: its guard is not there yet.
[[noreturn]] SPTY_START_ATTRIBUTES void spty_start(const long* stack) {
  // Position-independent so that its address is random. All relocations of a static program are relative.
  const long base = spty::libc::Word(__ehdr_start);
  long relocations = 0;
  long size = 0;
  for (const Elf64_Dyn* entry = _DYNAMIC; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_RELA) relocations = base + static_cast<long>(entry->d_un.d_ptr);
    if (entry->d_tag == DT_RELASZ) size = static_cast<long>(entry->d_un.d_val);
  }
  const auto* first = reinterpret_cast<const Elf64_Rela*>(relocations);
  for (const Elf64_Rela* each = first; each < first + size / static_cast<long>(sizeof *first); ++each) {
    *reinterpret_cast<long*>(base + static_cast<long>(each->r_offset)) = base + each->r_addend;
  }

  const long* at = stack + 1 + stack[0] + 1;
  while (*at != 0) ++at;
  for (++at; at[0] != AT_NULL; at += 2) {
    if (at[0] != AT_RANDOM) continue;
    // The lowest byte stays zero, so that no string operation can write the guard back.
    __stack_chk_guard = *reinterpret_cast<const unsigned long*>(at[1]) & ~0xffUL;
  }
  for (void (*const* init)() = __init_array_start; init != __init_array_end; ++init) (*init)();
  for (int status = main();;) spty::libc::SystemCall(__NR_exit_group, status);
}

}  // extern "C"

#if defined(__x86_64__)
__asm__(
    ".text\n.globl _start\n.type _start, @function\n_start:\n"
    "  endbr64\n  xorl %ebp, %ebp\n  movq %rsp, %rdi\n  andq $-16, %rsp\n  call spty_start\n  hlt\n"
    ".size _start, . - _start\n");
#elif defined(__aarch64__)
__asm__(
    ".text\n.globl _start\n.type _start, %function\n_start:\n"
    "  mov x29, #0\n  mov x30, #0\n  mov x0, sp\n  and sp, x0, #-16\n  bl spty_start\n  brk #0\n"
    ".size _start, . - _start\n");
#endif
