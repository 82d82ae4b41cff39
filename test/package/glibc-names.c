// What a C++ library that was built for glibc asks for and musl does not have; see scripts/test-musl.sh. Enough to run tests.
typedef unsigned long size_t;
typedef long ssize_t;

void* memmove(void*, const void*, size_t);
void* memcpy(void*, const void*, size_t);
ssize_t getrandom(void*, size_t, unsigned);
size_t strftime_l(char*, size_t, const char*, const void*, void*);

char __libc_single_threaded = 0;
unsigned __cpu_model[4];

unsigned arc4random(void) {
  unsigned value = 0;
  getrandom(&value, sizeof value, 0);
  return value;
}

size_t __strftime_l(char* out, size_t size, const char* format, const void* time, void* locale) {
  return strftime_l(out, size, format, time, locale);
}

// Never called back: what is local to a thread is not destroyed.
int __cxa_thread_atexit_impl(void (*destroy)(void*), void* object, void* library) {
  (void)destroy, (void)object, (void)library;
  return 0;
}

// Not found: the unwinder asks dl_iterate_phdr instead.
int _dl_find_object(void* address, void* result) {
  (void)address, (void)result;
  return -1;
}

int __cpu_indicator_init(void) { return 0; }

// std::string::_M_replace_cold, which GCC 13 moved out of line: replaces `old_length` characters at `at`, followed by `rest`
// more, by `length` characters that may lie in the same string.
void _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE15_M_replace_coldEPcmPKcmm(void* self, char* at, size_t old_length,
                                                                                  const char* text, size_t length, size_t rest) {
  (void)self;
  if (length != 0 && length <= old_length) memmove(at, text, length);
  if (rest != 0 && old_length != length) memmove(at + length, at + old_length, rest);
  if (length <= old_length) return;
  if (text + length <= at + old_length) {
    memmove(at, text, length);
  } else if (text >= at + old_length) {
    memcpy(at, text + (length - old_length), length);
  } else {
    const size_t before = (size_t)(at + old_length - text);
    memmove(at, text, before);
    memcpy(at + before, at + length, length - before);
  }
}
