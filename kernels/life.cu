/*---
title   = "Life"
summary = "Conway's game of life on a torus: what lives is coloured by its age, what died fades"

[constant]
w     = 1280               # cells along x, periodic; a multiple of 4
h     = 720                # cells along y, periodic
speed = 2                  # `generations` to start with
left  = 15444              # who lives of the kaleidoscope after 120: as a program that counts neighbours has it

[constant.cpu]
w     = 640
h     = 360
left  = 3796

[array.cells]              # four cells a word, a byte each: from 128 on alive, by age; below dead, fading
type   = "unsigned int"
count  = "w / 4 * h"
double = true

[texture.picture]
format = "rgba8"
size   = ["w", "h"]

[param.generations]
label = "generations a picture"
value = "speed"
min   = 1
max   = 64
log   = true

[param.start]              # on reset
value   = 4
choices = ["R-pentomino", "acorn", "Gosper's gun", "soup", "kaleidoscope"]

[param.share]
label = "share that lives at first"
value = 0.38
min   = 0.05
max   = 0.9

[param.brush]
value = 6.0
min   = 1.0
max   = 50.0
log   = true
unit  = "cells"

[[pass]]
kernel = "sow"
on     = "reset"
over   = "cells"

[[pass]]
kernel = "live"
over   = "cells"
repeat = "generations"

[[pass]]
kernel = "paint"
over   = "picture"

[view]
kind    = "image"
texture = "picture"

[[stat]]
name   = "population"
of     = "cells"
map    = "__popc(alive(x))"
reduce = "sum"

[[check]]
stat   = "population"
after  = "120 / speed"
equals = "left"
---*/
#include <warpaint/colour.cuh>
#include <warpaint/random.cuh>

// J. H. Conway's rules (M. Gardner, "Mathematical games", Scientific American 223(4), 1970): a cell of whose eight
// neighbours three live comes alive, and one that lives stays so with two or three. Four cells are counted at a time,
// by adding words whose bytes do not overflow.

using namespace warpaint;

static_assert(w % 4 == 0, "w must be a multiple of 4");

constexpr int words = w / 4;

// 1 in the byte of each cell that lives.
__device__ unsigned alive(unsigned cells) { return cells >> 7 & 0x01010101u; }

// A start of the choices: its rows, `.` for a cell that is dead, `/` behind each.
__device__ const char *const STARTS[3] = {
    ".OO/OO./.O./",
    ".O...../...O.../OO..OOO/",
    "........................O.........../......................O.O.........../............OO......OO............OO/"
    "...........O...O....OO............OO/OO........O.....O...OO............../OO........O...O.OO....O.O.........../"
    "..........O.....O.......O.........../...........O...O..................../............OO....................../",
};

// Whether the pattern has a cell at x, y, counted from its upper left corner.
__device__ bool drawn(const char *pattern, int x, int y)
{
    int length = 0;
    while (pattern[length] != '/') ++length;
    if (x < 0 || x >= length || y < 0) return false;
    for (; *pattern; pattern += length + 1, --y) {
        if (y == 0) return pattern[x] == 'O';
    }
    return false;
}

// Whether a cell of the kaleidoscope lives: by lot within a rosette, and as its eight pictures in mirrors about the
// middle do.
__device__ bool mirrored(int x, int y, float share)
{
    const int right = abs(2 * x + 1 - w) / 2, up = abs(2 * y + 1 - h) / 2, far = max(right, up), near = min(right, up);
    const float rim = h / 360.0f * (118.0f + 40.0f * cosf(8.0f * atan2f(near, far)));
    return far * far + near * near < rim * rim && to_unit(hash(near * 4096 + far)) < share;
}

__global__ void sow(unsigned *cells, int start, float share, unsigned seed)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= words * h) return;
    unsigned born = 0;
    for (int k = 0; k < 4; ++k) {
        const int x = i % words * 4 + k, y = i / words;
        const bool lives = start == 4   ? mirrored(x, y, share)
                           : start == 3 ? to_unit(hash(hash(seed) + y * w + x)) < share
                                        : drawn(STARTS[start], x - w / 2, h / 2 - y);
        born |= lives ? 128u << 8 * k : 0u;
    }
    cells[i] = born;
}

// How many live of each cell's three in its row, with the one to the left and the one to the right.
__device__ unsigned in_row(const unsigned *row, int x)
{
    const unsigned here = alive(row[x]);
    const unsigned left = alive(row[x > 0 ? x - 1 : words - 1]), right = alive(row[x + 1 < words ? x + 1 : 0]);
    return here + (here << 8 | left >> 24) + (here >> 8 | right << 24);
}

// A generation. The count is of all nine cells: three live in the next one, and four where the cell itself lives.
__global__ void live(const unsigned *__restrict__ cells, unsigned *__restrict__ cells_next, float4 mouse, float brush)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= words * h) return;
    const int x = i % words, y = i / words;
    const unsigned *above = cells + (y > 0 ? y - 1 : h - 1) * words, *below = cells + (y + 1 < h ? y + 1 : 0) * words;
    const unsigned count = in_row(above, x) + in_row(cells + y * words, x) + in_row(below, x), before = cells[i];
    unsigned after = 0;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const unsigned nine = count >> 8 * k & 255u, age = before >> 8 * k & 255u;
        const float dx = 4 * x + k + 0.5f - mouse.x * w, dy = y + 0.5f - mouse.y * h;
        const bool sown = (int)mouse.z & 1 && dx * dx + dy * dy < brush * brush && hash(hash(count + i) + k) & 256u;
        const bool lives = nine == 3 || (nine == 4 && age >= 128) || sown;
        const unsigned older = age >= 128 ? min(age + 1, 255u) : 128u, faded = age >= 128 ? 127u : max(age, 1u) - 1;
        after |= (lives ? older : faded) << 8 * k;
    }
    cells_next[i] = after;
}

// White at birth, then gold, red and violet with age; what died glows blue for a while.
__device__ float3 palette(unsigned cell)
{
    if (cell >= 128) return 1.1f * inferno(1.0f - 0.55f * sqrtf((cell - 128) / 127.0f));
    const float glow = cell / 127.0f;
    return make_float3(0.022f, 0.028f, 0.05f) + glow * glow * make_float3(0.06f, 0.26f, 0.46f);
}

__global__ void paint(const unsigned *cells, cudaSurfaceObject_t picture)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    const unsigned cell = cells[y * words + x / 4] >> x % 4 * 8 & 255u;
    surf2Dwrite(pack(palette(cell)), picture, x * 4, y);
}
