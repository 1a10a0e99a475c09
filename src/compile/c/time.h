#ifndef CLOCKS_PER_SEC
#define CLOCKS_PER_SEC ((clock_t) 1000000)
// As libcu++ defines it, which may come, too.
typedef long long time_t;
#endif
