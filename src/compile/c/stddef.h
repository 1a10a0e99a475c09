#ifndef offsetof
#define offsetof(TYPE, MEMBER) ((size_t)__INTADDR__(&((TYPE *)0)->MEMBER))
#endif
