// The area of the Mandelbrot set, in double precision.
extern "C" __global__ void mandelbrot(int *steps, int width, int limit)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    double cx = -2.0 + 2.5 * px / width, cy = -1.25 + 2.5 * py / width, x = 0.0, y = 0.0;
    int step = 0;
    while (step < limit && x * x + y * y < 4.0) {
        double next = x * x - y * y + cx;
        y = 2.0 * x * y + cy;
        x = next;
        step++;
    }
    steps[py * width + px] = step;
}
