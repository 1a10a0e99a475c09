// warpaint/grid.cuh: who is near whom. Space is a box of cells, and elements are sorted by the cell that they are in,
// so that those of neighbouring cells lie in one place (Green, "Particle simulation using CUDA", NVIDIA, 2010).
//
//     using namespace warpaint;
//     __device__ Grid grid() { return Grid(low, high, make_int3(64, 64, 64)); }
//
//     where[i] = enter(count, grid().cell(p));                // count has been cleared
//     ...                                                     // scan.cuh makes start of count
//     list[start[where[i].x] + where[i].y] = i;
//     int place = place_of(i, where[i], start, list);         // where i's element goes in sorted order
//     grid().near(start, p, [&](int j) { ... });              // of sorted elements: all within a cell's size
//
// A launch for each line: a counting sort, linear in the number of elements, which moves each one once. Elements of a
// cell stay in their order whatever order threads run in, so that the same input gives the same output to the last bit.
// kernels/spheres.cu has all of it.
#pragma once

#include <warpaint/scan.cuh>
#include <warpaint/vector.cuh>

namespace warpaint {

// A box that is divided into cells. What lies outside belongs to the cell at the border that is nearest.
struct Grid {
    float3 low, per_length;
    int3 cells;

    __host__ __device__ Grid(float3 low, float3 high, int3 cells) : low(low), cells(cells)
    {
        per_length = make_float3((float)cells.x, (float)cells.y, (float)cells.z) / (high - low);
    }

    // The column, row and layer of the cell around a point.
    __host__ __device__ int3 place(float3 p) const
    {
        const float3 at = (p - low) * per_length;
        return make_int3((int)clamp(at.x, 0.0f, (float)(cells.x - 1)), (int)clamp(at.y, 0.0f, (float)(cells.y - 1)),
                         (int)clamp(at.z, 0.0f, (float)(cells.z - 1)));
    }

    // A cell's number: those of a row follow one another.
    __host__ __device__ int index(int3 place) const { return (place.z * cells.y + place.y) * cells.x + place.x; }

    // The number of the cell around a point.
    __host__ __device__ int cell(float3 p) const { return index(place(p)); }

    // Calls `visit` with the number of each element of the cell around p and of the 26 around that: of all that are
    // nearer than a cell's size, and of some that are not. In the order of their numbers.
    template <class Visit> __host__ __device__ void near(const int *__restrict__ start, float3 p, Visit visit) const
    {
        const int3 at = place(p);
        const int left = at.x > 0 ? at.x - 1 : 0, right = at.x < cells.x - 1 ? at.x + 1 : at.x;
        const int top = at.y < cells.y - 1 ? at.y + 1 : at.y, back = at.z < cells.z - 1 ? at.z + 1 : at.z;
        for (int z = at.z > 0 ? at.z - 1 : 0; z <= back; ++z) {
            for (int y = at.y > 0 ? at.y - 1 : 0; y <= top; ++y) {
                // Three cells of a row are one range.
                const int end = start[index(make_int3(right, y, z)) + 1];
                for (int j = start[index(make_int3(left, y, z))]; j < end; ++j) visit(j);
            }
        }
    }
};

// Counts an element of a cell. Returns the cell, and a place among its elements that nobody else has.
__device__ inline int2 enter(int *count, int cell) { return make_int2(cell, atomicAdd(count + cell, 1)); }

// Where element i goes in sorted order: behind those of earlier cells, and those of its own with smaller numbers.
__device__ inline int place_of(int i, int2 where, const int *__restrict__ start, const int *__restrict__ list)
{
    const int begin = start[where.x], end = start[where.x + 1];
    int place = begin;
    for (int k = begin; k < end; ++k) place += list[k] < i;
    return place;
}

}  // namespace warpaint
