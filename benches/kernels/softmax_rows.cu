// Each thread makes one row of 1024 numbers sum to 1.
extern "C" __global__ void softmax_rows(float *out, const float *in, int rows)
{
    const int width = 1024;
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float *x = in + row * width;
    float *y = out + row * width;
    float most = -INFINITY;
    for (int i = 0; i < width; i++)
        if (x[i] > most) most = x[i];
    float sum = 0.0f;
    for (int i = 0; i < width; i++) {
        y[i] = expf(x[i] - most);
        sum += y[i];
    }
    for (int i = 0; i < width; i++) y[i] /= sum;
}
